package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/shipping-go/shipping"
)

// Need returns what completes the item; empty if it is not open.
func (r Result) Need() Need {
	if !r.open() {
		return ""
	}
	return r.remedy().need
}

// Reason returns the text of Err without the advice, for a program that acts on [Result.Need]; empty if Err is nil. It
// can name functions and fields of this package.
func (r Result) Reason() string {
	if r.Err == nil {
		return ""
	}
	return ofBatch(r.Err)
}

// itemError is the error of an item. Its text has the advice of the batch instead of the advice for a single request;
// the text of a [Cause.Err] has none.
type itemError struct {
	cause  error
	remedy remedy
	unpaid shipping.Budget // what the purchase costs, if the wallet does not suffice for it
}

func (e *itemError) Error() string {
	return strings.TrimSuffix(ofBatch(e.cause)+"; "+e.remedy.next, "; ")
}

func (e *itemError) Unwrap() []error { return []error{e.cause} }

// ofOneRequest are the parts of an error with advice for a single request. An item has the advice of [Result.remedy].
var ofOneRequest = regexp.MustCompile(`; do not purchase again: (call|compare) [^;]*|, then purchase again|` +
	`; if the status is still [^;]*|; correct the cause, then call Regulatory\.[^;]*|, so analyze again\b|` +
	`: pass a context that has not ended|; remove the cause, then run the batch again|` +
	`: Regulatory\.Retry generates [^;]*|: raise the budget or select fewer documents|` +
	`: compare the charge with its transactions|: read the record, or try again later|` +
	`(:|;|, then|,? and) call Regulatory\.(Analyze|Resume|Wait|SettlePurchase|Purchase)\b[^;,]*`)

// ofBatch returns the text of an error without the advice for a single request.
func ofBatch(err error) string {
	if failed, ok := err.(*itemError); ok {
		return ofBatch(failed.cause)
	}
	return ofOneRequest.ReplaceAllString(strings.ReplaceAll(fmt.Sprint(err), "\n", "; "), "")
}

// Need is what completes an open item, for a program that acts on it. [Cause.Next] states it for a person. It is an
// open type: treat an unknown value as NeedPerson.
type Need string

const (
	// NeedRun: another run, after some minutes.
	NeedRun Need = "run"
	// NeedService: another run once the service responds; it failed, or did not respond.
	NeedService Need = "service"
	// NeedWallet: money in the wallet, then another run. [Report.Shortage] has the sum.
	NeedWallet Need = "wallet"
	// NeedPeriod: another period, whose budget has room, or a larger budget.
	NeedPeriod Need = "period"
	// NeedBudget: a larger budget, because the item costs more than the whole budget.
	NeedBudget Need = "budget"
	// NeedCharge: a person who compares a charge above its cost with the wallet's transactions, and closes it ([Resolve]).
	// Until then, nothing is purchased with a budget. With [StateOverBudget], another item has this charge.
	NeedCharge Need = "charge"
	// NeedRetry: [shipping.RegulatoryService.Retry], then another run.
	NeedRetry Need = "retry"
	// NeedEvidence: the evidence of a person, which the service waits for after the purchase, then another run.
	NeedEvidence Need = "evidence"
	// NeedItem: a correction of the item, or its removal from the items, then another run.
	NeedItem Need = "item"
	// NeedOutcome: a person who finds the outcome of a purchase in the wallet's transactions, and records it ([Resolve]).
	NeedOutcome Need = "outcome"
	// NeedPerson: a person who does what [Cause.Next] states, such as to correct the secret key.
	NeedPerson Need = "person"
)

// remedy is what completes an open item.
type remedy struct {
	need Need
	next string // what to do
}

// Texts of several remedies.
const (
	runAgain, corrected = "run the batch again", "once this is corrected, run the batch again"

	readsFirst = ": it reads the request, and purchases again only if nothing was charged"
	checked    = "check the wallet's transactions, and call batch.Resolve with the outcome that they show"
	// closesUncharged is the advice for an item that each run would try again.
	closesUncharged = "; batch.Resolve with OutcomeNotCharged closes the item"
	// closesCharge is what a person does after a charge above its cost.
	closesCharge = "compare the charge with the wallet's transactions, and correct the dialect; then batch.Resolve " +
		"with OutcomeCharged closes the charge, and runs purchase other items again"
)

// restore is the remedy of an item if the journal lacks records.
var restore = remedy{NeedPerson, "once the journal is in its place, run the batch again"}

// isDown reports whether an error is that of a service that failed or did not respond.
func isDown(err error) bool {
	failed, ok := errors.AsType[*shipping.Error](err)
	return ok && failed.Retryable() && !errors.Is(failed, context.Canceled) &&
		(failed.StatusCode >= 500 || errors.Is(failed, shipping.ErrConnection))
}

// remedyRow is what completes an item in a state ("" for any) if a condition holds.
type remedyRow struct {
	state State
	when  bool
	need  Need
	next  string
}

// remedy returns what completes an open item: the first row that holds.
func (r Result) remedy() remedy {
	if advised, ok := r.Err.(*itemError); ok {
		return advised.remedy
	}
	is := func(target error) bool { return errors.Is(r.Err, target) }
	failed, isCall := errors.AsType[*shipping.Error](r.Err)
	over, isOver := errors.AsType[*shipping.BudgetError](r.Err)
	_, isHeld := errors.AsType[*heldError](r.Err)
	_, isMissing := errors.AsType[*MissingError](r.Err)
	_, isUnwritten := errors.AsType[*JournalError](r.Err)
	_, isInvalid := errors.AsType[*shipping.ValidationError](r.Err)
	isPriced, isPassing, down := isOver && over.Needed.Known(), isCall && passes(failed), isDown(r.Err)
	refuses, refused, bought := is(shipping.ErrUnauthorized) || is(shipping.ErrOverBudget), r.isRefused(), r.bought()
	for _, row := range []remedyRow{
		{"", lacksRecords(r.Err), restore.need, restore.next},
		{StateCompleted, true, NeedCharge, closesCharge + "; the documents of this item are generated"},
		{"", is(shipping.ErrOvercharged), NeedCharge, closesCharge + "; the next run reads the documents of this item"},
		{"", isHeld, NeedCharge, "once the charges above their cost are closed, run the batch again"},
		{"", isMissing || is(ErrOtherWallet) || is(errNotCompared) && isCall && !isPassing, NeedPerson, corrected},
		{"", is(errUnread), NeedRun, runAgain},
		{"", is(errDocuments), NeedItem, corrected},
		{"", is(errEvidence), NeedEvidence, "once the evidence is supplied, run the batch again"},
		{"", is(errDraftAgain), NeedOutcome, "compare the wallet's transactions, then close the item with batch.Resolve"},
		{"", is(errExpired), NeedOutcome, "if the wallet's transactions show no charge for it, batch.Resolve with " +
			"OutcomeNotCharged lets the next run analyze it again"},
		{"", is(errElsewhere), NeedItem, "follow it with Regulatory.Wait, and leave the item out of the next run"},
		{"", isCall && failed.StatusCode == http.StatusUnauthorized, NeedPerson,
			"once the secret key is corrected, run the batch again"},
		{StateOverBudget, isPriced && over.Needed.Cmp(over.Budget.Amount) <= 0, NeedPeriod,
			"add it to the items of another period, such as the next night, or raise the budget of this one"},
		{StateOverBudget, isPriced, NeedBudget, "this is more than the whole budget, so no period purchases it: raise the " +
			"budget, select fewer documents, or leave the item out"},
		{StateOverBudget, isOver, NeedPerson, "correct the budget or the dialect, then run the batch again"},
		{StateUnknown, refuses, NeedPerson, corrected + readsFirst},
		{StateUnknown, is(errGone) || is(shipping.ErrNotFound) && (!refused || is(errUnsettled)), NeedOutcome, checked},
		{StateUnknown, refused && is(shipping.ErrInsufficientFunds), NeedWallet, runAgain + " once the wallet has the money" +
			readsFirst},
		{StateUnknown, refused && isPassing, NeedRun, runAgain + readsFirst},
		{StateUnknown, refused, NeedRun, runAgain + " once the cause of the refusal is removed" + readsFirst},
		{StateUnknown, true, NeedRun, runAgain + ", for longer than Purchase.QuietFor (5 minutes by default)" + readsFirst +
			"; if it stays unknown, " + checked},
		{StateFailed, bought && isCall, NeedPerson, corrected + ": it reads the documents"},
		{StateFailed, bought, NeedRetry, "if Regulatory.Retry succeeds, the next run completes the item, and purchases " +
			"nothing; if it fails again, ask the service; to give up, batch.Resolve with OutcomeCharged closes the item"},
		{StateFailed, true, NeedItem, "correct the shipment or the invoice, and the next run analyzes it again" +
			closesUncharged},
		{StateWaiting, bought && isUnwritten, NeedRun, "remove the cause, then run the batch again"},
		{StateWaiting, bought && !refuses, NeedRun, runAgain + "; if the documents have not come after a day, ask the " +
			"service; if they will never come, batch.Resolve with OutcomeCharged closes the item"},
		{StateWaiting, !refuses, NeedRun, runAgain},
		{StateError, down, NeedService, runAgain + " once the service responds: it failed, or did not respond"},
		{StateError, isPassing, NeedRun, runAgain + "; if the error stays, ask the service, with the response id"},
		{"", is(shipping.ErrNotFound), NeedItem, "correct the item or leave it out, then run the batch again"},
		{"", is(shipping.ErrInsufficientFunds), NeedWallet, "once the wallet has the money, run the batch again"},
		{"", isInvalid || is(errOtherShipment) || is(errLacks), NeedItem, corrected},
		{"", isCall || isOver, NeedPerson, corrected},
	} {
		if row.when && (row.state == "" || row.state == r.State) {
			if row.need == NeedRun && down {
				row.need = NeedService
			}
			return remedy{row.need, row.next}
		}
	}
	return remedy{NeedPerson, "remove the cause, then run the batch again"}
}

// remedy returns what completes an open item. Without a journal, another run would repeat the purchases of this run.
func (r *run) remedy(result Result, unrepeatable bool) remedy {
	const unrecorded = "this run had no Journal, so another would purchase it again: do not run it again; "
	own := result.remedy()
	if !unrepeatable {
		return own
	}
	next := strings.TrimSuffix(own.next, closesUncharged) + "; leave out what this run has purchased: " +
		"without a Journal, another one would purchase it again"
	switch {
	case result.State == StateCompleted:
		next = "its documents are generated"
	case result.State == StateUnknown:
		next = unrecorded + "call Regulatory.SettlePurchase with the Purchase of its *RegulatoryError; if it stays " +
			"unknown, check the wallet's transactions"
	case result.bought() && result.State == StateWaiting:
		next = unrecorded + "call Regulatory.Wait with its RequestID"
	case result.bought() && result.State == StateFailed:
		next = unrecorded + "call Regulatory.Retry with its RequestID"
	}
	return remedy{NeedPerson, next}
}

// passes reports whether an error may be temporary, even if [shipping.Error.Retryable] is false: the response is not
// the service's, or was damaged on its way, or the service refuses only while another request is processed.
func passes(failed *shipping.Error) bool {
	switch status := failed.StatusCode; {
	case failed.Retryable(), status == http.StatusConflict, status == http.StatusLocked, status/100 == 3:
		return true
	case status/100 == 2:
		return !failed.Refused()
	default:
		return len(failed.Body) > 0 && !json.Valid(failed.Body) && status != http.StatusUnauthorized
	}
}

// isRefused reports whether the service refused the purchase.
func (r Result) isRefused() bool {
	failed, ok := errors.AsType[*shipping.RegulatoryError](r.Err)
	return ok && failed.Purchase != nil && failed.Purchase.Refused && !failed.Purchase.Contradicted &&
		!failed.Purchase.Purchased
}
