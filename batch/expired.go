package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/wait"
)

// A service can expire drafts, so that an item of an earlier night can no longer be purchased. After a new analysis,
// nothing prevents a second charge: the service refuses to charge the same request twice, but not a new one. So an item
// is analyzed again only if three things are certain: the draft has expired, because it is not found (404), or because
// the dialect declares that its status or the refusal's code means this; the journal shows that each purchase was
// refused or never sent; and no record shows a purchase.

// errExpired is the error of an item that is not analyzed again although its draft has expired.
var errExpired = errors.New("the item is not analyzed again")

// errGone is the error of an item whose draft has expired, although its purchase is not settled: no run can settle it.
var errGone = errors.New("the draft has expired")

// expired analyzes an item again after its draft has expired. record is the request as last read; nil if it is gone.
func (e *entry) expired(ctx context.Context, record *shipping.RegulatoryRequest, cause error) (time.Duration, error) {
	if problem := e.mayBeSold(); problem != "" {
		return 0, e.failed(wait.StepSelected, record, fmt.Errorf("%w; %w: %s", cause, errExpired, problem))
	}
	before := e.record
	e.record = Record{Key: before.Key, ShipmentID: before.ShipmentID, FileHash: before.FileHash, Earlier: before.Earlier}
	return e.analyze(ctx)
}

// mayBeSold returns why an item is not analyzed again; "" if it is.
func (e *entry) mayBeSold() string {
	switch byHand := e.record.Note != ""; {
	case e.fresh:
		return "the draft was made in this run"
	case e.record.Earlier == EarlierElsewhere, e.record.Earlier == EarlierListed:
		return "its request may have shown a purchase"
	case !e.record.unsold() && !byHand:
		return "the journal does not show that each of its purchases was refused or never sent"
	case e.item.Analyze.Validate() != nil:
		return "the item names no shipment or file"
	}
	return ""
}

// means returns the meaning of a status that the dialect declares; "" without one.
func (e *entry) means(status shipping.RequestStatus) string {
	return cmp.Or(e.dialect, new(dialect.Dialect)).Record.States[string(status)]
}

// shown returns [Record.Earlier] after a reading of the request, and whether the reading is an older copy: a draft that
// shows no purchase, although an earlier reading has shown one that the batch has not made.
func (e *entry) shown(record *shipping.RegulatoryRequest) (earlier string, older bool) {
	shown, isDraft := evidence.Read(string(record.Raw), record.Dialect), record.Status == shipping.StatusDraft
	switch earlier = e.record.Earlier; {
	case shown.ShowsPurchase(string(record.Status)):
		return EarlierElsewhere, false
	case earlier == EarlierElsewhere:
		return earlier, isDraft
	case isDraft && !e.fresh && shown.ListsPurchased():
		return EarlierListed, false
	}
	return earlier, isDraft && earlier == EarlierListed
}

// foundElsewhere records that a request shows a purchase that the batch has not made. It returns an error for an older
// copy.
func (e *entry) foundElsewhere(record *shipping.RegulatoryRequest) error {
	earlier, older := e.shown(record)
	switch {
	case older:
		return e.failed(wait.StepSelected, record, fmt.Errorf("the request has shown a purchase, and reads as a draft now, "+
			"so it is not purchased; %w", errExpired))
	case earlier == e.record.Earlier:
		return nil
	}
	e.record.Earlier = earlier
	return e.move(StepAnalyzed)
}

// earlier returns [Record.Earlier] of the next purchase.
func (e *entry) earlier() string {
	switch {
	case e.record.Earlier != "":
		return e.record.Earlier
	case e.record.unsold():
		return EarlierRefused
	}
	return EarlierLost // an earlier version of the package did not record it
}

// undeclaredCode returns the error of a refused purchase, with the line that declares its code, unless the refusal has
// another known meaning.
func (e *entry) undeclaredCode(err error, code string) error {
	isKnown := errors.Is(err, shipping.ErrInsufficientFunds) || errors.Is(err, shipping.ErrUnauthorized) ||
		errors.Is(err, shipping.ErrRateLimited) ||
		slices.Contains([]string{"charge_refused", "document_not_offered"}, code)
	declared := e.dialect.Declare(dialect.Line{Field: "refusal.expired_code", Value: code})
	if e.fresh || isKnown || declared == "" || e.dialect != nil && e.dialect.Refusal.ExpiredCode != "" {
		return err
	}
	return fmt.Errorf("%w; if this code means that the draft has expired, %s", err, declared)
}
