package webhook_test

import (
	"bytes"
	"context"
	"crypto/fips140"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/webhook"
)

// What identifies a delivery. Its id is not signed: a captured delivery under another id is handled again, unless
// deliveries are identified by their body or their event, which is then handled once, whatever the number of webhooks.
func TestReceiver_WhatIdentifiesADelivery(t *testing.T) {
	t.Parallel()
	for want, of := range map[string]string{
		"WD-1 WE-1, WD-2 WE-1":                   "",
		"sha256:4f66 WE-1":                       "notification.delivery_id=-",
		"WE-1 WE-1":                              "notification.delivery_id=" + webhook.DefaultEventIDHeader,
		"WD-1 another event, WD-2 another event": "notification.event_id=Event",
	} {
		var handled []string
		receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
			handled = append(handled, n.ID[:min(len(n.ID), 11)]+" "+n.EventID)
			return nil
		}, webhook.WithDialect(shippingtest.Dialect(t, of)))
		for _, id := range []string{"WD-1", "WD-1", "WD-2"} {
			answer := postSigned(receiver, body,
				webhook.DefaultIDHeader, id, webhook.DefaultEventIDHeader, "WE-1", "Event", "another event")
			if answer.Code != http.StatusOK {
				t.Errorf("%s is answered %d", id, answer.Code)
			}
		}
		if got := strings.Join(handled, ", "); got != want {
			t.Errorf("handled %s, want %s", got, want)
		}
	}
}

// With GODEBUG=fips140=only a short key panicked.
func TestSign_AShortKeyIsRefusedWhereItIsForbidden(t *testing.T) {
	t.Parallel()
	if !fips140.Enforced() {
		only := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		only.Env = append(os.Environ(), "GODEBUG=fips140=only")
		if out, err := only.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const short = "sk_test_1"
	if got := webhook.Sign(short, []byte(body)); got != "" {
		t.Errorf("the signature is %q", got)
	}
	if err := webhook.Verify("00", []byte(body), short); err != webhook.ErrSignature {
		t.Errorf("Verify returns %v", err)
	}
	_, err := webhook.NewReceiver(accept, webhook.WithKeys(short))
	if err == nil || !strings.Contains(err.Error(), "14 bytes") {
		t.Errorf("NewReceiver returns %v", err)
	}
	shortest := (short + short)[:14]
	if _, err := webhook.NewReceiver(accept, webhook.WithKeys(shortest)); err != nil || webhook.Sign(shortest, nil) == "" {
		t.Errorf("a key of 14 bytes: %v", err)
	}
}

// The id of a delivery is not signed. A captured body that was sent with the id of a later delivery suppressed that
// delivery: it was answered 200 and not handled.
func TestReceiver_AnIDWithAnotherBodyIsAnotherNotification(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	var handled []string
	var log bytes.Buffer
	for range 2 { // the second receiver begins after a restart
		store := openFileStore(t, path, 0)
		receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
			handled = append(handled, n.ID+" "+string(n.Event))
			return nil
		}, webhook.WithStore(store), webhook.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		for _, event := range []string{"captured", "genuine", "captured", "genuine"} {
			answer := postSigned(receiver, `{"event":"`+event+`"}`, webhook.DefaultIDHeader, "WD-1")
			if answer.Code != http.StatusOK {
				t.Errorf("%s: %d", event, answer.Code)
			}
		}
		shippingtest.NoError(t, store.Close())
	}
	if got := fmt.Sprint(handled); got != "[WD-1 captured WD-1 genuine]" {
		t.Errorf("handled %s", got)
	}
	text := log.String()
	if strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, `id seen before with another body`) {
		t.Errorf("logged:\n%s", text)
	}
}
