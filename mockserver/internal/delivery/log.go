package delivery

import (
	"slices"

	"github.com/shipping-go/shipping/mockserver/notify"
)

// Log returns the current log, oldest first, for [Dispatcher.Restore]. The entries are immutable.
func (d *Dispatcher) Log() []*notify.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

// Changes returns a number that changes if a delivery is queued, attempted or dropped.
func (d *Dispatcher) Changes() uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.changes
}

// add logs a delivery and drops the oldest ones beyond the limits. The caller holds mu.
func (d *Dispatcher) add(delivery *notify.Delivery) {
	d.changes++
	d.log = append(d.log, delivery)
	d.bytes += len(delivery.Payload)
	for len(d.log) > d.config.Limit || d.bytes > d.config.Bytes && len(d.log) > 1 {
		d.bytes -= len(d.log[0].Payload)
		d.log[0] = nil
		d.log = d.log[1:]
		d.dropped++
	}
}

// place returns the index of a delivery in the log, or -1. The caller holds mu. It searches from the end, because most
// calls are for late deliveries.
func (d *Dispatcher) place(id string) int {
	for i, delivery := range slices.Backward(d.log) {
		if delivery.ID == id {
			return i
		}
	}
	return -1
}

// Find returns the current state of a delivery.
func (d *Dispatcher) Find(id string) (notify.Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.place(id)
	if at < 0 {
		return notify.Delivery{}, false
	}
	return clone(d.log[at]), true
}

// Latest returns the newest delivery of an event of a shipment.
func (d *Dispatcher) Latest(shipmentID, event string) (notify.Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, delivery := range slices.Backward(d.log) {
		if delivery.ShipmentID == shipmentID && delivery.Event == event {
			return clone(delivery), true
		}
	}
	return notify.Delivery{}, false
}

// Deliveries returns the current log, newest first.
func (d *Dispatcher) Deliveries() []notify.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]notify.Delivery, 0, len(d.log))
	for _, delivery := range slices.Backward(d.log) {
		out = append(out, clone(delivery))
	}
	return out
}
