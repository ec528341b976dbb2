package batch

import (
	"context"
	"errors"
	"time"

	"github.com/shipping-go/shipping"
)

// Journal records the steps of a batch, for one process or for several, on one machine or many, that work on the
// same items. One process has an item at a time: it claims the item, continues from its last record, and releases
// it. [Memory] and [OpenFile] return journals of one process; the nested module stores
// has one on PostgreSQL for several.
//
// An implementation must guarantee four things, or a batch can buy twice. A record that
// [Claim.Append] accepted survives a crash of the machine. A claim accepts nothing once another
// process was given the item. Another process is given the item only after the claim was released, or
// has expired. An item whose last record is [StepPurchasing] is given to another process only when a quarter of the lease has
// passed since its claim expired: a process that stalls after the last check of its claim sends its purchase when it resumes. No
// journal can prevent that. The other process finds the purchase if it reaches the service before that process has read the request
// for [shipping.PurchaseOptions.QuietFor].
//
// Implementations must be safe for concurrent use.
type Journal interface {
	// Claim claims the item for the caller, also if the claim of another process has expired. While another
	// claim holds, the error is [ErrItemTaken].
	Claim(ctx context.Context, key string) (Claim, error)
	// Lease returns how long a claim holds after a Claim or an Append. It is
	// the same in every process. 0 means that claims hold until they are released, and that one process has the
	// journal: a batch then claims all its items when it begins.
	Lease() time.Duration
	// Committed returns the part of the budget that was spent, or may have been: the sum of the amounts of the last
	// records whose step is [Step.Committed]. Money in another currency, and a purchase with an unknown price, are
	// a [*shipping.BudgetError], because the sum cannot be compared with a budget.
	Committed(ctx context.Context, budget shipping.Budget) (shipping.Amount, error)
}

// Claim is an item that this process has claimed. It is used by one goroutine at a time.
type Claim interface {
	// Record returns the item's last record; a record without a step if the journal has none.
	Record() Record
	// Append writes a record. It returns only when the record would survive a crash of the machine. If another
	// process has claimed the item, nothing is written and the error is [ErrItemTaken].
	//
	// With a budget it returns the committed sum. A [StepPurchasing] record that does not fit in the budget is not
	// written, and the error is that of [shipping.Budget.Fits]; records that other processes append at the same
	// moment are counted. Any other record describes a past event: it is written even if the committed sum cannot
	// be computed, and the error is the reason.
	Append(ctx context.Context, record Record, budget *shipping.Budget) (committed shipping.Amount, err error)
	// Within returns the context in which a purchase is sent and read back: it ends well before the claim does. If too
	// little time is left for that, the error is [ErrItemTaken], and the batch releases the item and claims it again.
	Within(ctx context.Context) (context.Context, context.CancelFunc, error)
	// Release gives the item back. If another process was given the item by then, it does nothing, and the error is
	// [ErrItemTaken].
	Release(ctx context.Context) error
}

// ErrItemTaken is returned for an item that another process, or another batch of this one, works on.
var ErrItemTaken = errors.New("shipping: another process works on this item of the batch")
