package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Emit notifies every active webhook that is subscribed to an event, and returns the queued deliveries, newest webhook
// first.
func (w *World) Emit(e notify.Event) ([]notify.Delivery, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	payload, shipmentID, err := w.payload(e)
	if err != nil {
		return nil, fmt.Errorf("mockserver: nothing was sent: %w", err)
	}
	receivers := w.Account.Webhooks.Receivers(e.Kind)
	if len(receivers) == 0 {
		return nil, fmt.Errorf("mockserver: nothing was sent: no active webhook is subscribed to %q; subscribe one", e.Kind)
	}
	eventID := w.Account.IDs.Coded("WE")
	queued := make([]notify.Delivery, len(receivers))
	for i, h := range receivers {
		queued[i] = w.Dispatcher.Send(notify.Delivery{
			ID: w.Account.IDs.Coded("WD"), EventID: eventID, WebhookID: h.WebhookID, URL: h.URL,
			Event: e.Kind, ShipmentID: shipmentID, Payload: payload,
		})
	}
	return queued, nil
}

func (w *World) payload(e notify.Event) (payload []byte, shipmentID string, err error) {
	switch {
	case e.Kind == "":
		return nil, "", errors.New("the event is missing: send one such as shipment.updated")
	case len(e.Data) > 0 && e.ShipmentID != "":
		return nil, "", errors.New("shipment_id and data exclude each other: send one of them")
	case len(e.Data) > 0:
		if data := bytes.TrimSpace(e.Data); !json.Valid(data) || data[0] != '{' {
			return nil, "", errors.New("data must be a JSON object")
		}
		payload, err = jsontext.Encode(struct {
			Event string          `json:"event"`
			Data  json.RawMessage `json:"data"`
		}{e.Kind, e.Data})
		return payload, w.shipmentIn(e.Data), err
	}
	if e.ShipmentID == "" {
		e.ShipmentID = w.DefaultShipment()
	}
	s := w.Account.Shipments[e.ShipmentID]
	if s == nil {
		return nil, "", fmt.Errorf("no shipment %q: GET /_mock/worlds/NAME lists those of a world (in Go: World.Shipments), or send data instead", e.ShipmentID)
	}
	payload, err = s.Payload(e.Kind)
	return payload, e.ShipmentID, err
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
	if jsonread.Unmarshal(data, &named) != nil || json.Unmarshal(named.ShipmentID, &id) != nil || w.Account.Shipments[id] == nil {
		return ""
	}
	return id
}

// Deliveries returns the current delivery log, newest first, including the seeded history.
func (w *World) Deliveries() []notify.Delivery { return w.Dispatcher.Deliveries() }

// WaitDelivery returns a delivery once its state is delivered, failed or refused.
func (w *World) WaitDelivery(ctx context.Context, deliveryID string) (notify.Delivery, error) {
	d, err := w.Dispatcher.Wait(ctx, deliveryID)
	if err != nil {
		return d, fmt.Errorf("mockserver: %w", err)
	}
	return d, nil
}

// AwaitInbox returns the notifications of the inbox that a caller selects, as soon as there are count of them.
func (w *World) AwaitInbox(ctx context.Context, after int, contains string, count int, timeout time.Duration) ([]notify.Received, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(w.closed, func() { cancel(errClosed) })()
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	found, err := w.Inbox.Await(ctx, after, contains, count)
	if err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	return found, nil
}
