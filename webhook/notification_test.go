package webhook_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/webhook"
)

// One odd member lost the notification: the shipment was decoded strictly, and the handler got ErrNoShipment. What
// cannot be read is zero, as in lists.
func TestNotification_ShipmentIsReadTolerantly(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 7, 30, 0, 0, time.UTC)
	shipment := func(id string, events ...webhook.ShipmentEvent) *webhook.Shipment {
		return &webhook.Shipment{ShipmentID: id, Status: "in-transit", Events: events}
	}
	event := func(at time.Time, location, status string) webhook.ShipmentEvent {
		return webhook.ShipmentEvent{CreatedAt: at, Description: "Sorted", Location: location, Status: status}
	}
	const rest = `,"description":"Sorted","location":"Kigali","status":"sorted"}]`
	for members, want := range map[string]*webhook.Shipment{
		`"events":[{"created_at":"2026-05-04T07:30:00Z"` +
			rest: shipment("SH-7", event(at, "Kigali", "sorted")),
		`"events":[{"created_at":"2026-05-04 07:30:00"` +
			rest: shipment("SH-7", event(at, "Kigali", "sorted")),
		`"events":[{"created_at":1777879800000` +
			rest: shipment("SH-7", event(at, "Kigali", "sorted")),
		`"events":[{"created_at":""` +
			rest: shipment("SH-7", event(time.Time{}, "Kigali", "sorted")),
		`"events":[{"description":"Sorted","location":{"city":"Kigali"},"status":200}]`: shipment("SH-7",
			event(time.Time{}, "", "200")),
		`"events":{},"updated_at":""`:           shipment("SH-7"),
		`"shipment_id":4107,"created_at":false`: shipment("4107"),
	} {
		n := webhook.Notification{Data: shipping.RawJSON(`{"shipment_id":"SH-7","status":"in-transit",` + members + `}`)}
		got, err := n.Shipment()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", members, err, diff)
		}
	}
	for _, data := range []shipping.RawJSON{"", "null", "7", `"SH-7"`, `[]`, `{}`, `{"shipment_id":""}`, `{"id":"SH-7"}`} {
		n := webhook.Notification{Data: data}
		if got, err := n.Shipment(); !errors.Is(err, webhook.ErrNoShipment) {
			t.Errorf("%s: %+v, %v", data, got, err)
		}
	}
}
