package api

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/notify"
)

type replayRequest struct {
	ShipmentID string `json:"shipment_id"`
	Event      string `json:"event"`
	DeliveryID string `json:"delivery_id"`
	WebhookID  string `json:"webhook_id"`
}

// replayResult is the data of POST /v1/webhooks/replay.
//
// Specification: "Webhook replay result".
type replayResult struct {
	ShipmentID     string `json:"shipment_id"`
	Event          string `json:"event"`
	WebhookEventID string `json:"webhook_event_id"`
	DeliveryID     string `json:"delivery_id"`
	ReplayMode     string `json:"replay_mode"`
}

// replayWebhook serves POST /v1/webhooks/replay: it queues one delivery to each receiver, and responds before any is
// sent. The deliveries of one replay have new ids and one new event id.
//
// Assumptions: If delivery_id is present, shipment_id and event are ignored. The specification requires them only if
// delivery_id is absent, and states that delivery_id "replays the exact stored payload of that attempt". The result
// describes the replayed event. If there are several deliveries, it describes the first, to the newest webhook; the log
// has all. Without delivery_id the latest payload for the shipment and the event is replayed or, without one, a payload
// with the current shipment. replay_mode has only one value. If a delivery is not about a shipment, the result names
// the default shipment of notifications, because the specification's result always names one.
func replayWebhook(w *world.World, x *wire.Exchange) wire.Reply {
	var ask replayRequest
	if refusal := w.Decoding().Decode(x, &ask); refusal != nil {
		return *refusal
	}
	if ask.DeliveryID == "" && (ask.ShipmentID == "" || ask.Event == "") {
		return ruleBroken("delivery_id, or shipment_id together with event, is required: send one of the two" + x.Misspelt)
	}
	w.Lock()
	defer w.Unlock()
	stored, refusal := storedPayload(w, ask)
	if refusal != nil {
		return *refusal
	}
	about := cmp.Or(stored.ShipmentID, w.DefaultShipment())
	if about == "" {
		return ruleBroken(fmt.Sprintf("neither delivery %s nor the account has a shipment_id for the response: "+
			"emit the event again instead", stored.ID))
	}
	receivers, refusal := replayReceivers(w, ask.WebhookID, stored.Event)
	if refusal != nil {
		return *refusal
	}
	queued, err := w.Send(receivers, notify.Delivery{Event: stored.Event, ShipmentID: stored.ShipmentID,
		Payload: stored.Payload})
	if err != nil {
		return full(err)
	}
	return wire.Succeed("Webhook replay queued successfully", replayResult{
		ShipmentID: about, Event: stored.Event,
		WebhookEventID: queued[0].EventID, DeliveryID: queued[0].ID, ReplayMode: "stored_payload",
	})
}

func storedPayload(w *world.World, ask replayRequest) (notify.Delivery, *wire.Reply) {
	if ask.DeliveryID != "" {
		stored, known := w.Dispatcher.Find(ask.DeliveryID)
		if !known {
			p := wire.Refused(http.StatusNotFound, wire.CodeNotFound,
				fmt.Sprintf("no delivery %q: use a delivery_id of an earlier replay, or of GET /_mock/deliveries with the same "+
					"Authorization", ask.DeliveryID))
			return stored, &p
		}
		return stored, nil
	}
	if !strings.HasPrefix(ask.Event, "shipment.") {
		p := ruleBroken(fmt.Sprintf("event %q is not a shipment event: send a kind such as shipment.created, "+
			"shipment.updated or shipment.delivered", ask.Event))
		return notify.Delivery{}, &p
	}
	s := w.Account.Shipments[ask.ShipmentID]
	if s == nil {
		p := wire.Refused(http.StatusNotFound, wire.CodeNotFound,
			fmt.Sprintf("no shipment %q in this account: use one that %s", ask.ShipmentID, regulatory.InWorld))
		return notify.Delivery{}, &p
	}
	if stored, known := w.Dispatcher.Latest(ask.ShipmentID, ask.Event); known {
		return stored, nil
	}
	return notify.Delivery{ID: w.Account.IDs.Coded("WD"), Event: ask.Event, ShipmentID: s.ShipmentID,
		Payload: s.Payload(ask.Event)}, nil
}

// replayReceivers applies the second rule of replay: a webhook in the request must exist, be active and
// be subscribed. Without one, the receivers are all active and subscribed webhooks.
func replayReceivers(w *world.World, webhookID, event string) ([]*account.Webhook, *wire.Reply) {
	if webhookID == "" {
		receivers := w.Account.Webhooks.Receivers(event)
		if len(receivers) == 0 {
			return nil, new(ruleBroken(account.Unsubscribed(event)))
		}
		return receivers, nil
	}
	h := w.Account.Webhooks.Find(webhookID)
	var problem string
	switch {
	case h == nil:
		problem = fmt.Sprintf("webhook %q does not exist: take a webhook_id from GET /v1/webhooks", webhookID)
	case !h.Active:
		problem = fmt.Sprintf("webhook %s is not active: activate it, or name another", webhookID)
	case !h.Receives(event):
		problem = fmt.Sprintf("webhook %s is not subscribed to %s, only to %s: name another webhook or event", webhookID,
			event, strings.Join(h.Event, ", "))
	default:
		return []*account.Webhook{h}, nil
	}
	return nil, new(ruleBroken(problem))
}
