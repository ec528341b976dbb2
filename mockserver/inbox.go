package mockserver

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/list"
)

// InboxURL is the address of the inbox of every world, for [Webhook]. A test that subscribes it needs no receiver: the
// world keeps its notifications, and [World.Inbox] returns them. Nothing is sent over a network. With a query such as
// ?status=503 the inbox responds with that status, so that the notification is retried.
const InboxURL = delivery.InboxURL

// Notification is a notification that the inbox of a world received.
type Notification struct {
	// Number is counted from 1.
	Number int       `json:"number"`
	At     time.Time `json:"at"`
	// Event is the kind of event in the payload, such as "shipment.updated".
	Event string `json:"event"`
	// DeliveryID, EventID and WebhookID are those of the header; empty with [Assumptions.NoDeliveryHeaders].
	DeliveryID string `json:"delivery_id,omitempty"`
	EventID    string `json:"webhook_event_id,omitempty"`
	WebhookID  string `json:"webhook_id,omitempty"`
	// Attempt is how often the delivery has arrived, from 1; 0 without a DeliveryID.
	Attempt int `json:"attempt,omitempty"`
	// Status is the status with which the inbox responded.
	Status int `json:"status"`
	// Valid is true if the payload is a JSON object that the key of the world has signed.
	Valid bool `json:"valid"`
	// Problem is the reason why it is not valid.
	Problem string `json:"problem,omitempty"`
	// Header has the Content-Type, the signature and the identifiers.
	Header http.Header `json:"header"`
	// Payload is the body as received, if it is JSON; treat it as read-only.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Inbox returns the latest notifications that were sent to [InboxURL], or to POST /_mock/inbox, oldest first: up to
// 1,000.
func (w *World) Inbox() []Notification {
	return list.Map(w.core.Inbox.Notifications(0, ""), func(n delivery.Notification) Notification { return Notification(n) })
}

// AwaitInbox returns the notifications of the inbox as soon as there are count of them. If the context ends or the
// timeout passes first, it returns an error. The timeout uses the time of the process; 0 means no timeout.
func (w *World) AwaitInbox(ctx context.Context, count int, timeout time.Duration) ([]Notification, error) {
	found, err := w.core.AwaitInbox(ctx, 0, "", count, timeout)
	return list.Map(found, func(n delivery.Notification) Notification { return Notification(n) }), err
}
