package mockserver

import (
	"context"
	"time"

	"github.com/shipping-go/shipping/mockserver/notify"
)

// AddWebhook registers a webhook and returns its webhook_id. It returns an error if the URL is not a valid
// target.
func (w *World) AddWebhook(h notify.Webhook) (string, error) { return w.core.AddWebhook(h) }

// ChangeWebhook changes a webhook. It returns an error, and changes nothing, if the webhook does not exist or the
// URL is invalid.
func (w *World) ChangeWebhook(id string, change notify.WebhookChange) error {
	return w.core.ChangeWebhook(id, change)
}

// RemoveWebhook removes a webhook. Deliveries that are being sent still arrive.
func (w *World) RemoveWebhook(id string) error { return w.core.RemoveWebhook(id) }

// Webhooks returns the ids of the webhooks, newest first.
func (w *World) Webhooks() []string { return w.core.Webhooks() }

// Receivers returns the ids of the webhooks that replays reach, newest first: they are active and subscribed to
// an event of shipments.
func (w *World) Receivers() []string { return w.core.Receivers() }

// Emit notifies every active webhook that is subscribed to an event, and returns the queued deliveries, newest
// webhook first. It returns an error, and sends nothing, if the shipment does not exist, the data is not a JSON
// object, or no webhook is subscribed.
func (w *World) Emit(e notify.Event) ([]notify.Delivery, error) { return w.core.Emit(e) }

// Deliveries returns the current delivery log, newest first, including the seeded history.
func (w *World) Deliveries() []notify.Delivery { return w.core.Deliveries() }

// WaitDelivery returns a delivery once its state is delivered, failed or refused. It returns an error if the
// context ends first or the log does not have the id.
func (w *World) WaitDelivery(ctx context.Context, deliveryID string) (notify.Delivery, error) {
	return w.core.WaitDelivery(ctx, deliveryID)
}

// Inbox returns the latest notifications that were sent to [notify.InboxURL], or to POST /_mock/inbox, oldest
// first: up to 1,000.
func (w *World) Inbox() []notify.Received { return w.core.Inbox.Notifications(0, "") }

// AwaitInbox returns the notifications of the inbox as soon as there are count of them. If the context ends or the
// timeout passes first, it returns an error. The timeout runs on real time; 0 means no timeout.
func (w *World) AwaitInbox(ctx context.Context, count int, timeout time.Duration) ([]notify.Received, error) {
	return w.core.AwaitInbox(ctx, 0, "", count, timeout)
}
