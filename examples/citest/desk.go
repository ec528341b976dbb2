// Package citest is an example of a user's package and its tests: a desk that buys the customs and compliance documents
// for a shop's orders, and tests that run it against the reference server, in process and in parallel, with hours of
// waiting and many faults, in a second or two.
//
// The tests are the example. They mock nothing: money moves in a ledger, documents take time to generate, and at the
// end the server checks that the ledger balances.
package citest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/shipping-go/shipping"
)

// ErrHeld is returned for an order whose documents cost more than the limit. A person decides.
var ErrHeld = errors.New("the order is held: its documents cost more than the limit")

// Order is an order of the shop, with its shipment.
type Order struct {
	Number     string
	ShipmentID string
}

// Documents are the generated documents of an order.
type Documents struct {
	RequestID string
	Types     []shipping.DocumentType
}

// Desk buys documents for orders. An order is paid for once, however often and from however many goroutines Prepare is
// called, and whatever happened to earlier calls.
type Desk struct {
	Client *shipping.Client
	// Limit bounds the cost of the documents of one order.
	Limit shipping.Budget

	mu    sync.Mutex
	files map[string]*file
}

// file is the state of an order; a real shop keeps it in its database.
type file struct {
	turn      chan struct{} // a lock that a caller can stop waiting for, unlike a mutex
	requestID string
	unclear   *shipping.PurchaseRequest // a purchase with an unknown outcome, or nil
}

// Prepare returns the documents of an order once they are generated. If it fails, the next call continues.
func (d *Desk) Prepare(ctx context.Context, order Order) (*Documents, error) {
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
	if lost, ok := errors.AsType[*shipping.RegulatoryError](err); ok && lost.Outcome == shipping.OutcomeUnknown {
		f.unclear = lost.Purchase
	}
	switch {
	case errors.Is(err, shipping.ErrOverBudget):
		return nil, fmt.Errorf("order %s: %w: %w", order.Number, ErrHeld, err)
	case err != nil:
		return nil, fmt.Errorf("order %s: %w", order.Number, err)
	}
	documents := &Documents{RequestID: request.RequestID}
	for _, document := range request.Documents {
		documents.Types = append(documents.Types, document.DocumentType)
	}
	return documents, nil
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

// settle settles a purchase with an unknown outcome, so that nothing is bought before it is known.
func (d *Desk) settle(ctx context.Context, f *file) error {
	if f.unclear == nil {
		return nil
	}
	_, err := d.Client.Regulatory.SettlePurchase(ctx, f.unclear)
	if verdict, ok := errors.AsType[*shipping.RegulatoryError](err); ok && verdict.Outcome != shipping.OutcomeUnknown {
		err = nil // not charged, or purchased before: the next step reads the request
	}
	if err == nil {
		f.unclear = nil
	}
	return err
}

// buy analyzes and purchases, or continues with the existing request.
func (d *Desk) buy(ctx context.Context, f *file, order Order) (*shipping.RegulatoryRequest, error) {
	options := &shipping.AnalyzeAndPollOptions{
		Select: shipping.SelectAutomated,
		Budget: &d.Limit,
		Poll: shipping.PollOptions{Progress: func(event shipping.PollEvent) {
			f.requestID = event.RequestID
		}},
	}
	if f.requestID != "" {
		return d.Client.Regulatory.Resume(ctx, f.requestID, options)
	}
	return d.Client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: order.ShipmentID}, options)
}
