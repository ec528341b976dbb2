package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// Notification is one delivery that was verified.
type Notification struct {
	// ID identifies the delivery: the identifier in its header, or else a hash of the body.
	ID string
	// EventID identifies the event, if its header has an identifier; otherwise it is empty. The deliveries of one
	// event to several webhooks have different IDs and the same EventID; a replay has an EventID of its own. The
	// header is not signed; see [Sign].
	EventID string
	// Event is the kind of the event. It is an open type: the specification does not list all kinds.
	Event shipping.EventKind
	// Data is the subject of the event; for shipment events a shipment, see [Notification.Shipment].
	Data shipping.RawJSON
	// Body is the whole body, byte for byte as it was signed.
	Body []byte
	// ReceivedAt is the time of the delivery.
	ReceivedAt time.Time
	// Attempt counts the calls of the handler for this notification, from 1.
	Attempt int
}

// parse reads the two fields that every notification has. Their names match byte for byte.
//
// Assumption: {"event": "…", "data": {…}}, as seen on services of this kind.
func parse(body []byte) (*Notification, error) {
	var payload struct {
		Event shipping.EventKind `json:"event"`
		Data  shipping.RawJSON   `json:"data"`
	}
	if err := jsonread.Unmarshal(body, &payload); err != nil {
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

// ErrNoShipment is returned for a notification whose data is not a shipment.
var ErrNoShipment = errors.New("webhook: the notification's data is not a shipment")

// Shipment reads the data of a shipment event. Fields that are absent stay zero; data without a
// shipment_id is [ErrNoShipment].
func (n *Notification) Shipment() (*Shipment, error) {
	var shipment Shipment
	if err := n.Data.Decode(&shipment); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoShipment, err)
	}
	if shipment.ShipmentID == "" {
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

// Final reports whether the state is the last one.
func (s ShipmentStatus) Final() bool { return s == ShipmentDelivered || s == ShipmentCancelled }

// rank returns the place of a state in the order, and false for an unknown one.
func (s ShipmentStatus) rank() (int, bool) {
	switch s {
	case ShipmentDraft:
		return 0, true
	case ShipmentPending:
		return 1, true
	case ShipmentConfirmed:
		return 2, true
	case ShipmentInTransit:
		return 3, true
	case ShipmentDelivered, ShipmentCancelled:
		return 4, true
	}
	return 0, false
}
