package delivery

import (
	"slices"
	"time"
)

// Record puts a delivery that has already ended into the log, such as one of a seeded history.
func (d *Dispatcher) Record(past Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	past.Due = time.Time{}
	d.add(&past)
}

// Log returns the log as it stands now, oldest first, for [Dispatcher.Restore]. What it points to
// never changes.
func (d *Dispatcher) Log() []*Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

// add logs a delivery and drops the oldest ones beyond the limits. The caller holds mu.
func (d *Dispatcher) add(delivery *Delivery) {
	d.log = append(d.log, delivery)
	d.bytes += len(delivery.Payload)
	for len(d.log) > d.config.Limit || d.bytes > d.config.Bytes && len(d.log) > 1 {
		d.bytes -= len(d.log[0].Payload)
		d.log[0] = nil
		d.log = d.log[1:]
		d.dropped++
	}
}

// place returns where in the log a delivery stands, or -1. The caller holds mu. It is mostly asked for
// a late one, and so looks from the end.
func (d *Dispatcher) place(id string) int {
	for i, delivery := range slices.Backward(d.log) {
		if delivery.ID == id {
			return i
		}
	}
	return -1
}

// Find returns a delivery as it stands now.
func (d *Dispatcher) Find(id string) (Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.place(id)
	if at < 0 {
		return Delivery{}, false
	}
	return d.log[at].clone(), true
}

// Latest returns the newest delivery of an event of a shipment.
func (d *Dispatcher) Latest(shipmentID, event string) (Delivery, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, delivery := range slices.Backward(d.log) {
		if delivery.ShipmentID == shipmentID && delivery.Event == event {
			return delivery.clone(), true
		}
	}
	return Delivery{}, false
}

// Deliveries returns the log as it stands now, newest first.
func (d *Dispatcher) Deliveries() []Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Delivery, 0, len(d.log))
	for _, delivery := range slices.Backward(d.log) {
		out = append(out, delivery.clone())
	}
	return out
}
