package mockserver

import (
	"fmt"
	"slices"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/records"
)

// webhookBook keeps the webhooks as what replay asks and as what the list serves.
type webhookBook struct {
	all     []*webhook // oldest first
	encoded records.List
	bytes   int // of the records
}

func (b *webhookBook) add(h *webhook) error {
	record, err := jsontext.Encode(h)
	if err != nil {
		return fmt.Errorf("webhook %s: %w", h.WebhookID, err)
	}
	b.all = append(b.all, h)
	b.encoded.Prepend(record)
	b.bytes += len(record)
	return nil
}

// clone returns a book that starts out equal and goes its own way.
func (b *webhookBook) clone() webhookBook {
	return webhookBook{all: slices.Clip(b.all), encoded: b.encoded.Clone(), bytes: b.bytes}
}

func (b *webhookBook) find(id string) *webhook {
	i := slices.IndexFunc(b.all, func(h *webhook) bool { return h.WebhookID == id })
	if i < 0 {
		return nil
	}
	return b.all[i]
}

// orders returns the order of each webhook that has one.
func (b *webhookBook) orders() map[string]DeliveryOrder {
	orders := map[string]DeliveryOrder{}
	for _, h := range b.all {
		if h.order != "" {
			orders[h.WebhookID] = h.order
		}
	}
	return orders
}

// receivers returns the active webhooks that are subscribed to an event, newest first.
func (b *webhookBook) receivers(event string) []*webhook {
	var out []*webhook
	for _, h := range slices.Backward(b.all) {
		if h.hears(event) {
			out = append(out, h)
		}
	}
	return out
}

func (h *webhook) hears(event string) bool { return h.Active && slices.Contains(h.Event, event) }

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

// AddWebhook subscribes a receiver and returns its webhook_id. It fails for a URL that nothing could
// ever be delivered to.
func (w *World) AddWebhook(h Webhook) (string, error) {
	if err := delivery.CheckTarget(h.URL, w.assume.DeliverAnywhere); err != nil {
		return "", fmt.Errorf("mockserver: webhook not added: %w", err)
	}
	if err := checkWebhookSize(h.Name, h.URL, h.Events); err != nil {
		return "", fmt.Errorf("mockserver: webhook not added: %w", err)
	}
	if h.Name == "" {
		h.Name = "Added webhook"
	}
	if len(h.Events) == 0 {
		h.Events = eventKinds()
	}
	now := jsontext.Timestamp(w.clock.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.room(); err != nil {
		return "", fmt.Errorf("mockserver: webhook not added: %w", err)
	}
	made := &webhook{
		WebhookID: w.ids.numbered("WA"), StorageID: w.ids.storage(), Name: h.Name, URL: h.URL,
		Event: slices.Clone(h.Events), Active: !h.Inactive, User: w.user, CreatedAt: now, UpdatedAt: now,
	}
	made.ID = made.StorageID
	return made.WebhookID, w.webhooks.add(made)
}

// checkWebhookSize refuses a webhook that no account would have, whose every copy takes memory.
func checkWebhookSize(name, url string, events []string) error {
	const longestLabel, longestURL, mostEvents = 256, 2048, 100
	switch {
	case len(name) > longestLabel:
		return fmt.Errorf("the name has %d bytes: use at most %d", len(name), longestLabel)
	case len(url) > longestURL:
		return fmt.Errorf("the URL has %d bytes: use at most %d", len(url), longestURL)
	case len(events) > mostEvents:
		return fmt.Errorf("there are %d events: use at most %d", len(events), mostEvents)
	}
	for _, event := range events {
		if len(event) > longestLabel {
			return fmt.Errorf("an event has %d bytes: use at most %d", len(event), longestLabel)
		}
	}
	return nil
}

// eventKinds are the three kinds that the specification names ("Events").
func eventKinds() []string {
	return []string{"shipment.created", "shipment.updated", "shipment.delivered"}
}
