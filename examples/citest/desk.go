// Package citest is what a user's own code may look like, and how it is tested: a desk that buys the
// customs and compliance forms for a shop's orders, and tests that run it against the reference server,
// in process, in parallel, through hours of waiting and every fault, in a second or two.
//
// The tests are the example. Nothing in them is mocked: money moves in a ledger, documents take their
// time, webhooks and lists go on as usual, and at the end the server says whether everything adds up.
package citest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/shipping-go/shipping"
)

// ErrHeld is an order whose forms cost more than the desk may spend on one. A person decides.
var ErrHeld = errors.New("the order is held: its forms cost more than the limit")

// Order is what the shop has sold and wants to send.
type Order struct {
	Number     string
	ShipmentID string
}

// Papers are the forms of an order, ready to be sent along.
type Papers struct {
	RequestID string
	Forms     []shipping.DocumentType
}

// Desk buys papers for orders. An order is paid for once, however often and from however many
// goroutines its papers are asked for, and whatever happened to earlier tries.
type Desk struct {
	Client *shipping.Client
	// Limit is the most that the forms of one order may cost.
	Limit shipping.Budget

	mu    sync.Mutex
	files map[string]*file
}

// file is what the desk knows of an order; a real shop keeps it in its database.
type file struct {
	turn      chan struct{} // held by the one who works on it; a mutex would not let a caller give up
	requestID string
	unclear   bool // a purchase was sent and its outcome is not known
}

// Prepare returns the papers of an order once they are made. When it fails, calling it again goes on
// where it was.
func (d *Desk) Prepare(ctx context.Context, order Order) (*Papers, error) {
	f := d.file(order.Number)
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("order %s: %w", order.Number, context.Cause(ctx))
	}
	if err := d.settle(ctx, f); err != nil {
		return nil, fmt.Errorf("order %s: %w", order.Number, err)
	}
	request, err := d.buy(ctx, f, order)
	lost, ok := errors.AsType[*shipping.PurchaseError](err)
	f.unclear = ok && lost.Outcome == shipping.OutcomeUnknown
	switch {
	case errors.Is(err, shipping.ErrOverBudget):
		return nil, fmt.Errorf("order %s: %w: %w", order.Number, ErrHeld, err)
	case err != nil:
		return nil, fmt.Errorf("order %s: %w", order.Number, err)
	}
	papers := &Papers{RequestID: request.RequestID}
	for _, document := range request.Documents {
		papers.Forms = append(papers.Forms, document.DocumentType)
	}
	return papers, nil
}

func (d *Desk) file(order string) *file {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.files == nil {
		d.files = map[string]*file{}
	}
	if d.files[order] == nil {
		d.files[order] = &file{turn: make(chan struct{}, 1)}
	}
	return d.files[order]
}

// settle finds out what became of an unclear purchase, so that nothing is bought before it is known.
func (d *Desk) settle(ctx context.Context, f *file) error {
	if !f.unclear {
		return nil
	}
	_, err := d.Client.Regulatory.SettlePurchase(ctx, f.requestID, nil)
	if verdict, ok := errors.AsType[*shipping.PurchaseError](err); ok && verdict.Outcome == shipping.OutcomeNotCharged {
		err = nil
	}
	f.unclear = err != nil
	return err
}

// buy analyzes and purchases, or goes on with the request that there is.
func (d *Desk) buy(ctx context.Context, f *file, order Order) (*shipping.RegulatoryRequest, error) {
	options := &shipping.AnalyzeAndPollOptions{
		Select: shipping.SelectAutomated,
		Budget: &d.Limit,
		Progress: func(event shipping.PollEvent) {
			f.requestID = event.RequestID
		},
	}
	if f.requestID != "" {
		return d.Client.Regulatory.ResumePoll(ctx, f.requestID, options)
	}
	return d.Client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: order.ShipmentID}, options)
}
