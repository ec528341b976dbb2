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
// An implementation must guarantee three things, or a batch can buy twice. A record that
// [Claim.Append] accepted survives a crash of the machine. A claim accepts nothing once another
// process was given the item. Another process is given the item only after the claim was released, or
// after its [Claim.Until] has passed.
//
// # A process that stalls
//
// A process can stop at any moment, for any time, and resume: a suspended virtual machine, a debugger, SIGSTOP. If it
// stops between the last check of its claim and sending the purchase, it sends the purchase when it resumes. No journal
// can prevent that. A batch limits the damage with [Journal.Lease]:
//
//   - A purchase is begun only if at least half of the lease is left, and is cancelled after a quarter of it.
//   - Another process begins to settle the purchase no sooner than the lease and a quarter more have passed.
//     It then reads the request for [shipping.PurchaseOptions.QuietFor]. Until it has settled, the item's reservation
//     counts against the budget, and the item is not purchased again.
//
// So a purchase that is sent late is found, and counted once, if it reaches the service within one and a
// quarter leases plus QuietFor after its record was written. If the process stalls for longer, its
// purchase may have been settled as not charged by then. If the item has been purchased again since, the request is not
// a draft, and the service refuses the late purchase. If it has not, the late purchase is charged, and can exceed the budget by its price; the next run finds it when it reads the
// draft.
//
// Implementations must be safe for concurrent use.
type Journal interface {
	// Claim claims the item for the caller, also if the lease of another process on it has expired. While another
	// claim holds, the error is [ErrItemTaken].
	Claim(ctx context.Context, key string) (Claim, error)
	// Lease returns how long a claim holds: the time from a Claim or an Append to [Claim.Until]. It is
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
	// Until returns when the claim expires, by the clock of this machine. Each Append extends it. No other process
	// can claim the item before, and no purchase is begun later. The zero time means no limit.
	Until() time.Time
	// Release ends the claim. If the claim has already ended, it does nothing.
	Release(ctx context.Context) error
}

// ErrItemTaken is returned for an item that another process, or another batch of this one, works on.
var ErrItemTaken = errors.New("shipping: another process works on this item of the batch")
