package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// Notification is one delivery that was verified.
type Notification struct {
	// ID identifies the delivery: the identifier in its header, or else a hash of the body. An identifier of more than 200
	// bytes is replaced by its hash.
	ID string
	// EventID identifies the event, if its header has an identifier; otherwise it is empty. The deliveries of one event
	// to several webhooks have different IDs and the same EventID; a replay has another EventID. The header is not
	// signed; see [Sign]. A long identifier is replaced as in ID.
	EventID string
	// Event is the kind of the event, such as [shipping.EventShipmentUpdated]. The specification does not list all kinds.
	Event string
	// Data is the subject of the event; for shipment events a shipment, see [Notification.Shipment].
	Data shipping.RawJSON
	// Body is the whole body, byte for byte as it was signed.
	Body []byte
	// Attempt counts the calls of the handler for this notification, from 1.
	Attempt int
}

// reader returns the reader of notifications. Like the client, it leaves a field zero if it cannot be read, so that one
// bad value does not affect the notification or its other fields.
var reader = sync.OnceValue(func() *jsonread.Reader { return jsonread.New(jsonread.Raw[shipping.RawJSON]()) })

// parse reads the two fields that every notification has. Their names match byte for byte.
//
// Assumption: {"event": "…", "data": {…}}, as seen on services of this kind.
func parse(body []byte) (*Notification, error) {
	var payload struct {
		Event string           `json:"event"`
		Data  shipping.RawJSON `json:"data"`
	}
	if err := reader().Read(body, &payload, jsonread.Options{}); err != nil {
		return nil, fmt.Errorf("the body is not a notification: %w", err)
	}
	if payload.Event == "" {
		return nil, errors.New("the body names no event")
	}
	return &Notification{Event: payload.Event, Data: payload.Data, Body: bytes.Clone(body)}, nil
}

// Shipment is a shipment as notifications contain it (assumption).
type Shipment struct {
	ShipmentID string         `json:"shipment_id"`
	Status     ShipmentStatus `json:"status"`
	// Events is the shipment's history, as sent.
	Events    []ShipmentEvent `json:"events"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// ShipmentEvent is one line of a shipment's history.
type ShipmentEvent struct {
	CreatedAt   time.Time `json:"created_at"`
	Description string    `json:"description"`
	Location    string    `json:"location"`
	Status      string    `json:"status"`
}

// ErrNoShipment is returned for a notification whose data has no shipment_id.
var ErrNoShipment = errors.New("webhook: the notification's data is not a shipment: check its Event first, and " +
	"return nil for events that you do not handle")

// Shipment reads the data of a shipment event. Fields that are absent or cannot be read stay zero. The error is
// [ErrNoShipment] without a shipment_id.
func (n *Notification) Shipment() (*Shipment, error) {
	var shipment Shipment
	if err := reader().Read([]byte(n.Data), &shipment, jsonread.Options{}); err != nil || shipment.ShipmentID == "" {
		return nil, ErrNoShipment
	}
	return &shipment, nil
}

// ShipmentStatus is a shipment's state. It is an open type.
type ShipmentStatus string

// The states of a shipment, in order (assumption).
const (
	ShipmentDraft     ShipmentStatus = "draft"
	ShipmentPending   ShipmentStatus = "pending"
	ShipmentConfirmed ShipmentStatus = "confirmed"
	ShipmentInTransit ShipmentStatus = "in-transit"
	ShipmentDelivered ShipmentStatus = "delivered"
	ShipmentCancelled ShipmentStatus = "cancelled"
)

// Final reports whether no other state follows.
func (s ShipmentStatus) Final() bool {
	rank, ranked := s.rank()
	return ranked && rank == finalRank
}

// finalRank is the place of the final states.
const finalRank = 4

// rank returns the place of a state in the order, and false for an unknown one. "canceled" is ShipmentCancelled.
func (s ShipmentStatus) rank() (place int, known bool) {
	switch s {
	case ShipmentDraft:
		return 0, true
	case ShipmentPending:
		return 1, true
	case ShipmentConfirmed:
		return 2, true
	case ShipmentInTransit:
		return 3, true
	case ShipmentDelivered, ShipmentCancelled, "canceled":
		return finalRank, true
	}
	return 0, false
}
