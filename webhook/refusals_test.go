package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// defaultLog returns what the default logger writes in a test, which must not be parallel.
func defaultLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	logger, output := slog.Default(), log.Writer()
	var text bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(output)
	})
	return &text
}

// A receiver with the wrong secret refused every delivery and wrote nothing, so that to its user no notification seemed
// to arrive. Without WithLogger it writes a warning at most once a minute, with what to check, and no key.
func TestReceiver_WithoutALoggerWarnsOfRefusals(t *testing.T) {
	const secret, event = "sk_test_8mK3vQ9rT2xW7yZ4bN6c", `{"event":"shipment.updated"}`
	fails := func(context.Context, string) error { return errors.New("the disk is full") }
	for name, test := range map[string]struct {
		body, key string // of the signature
		before    func(context.Context, string) error
		want      []string
	}{
		"another key": {"{}", "sk_test_other", nil,
			[]string{"level=WARN", "notification refused", "status=401", "WithKeys", "changes the body"}},
		"no signature": {"{}", "", nil,
			[]string{"level=WARN", "status=401", webhook.DefaultSignatureHeader, "WithDialect"}},
		"not a notification": {"{}", secret, nil, []string{"level=WARN", "status=400", "names no event"}},
		"a store that fails too": {event, secret, fails,
			[]string{"level=WARN", "notification not accepted", "the disk is full"}},
		// Deliveries that were accepted before are not a reason for a warning.
		"nothing": {event, secret, func(context.Context, string) error { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				written := defaultLog(t)
				receiver := newReceiver(t, accept, webhook.WithKeys(secret), webhook.WithLogger(nil),
					webhook.WithStore(hookedStore{webhook.NewMemoryStore(webhook.StoreOptions{}), test.before}))
				signature := ""
				if test.key != "" {
					signature = webhook.Sign(test.key, []byte(test.body))
				}
				lines := func(want int, when string) {
					t.Helper()
					if post(receiver, test.body, signature); strings.Count(written.String(), "\n") != min(want, want*len(test.want)) {
						t.Errorf("%s:\n%s", when, written)
					}
				}
				for range 3 {
					lines(1, "at once")
				}
				time.Sleep(time.Minute)
				lines(2, "after a minute")
				for _, want := range test.want {
					if !strings.Contains(written.String(), want) {
						t.Errorf("%q is missing:\n%s", want, written)
					}
				}
				if strings.Contains(written.String(), "8mK3") {
					t.Errorf("the log contains the key:\n%s", written)
				}
			})
		})
	}
}
