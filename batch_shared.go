package shipping

import (
	"context"
	"errors"
	"time"
)

// SharedBatchJournal keeps what a batch decided and did for several processes, on one machine or many,
// that work on the same items. An item is in the hands of one of them at a time: it is claimed, taken
// from its last record as far as it goes, and released.
//
// What has to hold, so that nothing is ever bought twice: a record that [BatchClaim.Append] accepted
// survives a crash of the machine; a claim that another process was given since accepts nothing any
// more; and another process is given a claim only after it was released, or after its
// [BatchClaim.Until] has passed.
//
// Implementations must be safe for concurrent use. The nested module stores holds one on PostgreSQL.
type SharedBatchJournal interface {
	// Claim takes the item for the caller, also from a process that died or was not heard of for as long
	// as the journal allows. While another has it the error is [ErrBatchItemTaken].
	Claim(ctx context.Context, key string) (BatchClaim, error)
	// Committed returns what the items of the batch have spent of the budget together, or may have: the
	// amounts of their last records where [BatchStep.Committed]. Money in another currency is a
	// [*BudgetError], because the sum can be held against no budget then.
	Committed(ctx context.Context, budget Budget) (Amount, error)
}

// BatchClaim is an item in the hands of this process. It is used by one goroutine at a time.
type BatchClaim interface {
	// Record returns the item's last record; one without a step when there is none.
	Record() BatchRecord
	// Append keeps a record. It returns only when the record would survive a crash of the machine. When
	// the item is in other hands by now, nothing is kept and the error is [ErrBatchItemTaken].
	//
	// With a budget it returns what is committed of it. A [BatchPurchasing] record for which there is no
	// room in the budget is not kept, and the error is that of [Budget.Fits]; what other processes
	// append at the same moment is counted.
	Append(ctx context.Context, record BatchRecord, budget *Budget) (committed Amount, err error)
	// Until is the moment up to which nobody else is given the item, whatever becomes of this process:
	// for the last Append, or the claim itself, by this machine's clock. No purchase is begun later. The
	// zero time means for ever.
	Until() time.Time
	// Release gives the item back. After that, and when the item is in other hands by now, it does
	// nothing.
	Release(ctx context.Context) error
}

// ErrBatchItemTaken is an item of a batch that another process works on.
var ErrBatchItemTaken = errors.New("shipping: another process works on this item of the batch")
