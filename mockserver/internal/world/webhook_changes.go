package world

import (
	"fmt"
	"slices"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// ChangeWebhook changes a webhook.
func (w *World) ChangeWebhook(id string, change notify.WebhookChange) error {
	if change.URL != nil {
		if err := delivery.CheckTarget(*change.URL, w.Assume().DeliverAnywhere); err != nil {
			return fmt.Errorf("mockserver: webhook not changed: %w", err)
		}
	}
	if err := checkWebhookSize(deref(change.Name), deref(change.URL), change.Events); err != nil {
		return fmt.Errorf("mockserver: webhook not changed: %w", err)
	}
	now := jsontext.Timestamp(w.Clock.Now())
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
		h.UpdatedAt = now
		h.Revision++
		return &h
	})
}

// deref returns *p, or the zero value if p is nil.
func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// RemoveWebhook removes a webhook.
func (w *World) RemoveWebhook(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.replaceWebhook(id, func(account.Webhook) *account.Webhook { return nil })
}

// replaceWebhook replaces a webhook by the result of change, or removes it if that is nil. A webhook is never
// modified in place, because forks of the world share it. The caller holds the lock.
func (w *World) replaceWebhook(id string, change func(account.Webhook) *account.Webhook) error {
	old := w.Account.Webhooks.Find(id)
	if old == nil {
		return fmt.Errorf("mockserver: webhook %q does not exist: take a webhook_id from GET /v1/webhooks", id)
	}
	var book account.Webhooks
	for _, h := range w.Account.Webhooks.All {
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
	w.Account.Webhooks = book
	return nil
}
