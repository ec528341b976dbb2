package mockserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// outcome is the result of a request, as the caller gets it.
type outcome struct {
	Status      int           // 0 without a response
	Hints       int           // informational responses
	ContentType string        `json:",omitempty"`
	Whole       bool          // the body did not end early
	Valid       bool          // the body is JSON
	Took        time.Duration // by the clock
	Fault       string        // that the journal names
}

// observe sends one request in a bubble of virtual time.
func observe(t *testing.T, srv *mockserver.Server, method, path, body string) outcome {
	t.Helper()
	var got outcome
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(int, textproto.MIMEHeader) error { got.Hints++; return nil },
	})
	req, err := http.NewRequestWithContext(ctx, method, srv.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	began := time.Now()
	resp, err := srv.Transport().RoundTrip(req)
	if err == nil {
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		got.Status, got.ContentType, got.Whole, got.Valid = resp.StatusCode, resp.Header.Get("Content-Type"), err == nil, json.Valid(text)
	}
	got.Took = time.Since(began)
	got.Fault = srv.Find(journal.Query{Contains: strings.SplitN(path, "?", 2)[0]})[0].Fault
	return got
}

func TestFaults_SeveralStrikeOneRequestInTheOrderOfTheRules(t *testing.T) {
	t.Parallel()
	const jsonType = "application/json; charset=utf-8"
	for name, test := range map[string]struct {
		rules []fault.Rule
		want  outcome
	}{
		"latency and a dropped connection": {
			[]fault.Rule{{Fault: fault.Latency(2 * time.Second)}, {Fault: fault.Drop()}},
			outcome{Took: 2 * time.Second, Fault: "rule 1: latency, rule 2: drop"},
		},
		"latency and a connection that is dropped after the change": {
			[]fault.Rule{{Fault: fault.Drop(), Committed: true}, {Fault: fault.Latency(2 * time.Second)}},
			outcome{Took: 2 * time.Second, Fault: "rule 2: latency, rule 1: drop after the change"},
		},
		"a connection that is dropped late": {
			[]fault.Rule{{Fault: fault.Drop()}, {Fault: fault.Latency(2 * time.Second)}},
			outcome{Took: 2 * time.Second, Fault: "rule 1: drop, rule 2: latency"},
		},
		"two latencies add up": {
			[]fault.Rule{{Fault: fault.Latency(2 * time.Second)}, {Fault: fault.Latency(3 * time.Second), Committed: true}},
			outcome{Status: 200, ContentType: jsonType, Whole: true, Valid: true, Took: 5 * time.Second, Fault: "rule 1: latency, rule 2: latency after the change"},
		},
		"a status and early hints": {
			[]fault.Rule{{Fault: fault.Status(503, nil)}, {Fault: fault.EarlyHints()}},
			outcome{Status: 503, Hints: 1, ContentType: jsonType, Whole: true, Valid: true, Fault: "rule 1: status, rule 2: early-hints"},
		},
		"early hints and no response": {
			[]fault.Rule{{Fault: fault.EarlyHints()}, {Fault: fault.Reset()}},
			outcome{Hints: 1, Fault: "rule 1: early-hints, rule 2: reset"},
		},
		"a status, cut off, slow, and of another type": {
			[]fault.Rule{{Fault: fault.HTML(502)}, {Fault: fault.Truncate(3)}, {Fault: fault.SlowBody(time.Second)}, {Fault: fault.ContentType("application/json")}},
			outcome{Status: 502, ContentType: "application/json", Took: 2 * time.Second, Fault: "rule 1: html, rule 2: truncate, rule 3: slow-body, rule 4: content-type"},
		},
		"a capped page, inserted rows, and malformed JSON of it": {
			[]fault.Rule{{Fault: fault.CapPage(1)}, {Fault: fault.InsertRows(2)}, {Fault: fault.Malformed(), Committed: true}},
			outcome{Status: 200, ContentType: jsonType, Whole: true, Fault: "rule 1: cap-page, rule 2: insert-rows, rule 3: malformed after the change"},
		},
		"the first of two statuses": {
			[]fault.Rule{{First: 1, Fault: fault.Status(503, nil)}, {Fault: fault.Status(500, nil)}},
			outcome{Status: 503, ContentType: jsonType, Whole: true, Valid: true, Fault: "rule 1: status"},
		},
		"a committed rule that was injected first prevails": {
			[]fault.Rule{{First: 1, Fault: fault.Empty(), Committed: true}, {Fault: fault.Drop()}, {Fault: fault.Latency(time.Second)}},
			outcome{Status: 200, ContentType: jsonType, Whole: true, Took: time.Second, Fault: "rule 3: latency, rule 1: empty after the change"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv := mockserver.New(mockserver.WithoutListener())
				defer srv.Close()
				inject(t, srv, test.rules...)
				if diff := cmp.Diff(test.want, observe(t, srv, http.MethodGet, "/v1/rates", "")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A rule that is excluded has counted the request and not struck it, so that "the second request" means the same with
// and without other rules.
func TestFaults_ARuleThatIsExcludedStillCounts(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	inject(t, srv,
		fault.Rule{First: 1, Fault: fault.Status(503, nil)},
		fault.Rule{First: 2, Fault: fault.Status(500, nil)},
		fault.Rule{Nth: 3, Fault: fault.Status(502, nil)},
		fault.Rule{Nth: 2, Fault: fault.EarlyHints()})
	var statuses []int
	for range 4 {
		statuses = append(statuses, get(t, srv, "/v1/countries").status)
	}
	if diff := cmp.Diff([]int{503, 500, 502, 200}, statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	var view struct {
		Rules []struct{ Number, Seen, Struck int }
	}
	get(t, srv, "/_mock/faults").data(t, &view)
	for i, rule := range view.Rules {
		if rule.Number != i+1 || rule.Seen != 4 || rule.Struck != 1 {
			t.Errorf("%+v", rule)
		}
	}
}

// A purchase that is interrupted meets the faults of its point; a committed rule waits for one that is not.
func TestFailpoints_CombineWithOtherRules(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		inject(t, srv,
			fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: fault.Latency(time.Second)},
			fault.Rule{Point: fault.AfterCharge, First: 1, Fault: fault.Latency(2 * time.Second)},
			fault.Rule{Point: fault.AfterCharge, First: 1},
			fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Truncate(0)})
		draft := analyzeShipment(t, srv, srv.Shipments()[0])
		body := `{"request_id":"` + draft.ID + `","document_types":["CUSTOMS"]}`
		want := outcome{Took: 3 * time.Second, Fault: "rule 1: latency, rule 2: latency at after-charge, rule 3: drop at after-charge"}
		if diff := cmp.Diff(want, observe(t, srv, http.MethodPost, regulatoryPath+"/purchase", body)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if lookUp(t, srv, draft.ID).TransactionID == "" {
			t.Error("nothing was charged")
		}
		observe(t, srv, http.MethodPost, regulatoryPath+"/purchase", body)
		calls := srv.Find(journal.Query{Operation: shipping.OpPurchase})
		if got := calls[len(calls)-1].Fault; got != "rule 4: truncate after the change" {
			t.Errorf("the second purchase met %q", got)
		}
		srv.CheckInvariants(t)
	})
}

// The caller gives up during the first of two faults, so that the second strikes nobody.
func TestFaults_EndWithTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		inject(t, srv, fault.Rule{Fault: fault.Latency(time.Hour)}, fault.Rule{Fault: fault.InsertRows(1)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/v1/rates", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
		if resp, err := srv.Transport().RoundTrip(req); err == nil {
			resp.Body.Close()
			t.Error(resp.Status)
		}
		synctest.Wait()
		if calls := srv.Find(journal.Query{Faulted: true}); len(calls) != 1 || calls[0].Fault != "rule 1: latency" {
			t.Errorf("%+v", calls)
		}
	})
}
