package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/webhook"
)

const (
	receiverKey = "sk_test_receiver"
	olderKey    = "sk_test_older"
)

// receiver is a correct receiver, in which a test can break one thing.
type receiver struct {
	keys []string
	// instead answers before anything else and reports whether it has.
	instead func(w http.ResponseWriter, r *http.Request) bool
	// unlimited reads bodies of any length, from senders of any speed.
	unlimited bool
	// judge answers in place of the receiver once a body was verified.
	judge func(body []byte) (status int, judged bool)
}

func (rc receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rc.instead != nil && rc.instead(w, r) {
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	source := io.Reader(r.Body)
	if !rc.unlimited {
		if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(500 * time.Millisecond)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		source = http.MaxBytesReader(w, r.Body, 1<<20)
	}
	body, err := io.ReadAll(source)
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	verified := false
	for _, key := range rc.keys {
		verified = verified || r.Header.Get(signature.Header) == webhook.Sign(key, body)
	}
	if !verified {
		http.Error(w, "signature", http.StatusUnauthorized)
		return
	}
	if rc.judge != nil {
		if status, judged := rc.judge(body); judged {
			w.WriteHeader(status)
			return
		}
	}
	if !json.Valid(body) {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func good() receiver {
	return receiver{keys: []string{receiverKey, olderKey}}
}

// examine examines a handler over connections in memory, in virtual time.
func examine(t *testing.T, h http.Handler, n ...dialect.Notification) (card Scorecard) {
	t.Helper()
	n = append(n, dialect.Notification{})
	synctest.Test(t, func(t *testing.T) {
		listener := wire.NewPipeListener()
		srv := http.Server{Handler: h}
		var serving sync.WaitGroup
		serving.Go(func() { _ = srv.Serve(listener) })
		var err error
		card, err = Examine(t.Context(), Config{
			URL: "http://127.0.0.1/hooks", Key: receiverKey, OtherKey: olderKey, Notification: n[0], dial: listener.Transport().DialContext,
		})
		if err := errors.Join(err, srv.Shutdown(t.Context())); err != nil { // which waits for connections that linger
			t.Error(err)
		}
		serving.Wait()
	})
	if len(card.Findings) != len(examinations()) || card.Good+card.Bad+card.Skipped != len(card.Findings) {
		t.Errorf("%d findings, %d good, %d bad, %d skipped", len(card.Findings), card.Good, card.Bad, card.Skipped)
	}
	return card
}

// deliveries returns what had a verdict.
func (s Scorecard) deliveries(v Verdict) []string {
	var out []string
	for _, f := range s.Findings {
		if f.Verdict == v {
			out = append(out, f.Delivery)
		}
	}
	return out
}

// A receiver that does not compare the signed time with its clock takes a captured delivery again.
func TestExamine_OldTimestamp(t *testing.T) {
	t.Parallel()
	n := dialect.Contrary().Notification
	for tolerance, want := range map[dialect.Duration][]string{n.Signature.Tolerance: nil, dialect.Duration(time.Hour): {"old timestamp"}} {
		of := n
		of.Signature.Tolerance = tolerance
		receiver, err := webhook.NewReceiver(func(context.Context, *webhook.Notification) error { return nil },
			webhook.WithKeys(receiverKey, olderKey), webhook.WithDialect(&dialect.Dialect{Notification: of}),
			webhook.WithLimits(1<<20, 500*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, examine(t, receiver, n).deliveries(Bad)); diff != "" {
			t.Errorf("with a tolerance of %s: %s", tolerance, diff)
		}
	}
}

func TestExamine_FindsWhatIsBad(t *testing.T) {
	t.Parallel()
	status := func(code int, when func(body string) bool) func(rc *receiver) {
		return func(rc *receiver) {
			rc.judge = func(body []byte) (int, bool) { return code, when(string(body)) }
		}
	}
	seen := func() func(string) bool {
		var before sync.Map
		return func(body string) bool {
			_, there := before.LoadOrStore(body, true)
			return there
		}
	}
	late := func() func(string) bool {
		delivered := false // the doctor sends one after the other
		return func(body string) bool {
			ours := strings.Contains(body, shipmentID(8))
			delivered = delivered || ours && strings.Contains(body, "shipment.delivered")
			return ours && delivered && strings.Contains(body, "shipment.updated")
		}
	}
	has := func(text string) func(string) bool {
		return func(body string) bool { return strings.Contains(body, text) }
	}
	tests := []struct {
		name string
		how  func(rc *receiver)
		want []string
	}{
		{"knows one key only", func(rc *receiver) { rc.keys = []string{receiverKey} }, []string{"rotated key"}},
		{"reads everything", func(rc *receiver) { rc.unlimited = true }, []string{"oversized", "slow"}},
		{"refuses a duplicate", status(http.StatusConflict, seen()), []string{"duplicate"}},
		{"fails on what comes late", status(http.StatusInternalServerError, late()), []string{"out of order"}},
		{"refuses unknown events", status(http.StatusBadRequest, has("teleported")), []string{"unknown event"}},
		{"fails on broken JSON", status(http.StatusInternalServerError, func(body string) bool { return !json.Valid([]byte(body)) }), []string{"malformed JSON"}},
		{"takes broken JSON", status(http.StatusOK, func(body string) bool { return !json.Valid([]byte(body)) }), []string{"malformed JSON"}},
		{"fails in the end", status(http.StatusInternalServerError, has(shipmentID(17))), []string{"valid, after all this"}},
		{"answers GET", func(rc *receiver) {
			rc.instead = func(_ http.ResponseWriter, r *http.Request) bool { return r.Method == http.MethodGet }
		}, []string{"redirected"}},
		{"fails on forms", func(rc *receiver) {
			rc.instead = func(w http.ResponseWriter, r *http.Request) bool {
				form := strings.Contains(r.Header.Get("Content-Type"), "form")
				if form {
					w.WriteHeader(http.StatusInternalServerError)
				}
				return form
			}
		}, []string{"wrong content type"}},
		{"accepts a delivery without a signature", func(rc *receiver) {
			rc.instead = func(_ http.ResponseWriter, r *http.Request) bool {
				return r.Method == http.MethodPost && r.Header.Get(signature.Header) == ""
			}
		}, []string{"missing signature"}},
		{"fails on wrong signatures", func(rc *receiver) {
			rc.instead = func(w http.ResponseWriter, r *http.Request) bool {
				wrong := r.Header.Get(signature.Header) == webhook.Sign("another key of enough bytes", notification(created, 4))
				if wrong {
					w.WriteHeader(http.StatusInternalServerError)
				}
				return wrong
			}
		}, []string{"bad signature"}},
		{"verifies the JSON that it encoded again", func(rc *receiver) {
			rc.instead = func(w http.ResponseWriter, r *http.Request) bool {
				var parsed any
				if r.ContentLength > 1<<20 || json.NewDecoder(r.Body).Decode(&parsed) != nil {
					return false
				}
				again := string(must(json.Marshal(parsed)))
				if strings.Contains(again, shipmentID(3)) {
					w.WriteHeader(http.StatusUnauthorized)
				} else if r.Header.Get(signature.Header) == "" || strings.Contains(again, shipmentID(4)) || strings.Contains(again, "PENDING") {
					w.WriteHeader(http.StatusUnauthorized)
				}
				return true
			}
		}, []string{"odd formatting", "slow"}},
		{"answers slowly", func(rc *receiver) {
			rc.instead = func(_ http.ResponseWriter, r *http.Request) bool {
				body, err := io.ReadAll(r.Body)
				if err == nil && strings.Contains(string(body), shipmentID(2)) {
					<-r.Context().Done() // until the doctor gives up
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				return err != nil
			}
			rc.unlimited = true
		}, []string{"response time", "oversized", "slow"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rc := good()
			test.how(&rc)
			card := examine(t, rc)
			if diff := cmp.Diff(test.want, card.deliveries(Bad)); diff != "" {
				t.Errorf("bad (-want +got):\n%s\n%+v", diff, card.Findings)
			}
			for _, f := range card.Findings {
				if f.Verdict == Bad && (f.Advice == "" || f.Wanted == "" || f.Saw == "") {
					t.Errorf("no advice: %+v", f)
				}
			}
		})
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// A receiver that refuses a valid delivery would refuse the others too, which proves nothing.
func TestExamine_GoesNoFurtherThanAReceiverThatRefusesWhatIsInOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		advice string
	}{
		{"another key", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "Does the receiver have this key"},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/hooks/", http.StatusPermanentRedirect)
		}, "trailing slash"},
		{"another path", http.NotFound, "the path of the receiver"},
		{"a failure", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "read its log"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			card := examine(t, http.HandlerFunc(test.answer))
			if card.Bad != 1 || card.Good != 0 || !strings.Contains(card.Findings[0].Advice, test.advice) {
				t.Errorf("%+v", card)
			}
		})
	}
}

func TestExamine_WithoutASecondKeySkipsTheRotation(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(good())
	t.Cleanup(srv.Close)
	card, err := Examine(t.Context(), Config{URL: srv.URL, Key: receiverKey})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"rotated key", "old timestamp"}, card.deliveries(Skipped)); diff != "" || card.Bad != 0 {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestExamine_ExaminesNobodyWhoMayNotBeExamined(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1" // a port that was just closed could be another test's by now
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		config Config
		want   string
	}{
		{"no key", t.Context(), Config{URL: "http://127.0.0.1:1"}, "set the key"},
		{"no address", t.Context(), Config{URL: "hooks", Key: "k"}, "not an absolute http or https URL"},
		{"another scheme", t.Context(), Config{URL: "ftp://127.0.0.1/", Key: "k"}, "not an absolute http or https URL"},
		{"another machine", t.Context(), Config{URL: "http://192.0.2.1/hooks", Key: "k"}, "-anywhere"},
		{"nobody there", t.Context(), Config{URL: nobody, Key: "k"}, "no response from"},
		{"interrupted", ended, Config{URL: nobody, Key: "k"}, "interrupted"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := Examine(test.ctx, test.config); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q in it", err, test.want)
			}
		})
	}
}

func TestScorecard_Text(t *testing.T) {
	t.Parallel()
	card := Scorecard{URL: "http://127.0.0.1:8080/hooks"}
	card.add(Finding{Delivery: "valid", Wanted: "2xx", Saw: "204 No Content", Verdict: Good})
	card.add(Finding{Delivery: "bad signature", Wanted: "4xx", Saw: "204 No Content", Verdict: Bad,
		Advice: "Anyone could send you events: compare the signature, in constant time, before anything else."})
	card.add(Finding{Delivery: "rotated key", Wanted: "2xx", Saw: "not sent", Verdict: Skipped})
	want := `Receiver http://127.0.0.1:8080/hooks

  good  valid                  204 No Content
  BAD   bad signature          204 No Content
        wanted 4xx
        Anyone could send you events:
        compare the signature, in constant time, before anything else.
  -     rotated key            not sent

1 good, 1 bad, 1 skipped
`
	var got strings.Builder
	if err := card.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
