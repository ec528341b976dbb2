package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/shipping-go/shipping/internal/jsonexact"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// Emit notifies every active webhook that is subscribed to an event, and returns what was queued, newest webhook
// first.
func (w *core) Emit(e event) ([]delivery.Delivery, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	notifications, err := w.notifications(e)
	if err != nil {
		return nil, err
	}
	queued := make([]delivery.Delivery, len(notifications))
	for i, n := range notifications {
		queued[i] = w.deliveries.Send(n)
	}
	return queued, nil
}

// notifications makes an event's delivery to each of its receivers. The caller holds the lock.
func (w *core) notifications(e event) ([]delivery.Delivery, error) {
	payload, shipmentID, err := w.payload(e)
	if err != nil {
		return nil, fmt.Errorf("mockserver: nothing was sent: %w", err)
	}
	receivers := w.account.Webhooks.Receivers(e.Kind)
	if len(receivers) == 0 {
		return nil, fmt.Errorf("mockserver: nothing was sent: no active webhook is subscribed to %q; subscribe one", e.Kind)
	}
	eventID := w.account.IDs.Coded("WE")
	out := make([]delivery.Delivery, len(receivers))
	for i, h := range receivers {
		out[i] = delivery.Delivery{
			ID: w.account.IDs.Coded("WD"), EventID: eventID, WebhookID: h.WebhookID, URL: h.URL, Order: h.Order,
			Event: e.Kind, ShipmentID: shipmentID, Payload: payload,
		}
	}
	return out, nil
}

func (w *core) payload(e event) (payload []byte, shipmentID string, err error) {
	switch {
	case e.Kind == "":
		return nil, "", errors.New("name the event, such as shipment.updated")
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
		e.ShipmentID = w.defaultShipment()
	}
	s := w.account.Shipments[e.ShipmentID]
	if s == nil {
		return nil, "", fmt.Errorf("no shipment %q: use one of Server.Shipments, or send data of your own", e.ShipmentID)
	}
	payload, err = s.Payload(e.Kind)
	return payload, e.ShipmentID, err
}

// defaultShipment returns the id of the shipment that a notification shows if it names none; empty in an
// account without shipments.
func (w *core) defaultShipment() string {
	if len(w.account.ShipmentIDs) == 0 {
		return ""
	}
	return w.account.ShipmentIDs[0]
}

// shipmentIn returns the shipment_id of data if the account has the shipment.
func (w *core) shipmentIn(data json.RawMessage) string {
	var named struct {
		ShipmentID json.RawMessage `json:"shipment_id"`
	}
	var id string
	if jsonexact.Unmarshal(data, &named) != nil || json.Unmarshal(named.ShipmentID, &id) != nil || w.account.Shipments[id] == nil {
		return ""
	}
	return id
}

// event is something that webhooks are notified of. Without a ShipmentID it shows the newest shipment, with Data those
// instead.
type event struct {
	Kind       string          `json:"event"`
	ShipmentID string          `json:"shipment_id"`
	Data       json.RawMessage `json:"data"`
}
