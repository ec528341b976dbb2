package webhook_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/webhook"
)

func TestTracker_LateNewsDoNotUndoNewerOnes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	type news struct {
		status webhook.ShipmentStatus
		minute int // 0: no time
		late   bool
	}
	for name, story := range map[string][]news{
		"in order":           {{"confirmed", 1, false}, {"in-transit", 2, false}, {"delivered", 3, false}},
		"out of order":       {{"delivered", 3, false}, {"in-transit", 2, true}, {"confirmed", 1, true}},
		"the same again":     {{"in-transit", 2, false}, {"in-transit", 2, false}},
		"a later correction": {{"delivered", 3, false}, {"in-transit", 4, false}},
		"without times": {{"in-transit", 0, false}, {"pending", 0, true}, {"delivered", 0, false},
			{"in-transit", 0, true}},
		"same time":            {{"delivered", 3, false}, {"in-transit", 3, true}},
		"unknown state":        {{"in-transit", 2, false}, {"at-customs", 3, false}, {"confirmed", 1, true}},
		"unknown, no times":    {{"in-transit", 0, false}, {"at-customs", 0, false}, {"confirmed", 0, true}},
		"cancelled is the end": {{"cancelled", 0, false}, {"confirmed", 0, true}},
		// The American spelling was an unknown state.
		"canceled is the end": {{"canceled", 0, false}, {"in-transit", 0, true}},
		// A notification without a time does not erase the remembered time.
		"one without a time": {{"in-transit", 3, false}, {"in-transit", 0, false}, {"in-transit", 2, true},
			{"in-transit", 4, false}},
	} {
		var tracker webhook.Tracker
		for i, n := range story {
			shipment := webhook.Shipment{ShipmentID: "SH-1", Status: n.status}
			if n.minute > 0 {
				shipment.UpdatedAt = at.Add(time.Duration(n.minute) * time.Minute)
			}
			shippingtest.Diff(t, fmt.Sprintf("%s, %d: %s is late", name, i+1, n.status), n.late, tracker.Late(&shipment))
		}
	}
}

// The tracker forgot the shipment that it had seen first, and not the one that was updated longest ago.
func TestTracker_ForgetsTheShipmentUpdatedLongestAgo(t *testing.T) {
	t.Parallel()
	tracker := webhook.Tracker{Limit: 10}
	late := func(n int, status webhook.ShipmentStatus) bool {
		return tracker.Late(&webhook.Shipment{ShipmentID: fmt.Sprint(n), Status: status})
	}
	for n := range 100 {
		late(n, webhook.ShipmentInTransit)
		late(0, webhook.ShipmentInTransit)
	}
	if !late(0, "draft") || !late(99, "draft") || !late(91, "draft") || late(90, "draft") || late(1, "draft") {
		t.Error("the last ten are remembered, and no others")
	}
}

func TestShipmentStatus_Final(t *testing.T) {
	t.Parallel()
	for status, want := range map[webhook.ShipmentStatus]bool{
		webhook.ShipmentDraft: false, webhook.ShipmentPending: false, webhook.ShipmentConfirmed: false,
		webhook.ShipmentInTransit: false,
		webhook.ShipmentDelivered: true, webhook.ShipmentCancelled: true, "canceled": true, "at-customs": false, "": false,
	} {
		if status.Final() != want {
			t.Errorf("%q is final: %t", status, !want)
		}
	}
}

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
		shippingtest.WantError(t, string(data), shippingtest.Err(n.Shipment()), webhook.ErrNoShipment)
	}
}
