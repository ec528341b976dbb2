package mockserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Webhook is a subscription for [World.AddWebhook]. The path of the service's operation for it is not in the
// specification.
type Webhook struct {
	// Name is a label. Default: "Added webhook".
	Name string `json:"name"`
	// URL receives the notifications. It is absolute, http or https, and on this machine unless
	// [WithDeliveryTargets] is set.
	URL string `json:"url"`
	// Events are the kinds subscribed to. Default: the three of the specification.
	Events []string `json:"events"`
	// Inactive disables the webhook.
	Inactive bool `json:"inactive"`
}

// WebhookChange holds the new values of a webhook; nil leaves a field unchanged.
type WebhookChange struct {
	Name   *string        `json:"name"`
	URL    *string        `json:"url"`
	Events []string       `json:"events"`
	Active *bool          `json:"active"`
	Order  *DeliveryOrder `json:"order"`
}

// DeliveryOrder is the order in which a webhook receives notifications. Except for the zero value, notifications
// are gathered for 100 ms of the world's time and sent one after the other, each when the receiver has responded
// to the previous one; retries take their turn among them. The zero value sends each at once, and in a world with
// a virtual clock one at a time. A change applies to notifications that are queued later.
//
// Assumption: the service promises no order; the specification shows none.
type DeliveryOrder string

// Orders of delivery.
const (
	OrderFIFO    DeliveryOrder = "fifo"    // oldest first
	OrderReverse DeliveryOrder = "reverse" // newest first
	OrderShuffle DeliveryOrder = "shuffle" // random, derived from the world's seed
)

// Event is an event of which webhooks are notified.
type Event struct {
	// Kind is what webhooks subscribe to, such as "shipment.updated".
	Kind string `json:"event"`
	// ShipmentID is the shipment in the notification, in its current state. Default: the newest.
	ShipmentID string `json:"shipment_id"`
	// Data, a JSON object, replaces the shipment, for events that are not about a shipment. If its shipment_id
	// names a shipment of the account, the notification is about that shipment.
	Data json.RawMessage `json:"data"`
}

// Delivery is a notification to a webhook, as the delivery log records it.
type Delivery struct {
	ID         string            `json:"delivery_id"`
	EventID    string            `json:"webhook_event_id"`
	WebhookID  string            `json:"webhook_id"`
	Event      string            `json:"event"`
	ShipmentID string            `json:"shipment_id"`
	URL        string            `json:"url"`
	State      string            `json:"state"` // queued, delivered, failed or refused
	Reason     string            `json:"reason,omitempty"`
	CreatedAt  time.Time         `json:"created_at"`
	Attempts   []DeliveryAttempt `json:"attempts"`
	Payload    json.RawMessage   `json:"payload"` // the body as sent; treat as read-only
}

// DeliveryAttempt is one POST of a [Delivery].
type DeliveryAttempt struct {
	At         time.Time `json:"at"`
	StatusCode int       `json:"status_code,omitempty"` // 0 without a response
	Error      string    `json:"error,omitempty"`
}

func exported(d delivery.Delivery) Delivery {
	out := Delivery{
		ID: d.ID, EventID: d.EventID, WebhookID: d.WebhookID, Event: d.Event, ShipmentID: d.ShipmentID, URL: d.URL,
		State: string(d.State), Reason: d.Reason, CreatedAt: d.CreatedAt, Payload: d.Payload,
		Attempts: make([]DeliveryAttempt, len(d.Attempts)),
	}
	for i, a := range d.Attempts {
		out.Attempts[i] = DeliveryAttempt(a)
	}
	return out
}

// ChangeWebhook changes a webhook. It returns an error, and changes nothing, if the webhook does not exist or the
// URL or the order is invalid.
func (w *World) ChangeWebhook(id string, change WebhookChange) error {
	return w.core.ChangeWebhook(id, world.WebhookChange{
		Name: change.Name, URL: change.URL, Events: change.Events, Active: change.Active, Order: (*delivery.Order)(change.Order),
	})
}

// RemoveWebhook removes a webhook. Deliveries that are being sent still arrive.
func (w *World) RemoveWebhook(id string) error { return w.core.RemoveWebhook(id) }

// Webhooks returns the ids of the webhooks, newest first.
func (w *World) Webhooks() []string { return w.core.Webhooks() }

// Receivers returns the ids of the webhooks that replays reach, newest first: they are active and subscribed to
// an event of shipments.
func (w *World) Receivers() []string { return w.core.Receivers() }

// Deliveries returns the current delivery log, newest first, including the seeded history.
func (w *World) Deliveries() []Delivery { return list.Map(w.core.Deliveries(), exported) }

// WaitDelivery returns a delivery once its state is delivered, failed or refused. It returns an error if the
// context ends first or the log does not have the id.
func (w *World) WaitDelivery(ctx context.Context, deliveryID string) (Delivery, error) {
	d, err := w.core.WaitDelivery(ctx, deliveryID)
	if err != nil {
		return Delivery{}, err
	}
	return exported(d), nil
}

// AddWebhook subscribes a receiver and returns its webhook_id. It returns an error if the URL is not a valid
// target.
func (w *World) AddWebhook(h Webhook) (string, error) {
	return w.core.AddWebhook(world.Subscription(h))
}

// Emit notifies every active webhook that is subscribed to an event, and returns the queued deliveries, newest
// webhook first. It returns an error, and sends nothing, if the shipment does not exist, the data is not a JSON
// object, or no webhook is subscribed.
func (w *World) Emit(e Event) ([]Delivery, error) {
	queued, err := w.core.Emit(world.Event(e))
	return list.Map(queued, exported), err
}
