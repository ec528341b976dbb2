package shipping

import (
	"cmp"
	"context"
	"iter"
	"time"
)

// Webhook is a subscription to events.
//
// Specification: "Webhook".
type Webhook struct {
	// WebhookID identifies the webhook, such as WA-0123456789.
	WebhookID string `json:"webhook_id"`
	// StorageID and ID are storage identifiers, equal to each other.
	StorageID string `json:"_id"`
	ID        string `json:"id"`
	// Name is the label chosen by the user.
	Name string `json:"name"`
	// URL receives the notifications.
	URL string `json:"url"`
	// Event holds the kinds of events subscribed to. A list under the name "events" is read too.
	Event []string `json:"event" alias:"events"`
	// Active reports whether the webhook receives events.
	Active bool `json:"active"`
	// Live is true in live mode and false in test mode.
	Live bool `json:"live"`
	// User is the owner's identifier, such as USER-0123456789.
	User      string    `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Revision is the record's revision counter.
	Revision int `json:"__v"`
}

// UnmarshalJSON reads a webhook in the same way as a list of webhooks: tolerantly, and with the other names
// of its fields.
func (w *Webhook) UnmarshalJSON(data []byte) error { return readJSON(data, w) }

// The kinds of events that occur in the specification ("Events"), which does not list all of them.
const (
	EventShipmentCreated   = "shipment.created"
	EventShipmentUpdated   = "shipment.updated"
	EventShipmentDelivered = "shipment.delivered"
)

// WebhookListOptions selects a page of webhooks. Zero fields are not sent, so the service's
// defaults (page 1, 100 a page) apply.
type WebhookListOptions struct {
	Page    int `url:"page,omitempty"`
	PerPage int `url:"perPage,omitempty"`
	// Walk configures All and Pages.
	Walk Walk `url:"-"`
}

// WebhooksService lists webhook subscriptions and replays notifications.
type WebhooksService struct{ core *core }

// List returns one page of webhooks. opts may be nil. The error is a [*ValidationError] or an [*Error].
//
// Specification: GET /v1/webhooks. Assumption: the key is sent although the specification does not
// show whether this operation requires it.
func (s WebhooksService) List(
	ctx context.Context, opts *WebhookListOptions, call ...CallOption,
) (*Page[Webhook], error) {
	return s.lister(opts).list(ctx, call)
}

// All iterates over all webhooks, from page opts.Page on, and fetches pages ahead; see [Walk].
// A walk that fails yields a [*ListError] and ends.
func (s WebhooksService) All(
	ctx context.Context, opts *WebhookListOptions, call ...CallOption,
) iter.Seq2[*Webhook, error] {
	return s.lister(opts).all(ctx, call)
}

// Pages iterates over pages, as All does over records.
func (s WebhooksService) Pages(
	ctx context.Context, opts *WebhookListOptions, call ...CallOption,
) iter.Seq2[*Page[Webhook], error] {
	return s.lister(opts).pages(ctx, call)
}

func (s WebhooksService) lister(opts *WebhookListOptions) lister[Webhook, webhookList] {
	o := *cmp.Or(opts, &WebhookListOptions{})
	return lister[Webhook, webhookList]{
		core: s.core, operation: OpListWebhooks, page: o.Page, perPage: o.PerPage, walk: o.Walk,
		query: func(page int) any { next := o; next.Page = page; return next },
		id:    func(w *Webhook) (id, storage string) { return w.WebhookID, w.StorageID },
	}
}

// webhookList is the data of GET /v1/webhooks.
type webhookList struct {
	Webhooks   []Webhook  `json:"webhooks" read:"strict"`
	Pagination Pagination `json:"pagination"`
}

func (l webhookList) contents() ([]Webhook, Pagination) { return l.Webhooks, l.Pagination }

// ReplayRequest names the notification to send again: either DeliveryID, or ShipmentID together
// with Event.
//
// Specification: POST /v1/webhooks/replay.
type ReplayRequest struct {
	// ShipmentID goes with Event.
	ShipmentID string `json:"shipment_id,omitempty"`
	// Event goes with ShipmentID.
	Event string `json:"event,omitempty"`
	// DeliveryID identifies an earlier delivery attempt, such as WD-8K2J…; its exact stored payload
	// is sent again.
	DeliveryID string `json:"delivery_id,omitempty"`
	// WebhookID limits the replay to one webhook, which must be active and subscribed to the event.
	// Without it the replay goes to every active webhook subscribed to the event.
	WebhookID string `json:"webhook_id,omitempty"`
}

// Validate returns a [*ValidationError] if the replay would be refused before it is sent.
func (r *ReplayRequest) Validate() error {
	const field = "DeliveryID"
	switch {
	case r == nil:
		return invalidRequest(OpReplayWebhook, field,
			"is missing: pass a ReplayRequest with DeliveryID, or with ShipmentID and Event")
	case r.DeliveryID != "":
		return nil
	case r.ShipmentID == "" && r.Event == "":
		return invalidRequest(OpReplayWebhook, field, "is empty: set DeliveryID, or both ShipmentID and Event")
	case r.Event == "":
		return invalidRequest(OpReplayWebhook, "Event",
			"is empty: set it with ShipmentID, for example to EventShipmentUpdated")
	case r.ShipmentID == "":
		return invalidRequest(OpReplayWebhook, "ShipmentID", "is empty: Event must be sent together with ShipmentID")
	}
	return nil
}

// ReplayResult is the delivery that a replay has queued.
//
// Specification: "Webhook replay result".
type ReplayResult struct {
	// ShipmentID identifies the shipment, such as SH-7Q2M….
	ShipmentID string `json:"shipment_id"`
	Event      string `json:"event"`
	// WebhookEventID identifies the event, such as WE-4T9C….
	WebhookEventID string `json:"webhook_event_id"`
	// DeliveryID identifies the delivery attempt, such as WD-8K2J….
	DeliveryID string `json:"delivery_id"`
	// ReplayMode is the payload that was sent; "stored_payload" occurs.
	ReplayMode string `json:"replay_mode"`
}

// Replay queues a notification to be sent again. The request is checked before anything is sent, and
// it is retried only on evidence that nothing was sent: a second replay would notify twice. The error is a
// [*ValidationError] or an [*Error]. If neither [Error.NotSent] nor [Error.Refused] reports true for an [*Error], the
// service may have sent the notification.
//
// Assumption: a refusal has the documented envelope or is application/problem+json. An error in any other form can
// come from a proxy, after the service has accepted the replay, so it does not count as a refusal.
//
// Specification: POST /v1/webhooks/replay.
func (s WebhooksService) Replay(ctx context.Context, replay *ReplayRequest, call ...CallOption) (*ReplayResult, error) {
	if err := replay.Validate(); err != nil {
		return nil, err
	}
	result, _, err := fetch[ReplayResult](ctx, s.core, request{operation: OpReplayWebhook, body: jsonBody(replay)}, call,
		nil)
	if err != nil {
		return nil, err
	}
	for _, text := range []*string{&result.ShipmentID, &result.Event, &result.WebhookEventID, &result.DeliveryID,
		&result.ReplayMode} {
		*text = s.core.key.Text(*text)
	}
	return &result, nil
}
