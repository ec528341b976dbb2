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
// A process can stop at any moment, for as long as the machine likes, and go on: a suspended virtual
// machine, a debugger, SIGSTOP. If it stops between the last check of its claim and the moment when the
// purchase is on the wire, it sends the purchase when it wakes. No journal can prevent that. A batch bounds
// it with [Journal.Lease]:
//
//   - A purchase is begun only if at least half of the lease is left, and is cancelled after a quarter of it.
//   - Another process begins to settle the purchase no sooner than the lease and a quarter more have passed.
//     It then reads the request for [shipping.SettleOptions.QuietFor]. Until it has settled, the item's reservation
//     counts against the budget, and the item is not purchased again.
//
// So a purchase that is sent late is found, and counted once, if it reaches the service within one and a
// quarter leases plus QuietFor after its record was kept. What remains is a process that stalls for
// longer. Its purchase may have been settled as not charged by then. If the item has been purchased again
// since, the request is not a draft any more, and the service refuses the late purchase. If it has not, the
// late purchase is charged, and can exceed the budget by its price; the next run finds it when it reads the
// draft.
//
// Implementations must be safe for concurrent use.
type Journal interface {
	// Claim takes the item for the caller, also from a process whose lease has expired. While another has it,
	// the error is [ErrItemTaken].
	Claim(ctx context.Context, key string) (Claim, error)
	// Lease returns how long a claim holds: the time from a Claim or an Append to [Claim.Until]. It is
	// the same in every process. 0 means that claims hold until they are released, and that one process has the
	// journal: a batch then claims all its items when it begins.
	Lease() time.Duration
	// Committed returns what the items of the batch have spent of the budget together, or may have: the
	// amounts of their last records whose step is [Step.Committed]. Money in another currency, and a purchase
	// whose price is not known, are a [*shipping.BudgetError], because the sum cannot be compared with a budget.
	Committed(ctx context.Context, budget shipping.Budget) (shipping.Amount, error)
}

// Claim is an item that this process has. It is used by one goroutine at a time.
type Claim interface {
	// Record returns the item's last record; a record without a step if the journal has none.
	Record() Record
	// Append keeps a record. It returns only when the record would survive a crash of the machine. If another
	// process has the item by now, nothing is kept and the error is [ErrItemTaken].
	//
	// With a budget it returns what is committed of it. A [StepPurchasing] record for which there is no
	// room in the budget is not kept, and the error is that of [shipping.Budget.Fits]; what other processes
	// append at the same moment is counted. Any other record reports what has already happened: it is kept also if
	// what is committed cannot be added up, and the error is the reason.
	Append(ctx context.Context, record Record, budget *shipping.Budget) (committed shipping.Amount, err error)
	// Until is the moment up to which nobody else is given the item, whatever becomes of this process:
	// for the last Append, or the claim itself, by this machine's clock. No purchase is begun later. The
	// zero time means without a limit.
	Until() time.Time
	// Release gives the item back. After that, and if another process has the item by now, it does
	// nothing.
	Release(ctx context.Context) error
}

// ErrItemTaken is returned for an item that another process, or another batch of this one, works on.
var ErrItemTaken = errors.New("shipping: another process works on this item of the batch")
