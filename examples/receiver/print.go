package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/webhook"
)

// printer writes a line for each notification and, at the end, how many there were. This is where a
// shop would write to its database.
type printer struct {
	out     io.Writer
	json    bool
	tracker webhook.Tracker

	mu     sync.Mutex
	counts map[string]int
	err    error
}

func newPrinter(out io.Writer) *printer { return &printer{out: out, counts: map[string]int{}} }

// line is the output for a notification.
type line struct {
	At         time.Time              `json:"at"`
	Verdict    string                 `json:"verdict"` // news, late, repeated, other or lost
	ID         string                 `json:"id"`
	Event      shipping.EventKind     `json:"event,omitempty"`
	ShipmentID string                 `json:"shipment_id,omitempty"`
	Status     webhook.ShipmentStatus `json:"status,omitempty"`
	Note       string                 `json:"note,omitempty"`
}

// handle is called by several workers at once.
func (p *printer) handle(_ context.Context, n *webhook.Notification) error {
	l := line{At: n.ReceivedAt, Verdict: "news", ID: n.ID, Event: n.Event}
	shipment, err := n.Shipment()
	switch {
	case errors.Is(err, webhook.ErrNoShipment):
		l.Verdict, l.Note = "other", "not about a shipment"
	case err != nil:
		return err
	default:
		l.ShipmentID, l.Status = shipment.ShipmentID, shipment.Status
		if p.tracker.Late(shipment) {
			l.Verdict, l.Note = "late", "older than the known state, ignored"
		} else if events := shipment.Events; len(events) > 0 {
			l.Note = events[len(events)-1].Description
		}
	}
	return p.write(l)
}

func (p *printer) again(id string) {
	_ = p.write(line{At: time.Now(), Verdict: "repeated", ID: id, Note: "accepted before, ignored"}) // kept for close
}

func (p *printer) lost(n *webhook.Notification, err error) {
	_ = p.write(line{At: n.ReceivedAt, Verdict: "lost", ID: n.ID, Event: n.Event, Note: err.Error()}) // kept for close
}

func (p *printer) write(l line) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[l.Verdict]++
	var err error
	if p.json {
		err = json.NewEncoder(p.out).Encode(l)
	} else {
		_, err = fmt.Fprintf(p.out, "%s  %-8s  %-20s  %-18s  %-10s  %s\n", l.At.Format(time.TimeOnly), l.Verdict, l.Event, l.ShipmentID, l.Status, l.Note)
	}
	p.err = errors.Join(p.err, err)
	return err
}

// close prints the counts.
func (p *printer) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.json {
		return p.err
	}
	total := 0
	for _, n := range p.counts {
		total += n
	}
	_, err := fmt.Fprintf(p.out, "\n%d notifications: %d news, %d late, %d repeated, %d other, %d lost\n", total,
		p.counts["news"], p.counts["late"], p.counts["repeated"], p.counts["other"], p.counts["lost"])
	return errors.Join(p.err, err)
}
