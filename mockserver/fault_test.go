package mockserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func inject(t *testing.T, srv *mockserver.Server, rules ...fault.Rule) {
	t.Helper()
	if err := srv.Inject(rules...); err != nil {
		t.Fatal(err)
	}
}

// buy purchases CUSTOMS for a fresh draft under a fault, and returns the client's view and whether the
// wallet was charged.
func buy(t *testing.T, srv *mockserver.Server, injected fault.Fault, committed bool) (resp *http.Response, body []byte, err error, charged bool) {
	t.Helper()
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	inject(t, srv, fault.Rule{Operation: shipping.OpPurchase, Committed: committed, Fault: injected})
	defer srv.ClearFaults()
	req, err := http.NewRequest(http.MethodPost, srv.URL+regulatoryPath+"/purchase", strings.NewReader(`{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	if resp, err = srv.Transport().RoundTrip(req); err == nil {
		defer resp.Body.Close()
		body, err = io.ReadAll(resp.Body)
	}
	return resp, body, err, lookUp(t, srv, draft.ID).TransactionID != ""
}

// Each fault strikes before anything has happened, or after the change is committed.
func TestFaults_StrikeBeforeOrAfterTheChange(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name  string
		fault fault.Fault
		check func(t *testing.T, resp *http.Response, body []byte, err error)
	}{
		{"status", fault.Status(429, http.Header{"Retry-After": {"7"}}), func(t *testing.T, resp *http.Response, body []byte, err error) {
			if err != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "7" || !json.Valid(body) {
				t.Errorf("got %v %v: %s", resp, err, body)
			}
		}},
		{"drop", fault.Drop(), func(t *testing.T, resp *http.Response, _ []byte, err error) {
			if err == nil {
				t.Errorf("got %v, want no answer", resp.Status)
			}
		}},
		{"truncate", fault.Truncate(9), func(t *testing.T, _ *http.Response, body []byte, err error) {
			if err == nil || len(body) != 9 {
				t.Errorf("got %d bytes and %v, want 9 and an early end", len(body), err)
			}
		}},
		{"truncate nothing", fault.Truncate(1 << 20), func(t *testing.T, _ *http.Response, body []byte, err error) {
			if err == nil || !json.Valid(body) {
				t.Errorf("got %v and %q, want the whole body and an early end", err, body)
			}
		}},
		{"malformed", fault.Malformed(), func(t *testing.T, resp *http.Response, body []byte, err error) {
			if err != nil || resp.StatusCode != 200 || len(body) == 0 || json.Valid(body) {
				t.Errorf("got %v: %q", err, body)
			}
		}},
		{"redirect", fault.Redirect("https://elsewhere.example/"), func(t *testing.T, resp *http.Response, _ []byte, err error) {
			if err != nil || resp.StatusCode != 308 || resp.Header.Get("Location") != "https://elsewhere.example/" {
				t.Errorf("got %v %v", resp, err)
			}
		}},
	}
	for _, test := range faults {
		for when, committed := range map[string]bool{"before": false, "after": true} {
			t.Run(test.name+" "+when, func(t *testing.T) {
				t.Parallel()
				srv := start(t, mockserver.WithoutListener())
				resp, body, err, charged := buy(t, srv, test.fault, committed)
				test.check(t, resp, body, err)
				if charged != committed {
					t.Errorf("charged: %v, want %v", charged, committed)
				}
				if err := srv.Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestFaultLatency_FollowsTheWorldsClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		inject(t, srv, fault.Rule{Fault: fault.Latency(3 * time.Second)})
		started := time.Now()
		get(t, srv, "/v1/rates").want(t, http.StatusOK)
		if took := time.Since(started); took != 3*time.Second {
			t.Errorf("took %v, want 3s", took)
		}
	})
}

func TestFaultRules_ChooseTheirCalls(t *testing.T) {
	t.Parallel()
	down := fault.Status(503, nil)
	tests := []struct {
		name  string
		rules []fault.Rule
		want  []int
	}{
		{"every call", []fault.Rule{{Fault: down}}, []int{503, 503, 503, 503}},
		{"the second", []fault.Rule{{Nth: 2, Fault: down}}, []int{200, 503, 200, 200}},
		{"the first two", []fault.Rule{{First: 2, Fault: down}}, []int{503, 503, 200, 200}},
		{"of this operation", []fault.Rule{{Operation: shipping.OpListRates, Nth: 1, Fault: down}}, []int{503, 200, 200, 200}},
		{"of another operation", []fault.Rule{{Operation: shipping.OpAnalyze, Fault: down}}, []int{200, 200, 200, 200}},
		{"several rules", []fault.Rule{{Nth: 1, Fault: down}, {Nth: 3, Fault: fault.Status(500, nil)}}, []int{503, 200, 500, 200}},
		{"the earlier rule wins", []fault.Rule{{First: 1, Fault: down}, {Fault: fault.Status(500, nil)}}, []int{503, 500, 500, 500}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener())
			inject(t, srv, test.rules...)
			var got []int
			for range test.want {
				got = append(got, get(t, srv, "/v1/rates?perPage=1").status)
				get(t, srv, "/_mock/healthz").want(t, http.StatusOK) // never struck
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			srv.ClearFaults()
			get(t, srv, "/v1/rates").want(t, http.StatusOK)
		})
	}
}

func TestFaultRules_ProbabilityFollowsTheSeed(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) (struck int, pattern string) {
		srv := start(t, mockserver.WithoutListener(), mockserver.WithSeed(seed))
		inject(t, srv, fault.Rule{Probability: 0.5, Fault: fault.Status(503, nil)})
		for range 60 {
			if get(t, srv, "/v1/rates?perPage=1").status == 503 {
				struck, pattern = struck+1, pattern+"x"
			} else {
				pattern += "."
			}
		}
		return struck, pattern
	}
	struck, first := run(3)
	if _, again := run(3); again != first {
		t.Errorf("the same seed struck %s, then %s", first, again)
	}
	if struck < 10 || struck > 50 {
		t.Errorf("struck %d of 60 at a probability of one half", struck)
	}
}
