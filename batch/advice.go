package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/shipping-go/shipping"
)

// itemError is the error of an item: its text has the advice of the batch instead of the advice for a single request.
type itemError struct {
	cause  error
	next   string          // what to do
	unpaid shipping.Budget // what the purchase costs, if the wallet does not suffice for it
}

func (e *itemError) Error() string { return ofBatch(e.cause) + "; " + e.next }

func (e *itemError) Unwrap() []error { return []error{e.cause} }

// ofOneRequest are the parts of an error with advice for a single request. An item has the advice of
// [Result.next].
var ofOneRequest = regexp.MustCompile(`; do not purchase again: call [^;]*|, then purchase again|` +
	`; correct the cause, then call Regulatory\.[^;]*|, so analyze again\b|` +
	`: pass a context that has not ended|; remove the cause, then run the batch again|` +
	`(:|;|, then|,? and) call Regulatory\.(Resume|Wait|SettlePurchase|Purchase)\b[^;,]*`)

// ofBatch returns the text of an error without the advice for a single request.
func ofBatch(err error) string {
	if failed, ok := err.(*itemError); ok {
		err = failed.cause
	}
	return ofOneRequest.ReplaceAllString(strings.ReplaceAll(fmt.Sprint(err), "\n", "; "), "")
}

// closesUncharged is the advice for an item that each run would try again.
const closesUncharged = "; batch.Resolve with OutcomeNotCharged closes the item"

// closesCharge is what a person does after a charge above its cost.
const closesCharge = "batch.Resolve with OutcomeCharged closes the charge, so that runs purchase other items again"

// restoreJournal is what to do before another run if the journal lacks records.
const restoreJournal = "once the journal is in its place, run the batch again"

// runAgain begins the advice for an item exactly if another run can complete the item without a person.
const runAgain = "run the batch again"

// retryable reports whether another run can complete an item without a person.
func (r Result) retryable() bool { return r.open() && strings.HasPrefix(r.next(), runAgain) }

// next returns what to do about an open item.
func (r Result) next() string {
	const readsFirst = ": it reads the request, and purchases again only if nothing was charged"
	if advised, ok := r.Err.(*itemError); ok {
		return advised.next
	}
	failed, isCall := errors.AsType[*shipping.Error](r.Err)
	over, isOver := errors.AsType[*shipping.BudgetError](r.Err)
	_, isInvalid := errors.AsType[*shipping.ValidationError](r.Err)
	refuses := errors.Is(r.Err, shipping.ErrUnauthorized) || errors.Is(r.Err, shipping.ErrOverBudget)
	switch {
	case lacksRecords(r.Err):
		return restoreJournal
	case r.State == StateCompleted:
		return closesCharge + "; the documents of this item are generated"
	case errors.Is(r.Err, shipping.ErrOvercharged):
		return closesCharge + "; the next run reads the documents of this item"
	case errors.Is(r.Err, errExpired):
		return "if the wallet's transactions show no charge for it, batch.Resolve with OutcomeNotCharged lets the next run " +
			"analyze it again"
	case errors.Is(r.Err, errElsewhere):
		return "follow it with Regulatory.Wait, and leave the item out of the next run"
	case isCall && failed.StatusCode == http.StatusUnauthorized:
		return "once the secret key is corrected, run the batch again"
	case r.State == StateOverBudget && isOver && over.Needed.Known() && over.Needed.Cmp(over.Budget.Amount) <= 0:
		return "add it to the items of another period, such as the next night, which has its own budget"
	case r.State == StateOverBudget && isOver && over.Needed.Known():
		return "this is more than the whole budget, so that no period purchases it: raise the budget, or leave the item out"
	case r.State == StateUnknown && refuses:
		return "once this is corrected, run the batch again" + readsFirst
	case r.State == StateUnknown && r.isRefused() && errors.Is(r.Err, shipping.ErrInsufficientFunds):
		return runAgain + " once the wallet has the money" + readsFirst
	case r.State == StateUnknown && r.isRefused() && isCall && (passes(failed) || failed.StatusCode == http.StatusLocked):
		return runAgain + readsFirst
	case r.State == StateUnknown && r.isRefused():
		return runAgain + " once the cause of the refusal is removed" + readsFirst
	case r.State == StateUnknown:
		return runAgain + ", for longer than Purchase.QuietFor (5 minutes by default)" + readsFirst + "; if it " +
			"stays unknown, check the wallet's transactions, and call batch.Resolve with the outcome that they show"
	case r.State == StateFailed && len(r.Documents) > 0 && isCall:
		return "once this is corrected, run the batch again, which reads its documents"
	case r.State == StateFailed && len(r.Documents) > 0:
		return "if Regulatory.Retry succeeds, the next run completes the item, and purchases nothing; batch.Resolve " +
			"with OutcomeCharged closes it"
	case r.State == StateFailed:
		return "correct the shipment or the invoice, and the next run analyzes it again" + closesUncharged
	case r.State == StateWaiting && len(r.Documents) > 0 && !refuses:
		return runAgain + "; if the documents never come, batch.Resolve with OutcomeCharged closes the item"
	case r.State == StateWaiting && !refuses:
		return runAgain
	case r.State == StateError && isCall && failed.Retryable() &&
		(failed.StatusCode >= 500 || errors.Is(failed, shipping.ErrConnection)):
		return runAgain + " once the service responds: it failed, or did not respond"
	case r.State == StateError && isCall && passes(failed):
		return runAgain + "; if the error stays, ask the service, with the response id"
	case isCall && failed.StatusCode == http.StatusLocked:
		return "the service has locked it: ask the service, or wait; then run the batch again"
	case errors.Is(r.Err, shipping.ErrNotFound):
		return "correct the item or leave it out, then run the batch again"
	case errors.Is(r.Err, shipping.ErrInsufficientFunds):
		return "once the wallet has the money, run the batch again"
	case isCall, isInvalid, isOver, errors.Is(r.Err, errOtherShipment): // it states what to correct
		return "once this is corrected, run the batch again"
	}
	return "remove the cause, then run the batch again"
}

// advice returns what to do about an open item. Without a journal, another run would repeat the purchases of this run.
func (r *run) advice(result Result, unrepeatable bool) string {
	const unrecorded = "this run had no Journal, so that another one would purchase it again: do not run it again; "
	next := result.next()
	switch {
	case !unrepeatable:
		return next
	case result.State == StateCompleted:
		return "its documents are generated"
	case result.State == StateUnknown:
		return unrecorded + "call Regulatory.SettlePurchase with the Purchase of its *RegulatoryError; if it stays " +
			"unknown, check the wallet's transactions"
	case len(result.Documents) > 0 && result.State == StateWaiting:
		return unrecorded + "call Regulatory.Wait with its RequestID"
	case len(result.Documents) > 0 && result.State == StateFailed:
		return unrecorded + "call Regulatory.Retry with its RequestID"
	}
	return strings.TrimSuffix(next, closesUncharged) + "; leave out what this run has purchased: " +
		"without a Journal, another one would purchase it again"
}

// passes reports whether an error may pass, even if [shipping.Error.Retryable] is false: the response is not that of
// the service, or was damaged on its way, or the service refuses only while another request is processed.
func passes(failed *shipping.Error) bool {
	switch status := failed.StatusCode; {
	case failed.Retryable(), status == http.StatusConflict, status/100 == 3:
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
