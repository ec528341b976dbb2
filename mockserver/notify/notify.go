// Package notify describes the webhooks of a world of the reference server, the events of which they are notified,
// and the deliveries of these notifications. World.AddWebhook and World.Emit of package mockserver use them.
package notify

import (
	"encoding/json"
	"net/http"
	"time"
)

// InboxURL is the address of the inbox of every world, for a [Webhook]. A test that registers it needs no receiver: the
// world stores its notifications, and World.Inbox returns them. Nothing is sent over a network. With a query such as
// ?status=503 the inbox responds with that status, so that the notification is retried.
const InboxURL = "http://inbox.localhost/"

// Webhook is a new subscription. The path of the service's operation for it is not in the specification.
type Webhook struct {
	// Name is a label. Default: "Added webhook".
	Name string
	// URL receives the notifications. It is absolute, http or https, and on this machine unless the server delivers
	// anywhere.
	URL string
	// Events are the subscribed kinds of events. Default: the three of the specification.
	Events []string
	// Inactive disables the webhook.
	Inactive bool
}

// WebhookChange holds the new values of a webhook; nil leaves a field unchanged.
type WebhookChange struct {
	URL    *string  `json:"url,omitempty" doc:"Required for a new webhook."`
	Name   *string  `json:"name,omitempty" doc:"A label. Default: Added webhook."`
	Events []string `json:"events,omitempty" doc:"Default: every shipment event."`
	Active *bool    `json:"active,omitempty" doc:"Default: true."`
}

// Event is an event of which webhooks are notified.
type Event struct {
	// Kind is what webhooks subscribe to, such as "shipment.updated".
	Kind string `json:"event" doc:"Kind of the event, such as shipment.updated, to which webhooks subscribe."`
	// ShipmentID is the shipment in the notification, in its current state. Default: the newest.
	ShipmentID string `json:"shipment_id,omitempty" doc:"The shipment in the notification, in its current state. Default: the newest."`
	// Data, a JSON object, replaces the shipment, for events that are not about a shipment. If its shipment_id
	// names a shipment of the account, the notification is about that shipment.
	Data json.RawMessage `json:"data,omitempty" doc:"A JSON object in place of the shipment."`
}

// Delivery is one notification to one webhook, as the delivery log records it.
type Delivery struct {
	ID         string        `json:"delivery_id" doc:"The same in each attempt: the header X-Webhook-Delivery-Id."`
	EventID    string        `json:"webhook_event_id" doc:"The same in the deliveries of one event to several webhooks."`
	WebhookID  string        `json:"webhook_id" doc:"The webhook that it is for."`
	Event      string        `json:"event" doc:"The kind of event, such as shipment.updated."`
	ShipmentID string        `json:"shipment_id" doc:"The shipment that it is about; empty if it is about none."`
	URL        string        `json:"url" doc:"The address to which it is sent."`
	State      DeliveryState `json:"state" enum:"queued delivered failed refused" doc:"queued waits for its next attempt; delivered was accepted by the receiver; failed had no successful attempt; refused was not sent, because the target is not allowed."`
	// Fault describes the injected fault that struck the delivery, such as "rule 1: repeat-notification".
	Fault string `json:"fault,omitempty" doc:"The fault that struck it, such as rule 1: repeat-notification."`
	// Reason is the reason of a refusal or failure.
	Reason    string            `json:"reason,omitempty" doc:"Why it failed or was refused."`
	CreatedAt time.Time         `json:"created_at" doc:"When the event happened, in the time of the world."`
	Attempts  []DeliveryAttempt `json:"attempts" doc:"The attempts so far, the oldest first."`
	// Payload is the body as sent; treat it as read-only.
	Payload json.RawMessage `json:"payload,omitempty" doc:"The body as sent."`
	// Due is when the next attempt is due; zero unless the delivery is queued.
	Due time.Time `json:"due,omitzero" doc:"When the next attempt is due. Absent unless it is queued."`
}

// DeliveryState is the state of a delivery.
type DeliveryState string

// States of a delivery. All except Queued are final.
const (
	Queued    DeliveryState = "queued"    // waiting for its first or its next attempt
	Delivered DeliveryState = "delivered" // the receiver accepted it
	Failed    DeliveryState = "failed"    // no attempt succeeded, or a fault lost it
	Refused   DeliveryState = "refused"   // the target is not allowed; nothing was sent
)

// DeliveryAttempt is one POST of a [Delivery].
type DeliveryAttempt struct {
	At         time.Time `json:"at" doc:"When it was sent."`
	StatusCode int       `json:"status_code,omitempty" doc:"The status of the response. Absent without a response."`
	Error      string    `json:"error,omitempty" doc:"Why no response arrived."`
}

// Received is a notification that the inbox of a world received.
type Received struct {
	// Number is counted from 1.
	Number int       `json:"number" doc:"Counted from 1."`
	At     time.Time `json:"at" doc:"When it arrived."`
	// Event is the kind of event in the payload, such as "shipment.updated".
	Event string `json:"event" doc:"The kind of event in the body."`
	// DeliveryID, EventID and WebhookID are from the header; empty if it lacks them.
	DeliveryID string `json:"delivery_id,omitempty" doc:"That of its header."`
	EventID    string `json:"webhook_event_id,omitempty" doc:"That of its header."`
	WebhookID  string `json:"webhook_id,omitempty" doc:"That of its header."`
	// Attempt is how often the delivery has arrived, from 1; 0 without a DeliveryID.
	Attempt int `json:"attempt,omitempty" doc:"How often the delivery has arrived, from 1. Absent without a delivery_id."`
	// Status is the status with which the inbox responded.
	Status int `json:"status" doc:"The status with which the inbox responded."`
	// Valid is true if the payload is a JSON object that the key of the world has signed.
	Valid bool `json:"valid" doc:"The body is a JSON object that the key of the world has signed."`
	// Problem is the reason why it is not valid.
	Problem string `json:"problem,omitempty" doc:"Why it is not valid."`
	// Header has the Content-Type, the signature and the identifiers.
	Header http.Header `json:"header" doc:"The Content-Type, the signature and the identifiers."`
	// Payload is the body as received, if it is JSON; treat it as read-only.
	Payload json.RawMessage `json:"payload,omitempty" doc:"The body as received, if it is JSON."`
}
