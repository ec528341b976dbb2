package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/webhook"
)

const (
	receiverKey = "sk_test_receiver"
	olderKey    = "sk_test_older"

	standardKey   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	standardOlder = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// receiver returns a correct receiver, unless options change it.
func receiver(t *testing.T, choices string, options ...webhook.Option) http.Handler {
	t.Helper()
	options = append([]webhook.Option{
		webhook.WithKeys(receiverKey, olderKey), webhook.WithDialect(shippingtest.Dialect(t, choices)),
		webhook.WithLimits(1<<20, 500*time.Millisecond), webhook.WithLogger(slog.New(slog.DiscardHandler)),
	}, options...)
	handle := func(context.Context, *webhook.Notification) error { return nil }
	return shippingtest.Must(webhook.NewReceiver(handle, options...))(t)
}

// examine examines a handler over connections in memory, in virtual time. It returns the deliveries with a verdict.
func examine(t *testing.T, h http.Handler, config Config) (card Scorecard, by map[Verdict][]string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := wire.NewPipeListener()
		srv := http.Server{Handler: h}
		var serving sync.WaitGroup
		serving.Go(func() { _ = srv.Serve(listener) })
		config.URL, config.dial = "http://127.0.0.1/hooks", listener.Transport().DialContext
		config.Key = cmp.Or(config.Key, receiverKey)
		if config.Scheme.Header == "" {
			config.Scheme = signature.Of(nil)
		}
		var err error
		card, err = Examine(t.Context(), config)
		if err := errors.Join(err, srv.Shutdown(t.Context())); err != nil { // which waits for connections that linger
			t.Error(err)
		}
		serving.Wait()
	})
	if len(card.Findings) != len(examinations(DefaultWithin)) || card.Good+card.Bad+card.Skipped != len(card.Findings) {
		t.Errorf("%d findings, %d good, %d bad, %d skipped", len(card.Findings), card.Good, card.Bad, card.Skipped)
	}
	by = map[Verdict][]string{}
	for _, f := range card.Findings {
		by[f.Verdict] = append(by[f.Verdict], f.Delivery)
		if f.Verdict == Bad && (f.Advice == "" || f.Wanted == "" || f.Saw == "") {
			t.Errorf("no advice: %+v", f)
		}
	}
	return card, by
}

// A receiver that does not compare the signed time with its clock takes a captured delivery again. A receiver that
// accepts one key is not examined for another one. One without limits reads everything, from senders of any speed.
func TestExamine_OldTimestampAndOtherKey(t *testing.T) {
	t.Parallel()
	const contrary = "contrary"
	scheme := signature.Of(shippingtest.Dialect(t, contrary))
	unlimited := webhook.WithLimits(1<<30, time.Hour)
	for name, test := range map[string]struct {
		receives     string
		options      []webhook.Option
		config       Config
		bad, skipped []string
	}{
		"standard-webhooks": {"standard-webhooks", []webhook.Option{webhook.WithKeys(standardKey, standardOlder)},
			Config{Key: standardKey, OtherKey: standardOlder,
				Scheme: signature.Of(shippingtest.Dialect(t, "standard-webhooks"))}, nil, nil},
		"compares the time": {contrary, nil, Config{OtherKey: olderKey, Scheme: scheme}, nil, nil},
		"does not": {contrary + ",notification.signature.tolerance=1h", nil, Config{OtherKey: olderKey, Scheme: scheme},
			[]string{"old timestamp"}, nil},
		"one key": {"", nil, Config{}, nil, []string{"rotated key", "old timestamp"}},
		"no limits": {contrary, []webhook.Option{unlimited}, Config{OtherKey: olderKey, Scheme: scheme},
			[]string{"oversized", "slow"}, nil},
	} {
		_, by := examine(t, receiver(t, test.receives, test.options...), test.config)
		shippingtest.Diff(t, name+": bad", test.bad, by[Bad])
		shippingtest.Diff(t, name+": skipped", test.skipped, by[Skipped])
	}
}

// Each row is the mistake of a receiver: its response to the delivery with a number.
func TestExamine_FindsWhatIsBad(t *testing.T) {
	t.Parallel()
	const stalls = 0
	for _, test := range []struct {
		delivery, status int
		want             string
	}{
		{1000, stalls, ""}, // no mistake
		{2, stalls, "response time"},
		{3, http.StatusUnauthorized, "odd formatting"},
		{4, http.StatusNoContent, "bad signature"},
		{4, http.StatusInternalServerError, "bad signature"},
		{5, http.StatusNoContent, "missing signature"},
		{6, http.StatusNoContent, "changed body"},
		{7, http.StatusConflict, "duplicate"},
		{8, http.StatusInternalServerError, "out of order"},
		{9, http.StatusInternalServerError, "out of order"},
		{10, http.StatusBadRequest, "unknown event"},
		{11, http.StatusUnauthorized, "rotated key"},
		{12, http.StatusInternalServerError, "malformed JSON"},
		{13, http.StatusInternalServerError, "wrong content type"},
		{14, http.StatusOK, "redirected"},
		{15, http.StatusOK, "oversized"},
		{16, stalls, "slow"},
		{17, http.StatusInternalServerError, "valid, after all this"},
	} {
		t.Run(fmt.Sprint(test.delivery, " ", test.status), func(t *testing.T) {
			t.Parallel()
			correct := receiver(t, "")
			_, by := examine(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch id := r.Header.Get(signature.DeliveryID); {
				case id == fmt.Sprintf("WD-DOCTOR%010d", test.delivery) && test.status == stalls:
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done() // until the doctor gives up
				case id == fmt.Sprintf("WD-DOCTOR%010d", test.delivery):
					w.WriteHeader(test.status)
				case strings.HasSuffix(id, "03"):
					body, err := io.ReadAll(r.Body)
					for _, want := range []string{"SH-DOCTOR0000000003", "136.0 ,\r\n\t", `\u004cagos`} {
						shippingtest.Contains(t, "the odd formatting", string(body), want)
					}
					shippingtest.NoError(t, err)
				case strings.HasSuffix(id, "13") && !strings.Contains(r.Header.Get("Content-Type"), "form"):
					t.Errorf("the wrong content type is %q", r.Header.Get("Content-Type"))
				default:
					correct.ServeHTTP(w, r)
				}
			}), Config{OtherKey: olderKey})
			shippingtest.Diff(t, "bad", test.want, strings.Join(by[Bad], ", "))
		})
	}
}

// A receiver that refuses a valid delivery would refuse the others too, which proves nothing.
func TestExamine_GoesNoFurtherThanAReceiverThatRefusesWhatIsInOrder(t *testing.T) {
	t.Parallel()
	for status, advice := range map[int]string{
		http.StatusUnauthorized: "Does the receiver have this key", http.StatusPermanentRedirect: "trailing slash",
		http.StatusNotFound: "the path of the receiver", http.StatusBadGateway: "read its log",
	} {
		card, _ := examine(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/hooks/") // of the redirect
			w.WriteHeader(status)
		}), Config{OtherKey: olderKey})
		if card.Bad != 1 || card.Good != 0 || !strings.Contains(card.Findings[0].Advice, advice) {
			t.Errorf("%d: %+v", status, card)
		}
	}
}

func TestExamine_ExaminesNobodyWhoMayNotBeExamined(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1" // a port that was just closed could be another test's by now
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx      context.Context
		url, key string
		want     string
	}{
		{t.Context(), nobody, "", "set the key"},
		{t.Context(), "hooks", "k", "not an absolute http or https URL"},
		{t.Context(), "ftp://127.0.0.1/", "k", "not an absolute http or https URL"},
		{t.Context(), "http://192.0.2.1/hooks", "k", "-anywhere"},
		{t.Context(), nobody, "k", "no response from"},
		{ended, nobody, "k", "interrupted"},
	} {
		_, err := Examine(test.ctx, Config{URL: test.url, Key: test.key})
		shippingtest.Contains(t, test.url, err, test.want)
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
	shippingtest.NoError(t, card.WriteText(&got))
	shippingtest.Diff(t, "scorecard", want, got.String())
}
