package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/jsonexact"
)

// Notification is one delivery that was verified.
type Notification struct {
	// ID tells deliveries apart: the delivery's identifier where a header carries it, else a hash of
	// the body.
	ID string
	// Event is what happened. It is an open type: the specification does not list all kinds.
	Event shipping.EventKind
	// Data is what it happened to; for shipment events a shipment, see [Notification.Shipment].
	Data shipping.RawJSON
	// Body is the whole body as it came, byte for byte as it was signed.
	Body []byte
	// ReceivedAt is when it came.
	ReceivedAt time.Time
	// Attempt counts from 1 how often the handler has been given this notification.
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
	if err := jsonexact.Unmarshal(body, &payload); err != nil {
		return nil, fmt.Errorf("the body is no notification: %w", err)
	}
	if payload.Event == "" {
		return nil, errors.New("the body names no event")
	}
	return &Notification{Event: payload.Event, Data: payload.Data, Body: bytes.Clone(body)}, nil
}

// Shipment is the part of a shipment that notifications are seen to carry.
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

// ErrNoShipment is a notification whose data is no shipment.
var ErrNoShipment = errors.New("webhook: the notification's data is no shipment")

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

// The states seen on services of this kind, in the order a shipment goes through them (assumption).
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

// rank orders the states; one that is not known stands nowhere.
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
