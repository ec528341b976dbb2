package world

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// AddWebhook registers a webhook and returns its webhook_id.
func (w *World) AddWebhook(h notify.Webhook) (string, error) {
	w.Lock()
	defer w.Unlock()
	err := w.checkWebhook(notify.WebhookChange{URL: &h.URL, Name: &h.Name, Events: h.Events})
	if err == nil {
		err = w.Room(0)
	}
	if err != nil {
		return "", fmt.Errorf("mockserver: webhook not added: %w", err)
	}
	if len(h.Events) == 0 {
		h.Events = account.EventKinds()
	}
	now := jsontext.Timestamp{Time: w.Clock.Now()}
	made := &account.Webhook{
		WebhookID: w.Account.IDs.Numbered("WA"), StorageID: w.Account.IDs.Storage(), Name: cmp.Or(h.Name,
			"Added webhook"), URL: h.URL,
		Event: slices.Clone(h.Events), Active: !h.Inactive, User: w.Account.User, CreatedAt: now, UpdatedAt: now,
	}
	made.ID = made.StorageID
	w.Lint.Changed()
	w.Account.Webhooks.Add(made)
	return made.WebhookID, nil
}

// checkWebhook returns an error for a target that is not allowed, and limits the memory of a webhook.
func (w *World) checkWebhook(change notify.WebhookChange) error {
	const longestLabel, longestURL, mostEvents = 256, 2048, 100
	labels := slices.Clone(change.Events)
	if change.Name != nil {
		labels = append(labels, *change.Name)
	}
	for _, label := range labels {
		if len(label) > longestLabel {
			return fmt.Errorf("the name or an event has %d bytes: use at most %d", len(label), longestLabel)
		}
	}
	switch {
	case len(change.Events) > mostEvents:
		return fmt.Errorf("there are %d events: use at most %d", len(change.Events), mostEvents)
	case change.URL == nil:
		return nil
	case len(*change.URL) > longestURL:
		return fmt.Errorf("the URL has %d bytes: use at most %d", len(*change.URL), longestURL)
	}
	return delivery.CheckTarget(*change.URL, w.settings.Anywhere)
}

func (w *World) ChangeWebhook(id string, change notify.WebhookChange) error {
	w.Lock()
	defer w.Unlock()
	if err := w.checkWebhook(change); err != nil {
		return fmt.Errorf("mockserver: webhook not changed: %w", err)
	}
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
		h.UpdatedAt = jsontext.Timestamp{Time: w.Clock.Now()}
		h.Revision++
		return &h
	})
}

func (w *World) RemoveWebhook(id string) error {
	w.Lock()
	defer w.Unlock()
	return w.replaceWebhook(id, func(account.Webhook) *account.Webhook { return nil })
}

// replaceWebhook replaces a webhook by the result of change, or removes it if that is nil. A webhook is never
// modified in place, because it belongs to the initial contents, or a reader has it. The caller holds the lock.
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
		if h != nil {
			book.Add(h)
		}
	}
	w.Lint.Changed()
	w.Account.Webhooks = book
	return nil
}

// Emit notifies every active webhook that is subscribed to an event, and returns the queued deliveries, newest webhook
// first.
func (w *World) Emit(e notify.Event) ([]notify.Delivery, error) {
	w.Lock()
	defer w.Unlock()
	payload, shipmentID, err := w.payload(e)
	if err != nil {
		return nil, fmt.Errorf("mockserver: nothing was sent: %w", err)
	}
	receivers := w.Account.Webhooks.Receivers(e.Kind)
	if len(receivers) == 0 {
		return nil, fmt.Errorf("mockserver: nothing was sent: %s", account.Unsubscribed(e.Kind))
	}
	queued, err := w.Send(receivers, notify.Delivery{Event: e.Kind, ShipmentID: shipmentID, Payload: payload})
	if err != nil {
		return nil, fmt.Errorf("mockserver: nothing was sent: %w", err)
	}
	return queued, nil
}

// Send queues a delivery to each receiver, with new ids and one new event id. The caller holds the lock.
func (w *World) Send(receivers []*account.Webhook, d notify.Delivery) ([]notify.Delivery, error) {
	if err := w.Room(len(receivers) * len(d.Payload)); err != nil {
		return nil, err
	}
	d.EventID = w.Account.IDs.Coded("WE")
	queued := make([]notify.Delivery, len(receivers))
	for i, h := range receivers {
		d.ID, d.WebhookID, d.URL = w.Account.IDs.Coded("WD"), h.WebhookID, h.URL
		queued[i] = w.Dispatcher.Send(d)
	}
	return queued, nil
}

func (w *World) payload(e notify.Event) (payload []byte, shipmentID string, err error) {
	switch {
	case e.Kind == "":
		return nil, "", errors.New("the event is missing: send one such as shipment.updated")
	case len(e.Data) > 0 && e.ShipmentID != "":
		return nil, "", errors.New("send shipment_id or data, not both")
	case len(e.Data) > 0:
		if data := bytes.TrimSpace(e.Data); !json.Valid(data) || data[0] != '{' {
			return nil, "", errors.New("data must be a JSON object")
		}
		payload = jsontext.Of(struct {
			Event string          `json:"event"`
			Data  json.RawMessage `json:"data"`
		}{e.Kind, e.Data})
		return payload, w.shipmentIn(e.Data), nil
	}
	if e.ShipmentID == "" {
		e.ShipmentID = w.DefaultShipment()
	}
	s := w.Account.Shipments[e.ShipmentID]
	if s == nil {
		return nil, "", fmt.Errorf("no shipment %q: use one that %s, or send \"data\":{…} in "+
			"place of \"shipment_id\"", e.ShipmentID, regulatory.InWorld)
	}
	changed := *s
	changed.UpdatedAt = jsontext.Timestamp{Time: w.Clock.Now()}
	return changed.Payload(e.Kind), e.ShipmentID, nil
}

// DefaultShipment returns the id of the shipment of notifications that name none; empty for an
// account without shipments.
func (w *World) DefaultShipment() string {
	if len(w.Account.ShipmentIDs) == 0 {
		return ""
	}
	return w.Account.ShipmentIDs[0]
}

// shipmentIn returns the shipment_id of data if the account has the shipment.
func (w *World) shipmentIn(data json.RawMessage) string {
	var named struct {
		ShipmentID json.RawMessage `json:"shipment_id"`
	}
	var id string
	if jsonread.Unmarshal(data, &named) != nil || json.Unmarshal(named.ShipmentID, &id) != nil ||
		w.Account.Shipments[id] == nil {
		return ""
	}
	return id
}

// WaitDelivery returns a delivery once its state is delivered, failed or refused.
func (w *World) WaitDelivery(ctx context.Context, deliveryID string) (notify.Delivery, error) {
	d, err := w.Dispatcher.Wait(ctx, deliveryID)
	if err != nil {
		return d, fmt.Errorf("mockserver: %w", err)
	}
	return d, nil
}

// AwaitInbox waits until the inbox has count notifications that the caller selects, and returns them.
func (w *World) AwaitInbox(ctx context.Context, after int, contains string, count int,
	timeout time.Duration) ([]notify.Received, error) {
	ctx, cancel := w.waiting(ctx, timeout)
	defer cancel()
	found, err := w.Inbox.Await(ctx, after, contains, count)
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	return found, nil
}
