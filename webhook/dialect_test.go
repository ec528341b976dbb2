package webhook_test

import (
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// A receiver with the dialect of a server takes its notifications, and one with another refuses them.
func TestWithDialect(t *testing.T) {
	t.Parallel()
	named := &dialect.Dialect{Notification: dialect.Notification{
		Signature: dialect.Signature{Header: "X-Example-Signature"}, DeliveryID: "X-Example-Id", EventID: "-",
	}}
	timed := dialect.StandardWebhooks()
	timed.Notification.Signature.Key = ""
	byEvent := dialect.StandardWebhooks()
	byEvent.Notification.Signature.Key, byEvent.Notification.EventID = "", "Webhook-Id"
	for name, test := range map[string]struct {
		server, receiver *dialect.Dialect
		taken            bool
	}{
		"id and time":     {timed, timed, true},
		"id of the event": {byEvent, byEvent, true},
		"none":            {nil, nil, true},
		"reference":       {nil, dialect.Reference(), true},
		"contrary":        {dialect.Contrary(), dialect.Contrary(), true},
		"named":           {named, named, true},
		"another":         {dialect.Contrary(), named, false},
		"of the receiver": {nil, dialect.Contrary(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := mockserver.New(mockserver.WithDialect(test.server), mockserver.WithVirtualClock(time.Now()))
			defer server.Close()
			_, handled := subscribe(t, server, webhook.WithDialect(test.receiver))
			sent := shippingtest.Must(server.Emit(notify.Event{Kind: shipping.EventShipmentCreated}))(t)
			shippingtest.Must(server.Advance(time.Minute))(t) // for the attempts after a refusal
			delivery, err := server.WaitDelivery(t.Context(), sent[0].ID)
			if err != nil || (delivery.State == notify.Delivered) != test.taken || (len(handled) == 1) != test.taken {
				t.Fatalf("%s, handled %d times: %v", delivery.State, len(handled), err)
			}
			if test.server == named {
				if n := <-handled; n.ID != delivery.ID || n.EventID != "" {
					t.Errorf("delivery %q of event %q", n.ID, n.EventID)
				}
			}
		})
	}
}
