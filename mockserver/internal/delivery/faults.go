package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Strike is an injected fault that can strike a delivery. The zero Strike has none.
type Strike struct {
	fault.Fault
	Count    func() string // counts that the fault has struck, and describes it for the log
	Shipment string        // replaces the shipment in a forged notification
}

var errResponseLost = errors.New("the response was lost")

// strike returns the fault of a new delivery. It changes the entry if the fault strikes before the first attempt.
func (d *Dispatcher) strike(out *notify.Delivery) Strike {
	s := d.config.Strike(*out)
	switch s.Kind {
	case "drop-notification":
		out.State, out.Reason, out.Due, out.Fault = notify.Failed, "an injected fault lost it", time.Time{}, s.Count()
	case "delay-notification":
		out.Due, out.Fault = out.Due.Add(time.Duration(s.Duration)), s.Count()
	case "reorder-notification":
		out.Due = out.Due.Add(time.Duration(s.Duration))
	}
	return s
}

// postFirst makes the first attempt of a delivery. The fault of the delivery can strike it.
func (d *Dispatcher) postFirst(ctx context.Context, s Strike, out *notify.Delivery) (int, error) {
	if s.Kind == "forge-notification" {
		d.forge(ctx, s, out)
	}
	status, err := d.post(ctx, out, out.Payload)
	if s.Kind == "repeat-notification" && err == nil {
		out.Fault = s.Count()
		return 0, errResponseLost
	}
	return status, err
}

// replay sends an accepted notification again, with other ids.
func (d *Dispatcher) replay(ctx context.Context, s Strike, accepted *notify.Delivery) {
	out := *accepted
	out.ID, out.EventID = out.ID+"REPLAY", out.EventID+"REPLAY"
	if status, err := d.post(ctx, &out, out.Payload); err == nil {
		accepted.Fault = fmt.Sprintf("%s; the response to the replay was %d", s.Count(), status)
	}
}

// lostResponse reports whether a delivery is sent again because a fault lost the response to the latest attempt.
func lostResponse(out *notify.Delivery) bool {
	return out.Attempts[len(out.Attempts)-1].Error == errResponseLost.Error()
}

// forge sends a notification that the world has not signed.
func (d *Dispatcher) forge(ctx context.Context, s Strike, genuine *notify.Delivery) {
	out := *genuine
	out.ID, out.EventID = "WD-FORGED", "WE-FORGED"
	payload := slices.Clone([]byte(genuine.Payload))
	if genuine.ShipmentID != "" {
		payload = bytes.ReplaceAll(payload, []byte(genuine.ShipmentID), []byte(s.Shipment))
	}
	// The signature covers the genuine payload. The line break makes it wrong if no shipment was replaced.
	payload = append(payload, '\n')
	for range d.config.Attempts { // the receiver may not listen yet
		if status, err := d.post(ctx, &out, payload); err == nil {
			genuine.Fault = fmt.Sprintf("%s; the response to the forged one was %d", s.Count(), status)
			return
		}
	}
}

// waiting is a delivery that is sent after a later one to the same webhook.
type waiting struct {
	*pending
	limit *clock.Timer
}

// release sends the deliveries that waited for a later one to the same webhook. The caller holds mu.
func (d *Dispatcher) release(later *pending) {
	d.waiting = slices.DeleteFunc(d.waiting, func(p waiting) bool {
		if p.webhook != later.webhook || p.turn >= later.turn {
			return false
		}
		if at := d.place(p.id); p.limit.Stop() && at >= 0 {
			out := clone(d.log[at])
			out.Fault = p.strike.Count()
			d.log[at] = &out
			d.changes++
			d.enqueue(p.pending)
		}
		return true
	})
}

type deliveryID struct{}

// IDOf returns the id of the delivery whose attempt has this context. It does not depend on the headers of the dialect.
func IDOf(ctx context.Context) string {
	id, _ := ctx.Value(deliveryID{}).(string)
	return id
}
