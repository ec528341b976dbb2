package mockserver

import (
	"fmt"
	"slices"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

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

// WebhookChange is what is to change about a webhook; nil leaves a field as it is.
type WebhookChange struct {
	Name   *string        `json:"name"`
	URL    *string        `json:"url"`
	Events []string       `json:"events"`
	Active *bool          `json:"active"`
	Order  *DeliveryOrder `json:"order"`
}

// ChangeWebhook changes a webhook. It fails, and changes nothing, for one that does not exist and for a
// URL or an order that cannot be.
func (w *World) ChangeWebhook(id string, change WebhookChange) error {
	if change.URL != nil {
		if err := delivery.CheckTarget(*change.URL, w.assume.DeliverAnywhere); err != nil {
			return fmt.Errorf("mockserver: webhook not changed: %w", err)
		}
	}
	if o := change.Order; o != nil && *o != "" && !slices.Contains(delivery.Orders(), delivery.Order(*o)) {
		return fmt.Errorf("mockserver: webhook not changed: order %q is none of %v, nor empty", *o, delivery.Orders())
	}
	if err := checkWebhookSize(deref(change.Name), deref(change.URL), change.Events); err != nil {
		return fmt.Errorf("mockserver: webhook not changed: %w", err)
	}
	now := jsontext.Timestamp(w.clock.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replaceWebhook(id, func(h account.Webhook) *account.Webhook {
		if change.Name != nil {
			h.Name = *change.Name
		}
		if change.URL != nil {
			h.URL = *change.URL
		}
		if change.Events != nil {
			h.Event = slices.Clone(change.Events)
		}
		if change.Active != nil {
			h.Active = *change.Active
		}
		if change.Order != nil {
			h.Order = delivery.Order(*change.Order)
		}
		h.UpdatedAt = now
		h.Revision++
		return &h
	})
}

// deref returns what a pointer points to, or the zero value.
func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// RemoveWebhook removes a webhook. What is on its way to it still arrives.
func (w *World) RemoveWebhook(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replaceWebhook(id, func(account.Webhook) *account.Webhook { return nil })
}

// replaceWebhook puts what change returns in the place of a webhook, nil for nothing. A webhook is never
// changed where it stands, since forks of the world share it. The caller holds the lock.
func (w *World) replaceWebhook(id string, change func(account.Webhook) *account.Webhook) error {
	old := w.account.Webhooks.Find(id)
	if old == nil {
		return fmt.Errorf("mockserver: webhook %q does not exist: take a webhook_id from GET /v1/webhooks", id)
	}
	var book account.WebhookBook
	for _, h := range w.account.Webhooks.All {
		if h == old {
			h = change(*h)
		}
		if h == nil {
			continue
		}
		if err := book.Add(h); err != nil {
			return err
		}
	}
	w.account.Webhooks = book
	return nil
}
