package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// A receiver with the dialect of a server takes its notifications and replays, with the identifiers that it sends. One
// with another dialect refuses them, as often as the server attempts a delivery.
func TestWithDialect(t *testing.T) {
	t.Parallel()
	const timed, same = "standard-webhooks,notification.signature.key=text", "the same"
	tests := map[[2]string]bool{ // whether the receiver takes the notifications, by the dialects of server and receiver
		{timed, same}: true,
		{timed + ",notification.event_id=Webhook-Id", same}:                                       true,
		{"notification.signature.header=X-Example-Signature,notification.delivery_id=X-Id", same}: true,
		{"", same}:         true,
		{"", "reference"}:  true,
		{"contrary", same}: true,
		{"contrary", "notification.signature.header=X-Example-Signature"}: false,
		{"", "contrary"}:                        false,
		{"notification.attempts=2", "contrary"}: false,
	}
	for _, f := range dialect.Contrary().Fields() {
		if strings.HasPrefix(f.Name, "notification.") && f.Set {
			choice := f.Name + "=" + f.Value
			tests[[2]string{choice, same}] = true
			tests[[2]string{choice, ""}] = !strings.Contains(choice, "signature") || strings.Contains(choice, "tolerance") ||
				strings.Contains(choice, "timestamp_header") // which no signature covers
		}
	}
	for dialects, taken := range tests {
		t.Run(strings.Join(dialects[:], " and "), func(t *testing.T) {
			t.Parallel()
			decided := shippingtest.Dialect(t, dialects[0])
			received := decided
			if dialects[1] != same {
				received = shippingtest.Dialect(t, dialects[1])
			}
			server := mockserver.New(mockserver.WithDialect(decided), mockserver.WithVirtualClock(time.Now()))
			defer server.Close()
			hook, handled := subscribe(t, server, webhook.WithDialect(received))
			first := shippingtest.Must(server.Emit(notify.Event{Kind: shipping.EventShipmentCreated}))(t)
			shippingtest.Must(server.Advance(time.Hour))(t) // for the attempts after a refusal
			_, err := server.Client(t).Webhooks.Replay(t.Context(),
				&shipping.ReplayRequest{DeliveryID: first[0].ID, WebhookID: hook})
			shippingtest.NoError(t, err)
			shippingtest.Must(server.Advance(time.Hour))(t)
			notification := decided.Resolved().Notification
			for _, id := range []string{first[0].ID, server.Deliveries()[0].ID} {
				delivery, err := server.WaitDelivery(t.Context(), id)
				if err != nil || (delivery.State == notify.Delivered) != taken {
					t.Fatalf("%s: %v", delivery.State, err)
				}
				if !taken {
					shippingtest.Diff(t, "attempts", notification.Attempts, len(delivery.Attempts))
					continue
				}
				if len(handled) == 0 && decided.Notification.DeliveryID == "-" && id != first[0].ID {
					continue // a replay has the same body, which identifies the notification
				}
				n := <-handled
				sent := map[string]string{notification.DeliveryID: delivery.ID, notification.EventID: delivery.EventID}
				delete(sent, "-")
				if id := sent[received.Resolved().Notification.DeliveryID]; id != "" && id != n.ID {
					t.Errorf("delivery %q, want %q", n.ID, id)
				}
				shippingtest.Diff(t, "event", sent[received.Resolved().Notification.EventID], n.EventID)
			}
		})
	}
}
