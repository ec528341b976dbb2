package mockserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Webhook is a subscription to be made with [World.AddWebhook]. The service has an operation for it
// whose path the specification does not show.
type Webhook struct {
	// Name is a label. Default: "Added webhook".
	Name string `json:"name"`
	// URL receives the notifications: absolute, http or https, on this machine unless
	// [WithDeliveryTargets] allows others.
	URL string `json:"url"`
	// Events are the kinds subscribed to. Default: the three of the specification.
	Events []string `json:"events"`
	// Inactive makes a webhook that receives nothing.
	Inactive bool `json:"inactive"`
}

// WebhookChange is what is to change about a webhook; nil leaves a field as it is.
type WebhookChange struct {
	Name   *string        `json:"name"`
	URL    *string        `json:"url"`
	Events []string       `json:"events"`
	Active *bool          `json:"active"`
	Order  *DeliveryOrder `json:"order"`
}

// DeliveryOrder is the order in which notifications go out to a webhook. In an order they are gathered
// for 100 ms of the world's time and sent one after the other, each when the receiver has responded to the
// one before; retries take their turn among them. The zero value sends each at once, in a world with a
// virtual clock one at a time. A change applies to notifications that are queued after it.
//
// Assumption: that the service promises no order; the specification shows none.
type DeliveryOrder string

// The orders.
const (
	OrderFIFO    DeliveryOrder = "fifo"    // as they happened
	OrderReverse DeliveryOrder = "reverse" // the latest first
	OrderShuffle DeliveryOrder = "shuffle" // in an order that follows from the world's seed
)

// Event is something that webhooks are told.
type Event struct {
	// Kind is what webhooks subscribe to, such as "shipment.updated".
	Kind string `json:"event"`
	// ShipmentID is the shipment that the notification shows, as it stands. Default: the newest.
	ShipmentID string `json:"shipment_id"`
	// Data, a JSON object, is sent in place of a shipment, for kinds that are about something else. If its
	// shipment_id names a shipment of the account, the notification is about that shipment.
	Data json.RawMessage `json:"data"`
}

// Delivery is a notification on its way to a webhook, as the delivery log has it.
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
	StatusCode int       `json:"status_code,omitempty"` // 0 when no answer came
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

// ChangeWebhook changes a webhook. It fails, and changes nothing, for one that does not exist and for a
// URL or an order that cannot be.
func (w *World) ChangeWebhook(id string, change WebhookChange) error {
	return w.core.ChangeWebhook(id, world.WebhookChange{
		Name: change.Name, URL: change.URL, Events: change.Events, Active: change.Active, Order: (*delivery.Order)(change.Order),
	})
}

// RemoveWebhook removes a webhook. What is on its way to it still arrives.
func (w *World) RemoveWebhook(id string) error { return w.core.RemoveWebhook(id) }

// Webhooks returns the ids of the webhooks, newest first.
func (w *World) Webhooks() []string { return w.core.Webhooks() }

// Deliveries returns the delivery log as it stands, newest first: those of the seeded history too.
func (w *World) Deliveries() []Delivery { return list.Map(w.core.Deliveries(), exported) }

// WaitDelivery returns a delivery once it has ended: delivered, failed or refused. It fails when the
// context ends first and for an id that the log does not hold.
func (w *World) WaitDelivery(ctx context.Context, deliveryID string) (Delivery, error) {
	d, err := w.core.WaitDelivery(ctx, deliveryID)
	if err != nil {
		return Delivery{}, err
	}
	return exported(d), nil
}

// AddWebhook subscribes a receiver and returns its webhook_id. It fails for a URL that nothing could
// ever be delivered to.
func (w *World) AddWebhook(h Webhook) (string, error) {
	return w.core.AddWebhook(world.Subscription(h))
}

// Emit notifies every active webhook that is subscribed to an event, and returns what was queued, newest
// webhook first. It fails, and sends nothing, for a shipment that does not exist, for data that is no
// JSON object, and where no webhook is subscribed.
func (w *World) Emit(e Event) ([]Delivery, error) {
	queued, err := w.core.Emit(world.Event(e))
	return list.Map(queued, exported), err
}
