package main

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// The demonstration has it all: a lost response, so that a notification comes twice, and notifications that come in
// the wrong order.
func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv("SHIPPING_SECRET_KEY", "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for want, lines := range map[string]int{
		"  SH-": 6, "late: older than the known state": 2, "\n6 notifications, each handled once. The server sent 7 " +
			"requests": 1,
	} {
		if got := strings.Count(out.String(), want); got != lines {
			t.Errorf("%q: %d times, want %d, in\n%s", want, got, lines, &out)
		}
	}
}

// listening starts the program with keys from the environment. The function ends it as Ctrl-C does, and returns what it
// has printed and logged.
func listening(t *testing.T, store, key, other string) (url string, stop func() (printed, logged string)) {
	t.Helper()
	t.Setenv("SHIPPING_SECRET_KEY", key)
	t.Setenv(envPreviousKey, other)
	ctx, end := context.WithCancel(t.Context())
	announced, logs := io.Pipe()
	var out, logged bytes.Buffer
	done := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"-addr", "127.0.0.1:0", "-store", store}, &out, logs)
		logs.Close()
		done <- err
	}()
	line := make([]byte, 100)
	n, err := announced.Read(line)
	if err != nil {
		t.Fatalf("it does not listen: %v", <-done)
	}
	copied := make(chan struct{})
	go func() { _, _ = io.Copy(&logged, announced); close(copied) }()
	url, _, _ = strings.Cut(strings.TrimPrefix(string(line[:n]), "Listening on "), ",")
	return url, func() (string, string) {
		end()
		if err := <-done; err != nil {
			t.Errorf("it did not end cleanly: %v", err)
		}
		<-copied
		return out.String(), logged.String()
	}
}

// Both keys are accepted during a rotation, also from a service that sends no identifiers in headers, and decides
// otherwise in everything but the signature.
func TestBothKeysAreAccepted(t *testing.T) {
	contrary := dialect.Contrary()
	contrary.Notification.Signature = dialect.Signature{}
	for name, tc := range map[string]struct {
		previous bool
		choices  *dialect.Dialect
	}{
		"the present key":                  {false, nil},
		"the previous key":                 {true, nil},
		"a service that chooses otherwise": {false, contrary},
	} {
		t.Run(name, func(t *testing.T) {
			server := mockserver.New(mockserver.WithDialect(tc.choices))
			defer server.Close()
			key, other := server.SecretKey, ""
			if tc.previous {
				key, other = "sk_test_new", key
			}
			url, stop := listening(t, filepath.Join(t.TempDir(), "store"), key, other)
			id, err := server.AddWebhook(notify.Webhook{Name: "Receiver", URL: url})
			if err != nil {
				t.Fatal(err)
			}
			result, err := server.Client(t).Webhooks.Replay(t.Context(),
				&shipping.ReplayRequest{DeliveryID: server.Deliveries()[0].ID, WebhookID: id})
			if err != nil {
				t.Fatal(err)
			}
			delivery, err := server.WaitDelivery(t.Context(), result.DeliveryID)
			if err != nil || delivery.State != notify.Delivered {
				t.Errorf("the delivery is %s: %s, %v", delivery.State, delivery.Reason, err)
			}
			if printed, logged := stop(); strings.Count(printed, "  SH-") != 1 {
				t.Errorf("it printed %q and logged %q", printed, logged)
			}
		})
	}
}
