package shipping

import (
	"errors"
	"fmt"
)

// LedgerEntry is a transaction as a bookkeeper wants it: one signed amount in one currency.
type LedgerEntry struct {
	Transaction *Transaction
	// Amount is negative for money that left the wallet, in the transaction's Currency. A transaction
	// that was reversed counts as 0: its money came back.
	Amount Amount
	// Pending is true while the amount may still change or fail.
	Pending bool
	// Doubt says why a bookkeeper should look at the entry; nil where nothing is odd. The amount is
	// the transaction's all the same.
	Doubt error
}

// Doubts of a [LedgerEntry], to test with [errors.Is].
var (
	// ErrFlatAmount: the flat amount is not the amount times 100.
	ErrFlatAmount = errors.New("shipping: flat_amount is not the amount times 100")
	// ErrUnknownFlow: the direction is one that this package does not know; the amount is taken for
	// money that came in only where the flow is "in".
	ErrUnknownFlow = errors.New("shipping: unknown flow")
)

// FlowIn is money that comes into the wallet.
//
// Assumption: the specification shows "out" alone.
const FlowIn TransactionFlow = "in"

// LedgerEntry returns the transaction as a ledger entry. An amount that is missing or unreadable is an
// error: nothing may be booked for it.
func (t *Transaction) LedgerEntry() (LedgerEntry, error) {
	entry := LedgerEntry{Transaction: t, Pending: t.Status == TransactionPending}
	if !t.Amount.Known() {
		return entry, fmt.Errorf("%w: amount of transaction %s", ErrAmountUnreadable, t.TransactionID)
	}
	flat, err := t.Amount.Flat()
	if err != nil || flat != t.FlatAmount {
		entry.Doubt = fmt.Errorf("%w: %d for %s", ErrFlatAmount, t.FlatAmount, t.Amount)
	}
	switch t.Flow {
	case FlowOut:
		entry.Amount = t.Amount.Neg()
	case FlowIn:
		entry.Amount = t.Amount
	default:
		entry.Amount = t.Amount.Neg()
		entry.Doubt = errors.Join(entry.Doubt, fmt.Errorf("%w: %q, taken for money that left", ErrUnknownFlow, t.Flow))
	}
	if t.Reversed {
		entry.Amount = Amount{state: amountKnown}
	}
	return entry, nil
}
