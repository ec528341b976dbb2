package webhook

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A receiver with the wrong secret refused every delivery and wrote nothing, so that to its user no notification seemed
// to arrive. Without WithLogger it writes a warning at most once a minute, with what to check, and no key.
func TestReceiver_WithoutALoggerWarnsOfRefusals(t *testing.T) {
	const wrong = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"
	for name, test := range map[string]struct {
		signature string
		store     Store
		want      []string
	}{
		"another key":            {Sign("sk_test_other", []byte(`{}`)), nil, []string{"level=WARN", "notification refused", "status=401", "WithKeys", "changes the body"}},
		"no signature":           {"", nil, []string{"level=WARN", "status=401", DefaultSignatureHeader, "WithSignature"}},
		"not a notification":     {Sign(wrong, []byte(`{}`)), nil, []string{"level=WARN", "status=400", "names no event"}},
		"a store that fails too": {Sign(wrong, []byte(event)), failingStore{}, []string{"level=WARN", "notification not accepted", "the disk is full"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				receiver := quietReceiver(t, &log, wrong, test.store)
				body := `{}`
				if test.store != nil {
					body = event
				}
				for range 3 {
					deliverTo(receiver, body, test.signature)
				}
				if lines := strings.Count(log.String(), "\n"); lines != 1 {
					t.Errorf("%d lines at once:\n%s", lines, &log)
				}
				time.Sleep(time.Minute)
				deliverTo(receiver, body, test.signature)
				if lines := strings.Count(log.String(), "\n"); lines != 2 {
					t.Errorf("%d lines after a minute:\n%s", lines, &log)
				}
				for _, want := range test.want {
					if !strings.Contains(log.String(), want) {
						t.Errorf("%q is missing:\n%s", want, &log)
					}
				}
				if strings.Contains(log.String(), "8mK3") {
					t.Errorf("the log contains the key:\n%s", &log)
				}
			})
		})
	}
}

// Deliveries that were accepted before are not a reason for a warning.
func TestReceiver_WithoutALoggerIsSilentIfAllIsWell(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	receiver := quietReceiver(t, &log, "sk_test_present", nil)
	for range 3 {
		deliverTo(receiver, event, Sign("sk_test_present", []byte(event)))
	}
	if log.Len() > 0 {
		t.Errorf("the log:\n%s", &log)
	}
}

const event = `{"event":"shipment.updated"}`

// quietReceiver has no logger, and a buffer in place of the default one.
func quietReceiver(t *testing.T, log *bytes.Buffer, key string, store Store) *Receiver {
	t.Helper()
	receiver, err := NewReceiver(func(context.Context, *Notification) error { return nil }, WithKeys(key), WithInline(), WithStore(store))
	if err != nil {
		t.Fatal(err)
	}
	receiver.useDefaultLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { _ = receiver.Close(context.Background()) })
	return receiver
}

func deliverTo(receiver *Receiver, body, signature string) {
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	if signature != "" {
		request.Header.Set(DefaultSignatureHeader, signature)
	}
	receiver.ServeHTTP(httptest.NewRecorder(), request)
}

type failingStore struct{}

func (failingStore) Claim(context.Context, string, string) (ClaimState, error) {
	return 0, errors.New("the disk is full")
}
func (failingStore) Accept(context.Context, string, string) error  { return nil }
func (failingStore) Release(context.Context, string, string) error { return nil }
