package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Journal records the steps of a batch, for one process or for several, on one machine or many, that work on the same
// items. One process at a time has an item: it claims the item, continues from its last record, and releases it.
// [Memory] and [OpenFile] return journals of one process; the nested module stores has one on PostgreSQL for several.
//
// An implementation must guarantee five things, or a batch can buy twice:
//
//   - A record that [Claim.Append] accepted survives a crash of the machine.
//   - A claim accepts nothing once another process has the item.
//   - Another process gets the item only after the claim was released, or has expired.
//   - Another process gets an item whose last record is [StepPurchasing] only when a quarter of the lease has passed
//     since its claim expired.
//   - Of two purchases for one [Record.Source] or one request under different keys, the second is refused, even at the
//     same moment in different processes: see [Claim.Append].
//
// A process that stalls after the last check of its claim sends its purchase when it resumes; no journal can
// prevent that. The other process reads the request for [shipping.PurchaseOptions.QuietFor], and finds the purchase
// if it reaches the service by then.
//
// Implementations must be safe for concurrent use. Package journaltest tests them.
type Journal interface {
	// Claim claims the item for the caller. It replaces an expired claim of another process. While another
	// claim holds, the error is [ErrItemTaken].
	Claim(ctx context.Context, key string) (Claim, error)
	// Lease returns how long a claim holds after a Claim or an Append. It is the same in every process. With 0, claims
	// hold until they are released, and one process has the journal: a batch then claims all its items when it begins.
	Lease() time.Duration
	// Committed returns the part of a period's budget that was spent, or may have been: the sum of the amounts of the
	// period's last records that are [Record.Committed]. If the period has money in another currency, or a purchase
	// with an unknown price, the error is a [*shipping.BudgetError].
	Committed(ctx context.Context, period string, budget shipping.Budget) (shipping.Amount, error)
	// Related returns, of all items and periods, the last records that have the [Record.Source] or the RequestID of a
	// record, or are [Record.Overcharged]: each once, in any order.
	Related(ctx context.Context, record Record) ([]Record, error)
}

// Claim is an item that this process has claimed. It is used by one goroutine at a time.
type Claim interface {
	// Record returns the item's last record; a record without a step if the journal has none.
	Record() Record
	// Append writes a record. It returns only when the record would survive a crash of the machine. If another
	// process has claimed the item, nothing is written and the error is [ErrItemTaken].
	//
	// With a budget it returns the committed sum of the record's period. A [StepPurchasing] record that does not fit in
	// the budget is not written, and the error is that of [shipping.Budget.Fits]; records that other processes append at
	// the same moment are counted. Any other record describes a past event: it is written even if the committed sum
	// cannot be computed, and the error states why.
	//
	// If alone is set, it gets what [Journal.Related] returns for the record. If alone returns an error, nothing is
	// written, and Append returns that error. This lookup and the record are one transaction, under a lock of the source
	// and one of the request: if two records of one source or one request are appended at the same moment, one lookup
	// finds the other record. The lock of the budget is taken first, then that of the source, then that of the request.
	// If Append repeats the transaction, it may call alone again.
	Append(ctx context.Context, record Record, budget *shipping.Budget,
		alone func(related []Record) error) (committed shipping.Amount, err error)
	// Within returns the context in which a purchase is sent and read back: it ends well before the claim does. If too
	// little time is left for that, the error is [ErrItemTaken], and the batch releases the item and claims it again.
	Within(ctx context.Context) (context.Context, context.CancelFunc, error)
	// Release releases the item. If another process has the item by then, it does nothing, and the error is
	// [ErrItemTaken].
	Release(ctx context.Context) error
}

// ErrItemTaken is returned for an item that another process, or another batch in this process, works on.
var ErrItemTaken = errors.New("shipping: another process works on this item of the batch")

// JournalError is returned if the journal failed. Nothing more is purchased, because a purchase without a record
// could be repeated.
type JournalError struct {
	// Key is the item whose step could not be recorded.
	Key string
	Err error
}

// Error returns the item whose step could not be recorded, and the cause.
func (e *JournalError) Error() string {
	return fmt.Sprintf("shipping: the batch journal failed at item %s: %v; nothing more was purchased; "+
		"remove the cause, then run the batch again", spelling.Quote(e.Key), e.Err)
}

// Unwrap returns the cause.
func (e *JournalError) Unwrap() error { return e.Err }

// Memory returns a journal in memory. Several batches of the process can use it at the same time: they divide their
// items, and share the budget.
func Memory() Journal { return newLocal(nil) }

// local is a journal of one process. Spending is counted in memory: a price is added before its record is written, and
// subtracted only after the record that releases it is written. So the sum of a period is never less than the sum of
// its records, and never exceeds the budget, unless the service charges more than the draft can cost.
type local struct {
	write func(Record) error // returns when the record is on the disk; nil keeps it in memory only

	mu    sync.Mutex
	items map[string]*localItem
	index map[string][]*localItem // by [Record.entries], those of earlier records included
	sums  map[string]localSum     // by period; a missing sum is counted before its next use
}

// localSum is the sum of the counted amounts of a period.
type localSum struct {
	amount   shipping.Amount
	currency string
}

type localItem struct {
	record  Record
	counted shipping.Amount
	period  string      // in which counted counts
	claim   *localClaim // nil if nobody has claimed the item
}

func newLocal(write func(Record) error) *local {
	return &local{write: write, items: map[string]*localItem{}, index: map[string][]*localItem{},
		sums: map[string]localSum{}}
}

// load adds a record of an earlier process.
func (j *local) load(record Record) {
	item := j.item(record.Key)
	j.keep(item, record)
	item.counted, item.period = record.commitment(), record.Period
}

// keep makes a record the last one of its item.
func (j *local) keep(item *localItem, record Record) {
	for _, entry := range record.entries() {
		if !slices.Contains(j.index[entry], item) {
			j.index[entry] = append(j.index[entry], item)
		}
	}
	item.record = record
}

const overcharged = "overcharged" // the entry of items that are [Record.Overcharged]

// entries returns the keys under which the index lists the record.
func (r Record) entries() (entries []string) {
	if source := r.Source(); source != "" {
		entries = append(entries, "source "+source)
	}
	if r.RequestID != "" {
		entries = append(entries, "request "+r.RequestID)
	}
	if r.Overcharged() {
		entries = append(entries, overcharged)
	}
	return entries
}

func (j *local) item(key string) *localItem {
	item := j.items[key]
	if item == nil {
		item = &localItem{record: Record{Key: key}}
		j.items[key] = item
	}
	return item
}

func (j *local) Claim(_ context.Context, key string) (Claim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	item := j.item(key)
	if item.claim != nil {
		return nil, ErrItemTaken
	}
	item.claim = &localClaim{journal: j, item: item, record: item.record}
	return item.claim, nil
}

// Lease returns 0: no other process gets an item.
func (j *local) Lease() time.Duration { return 0 }

func (j *local) Committed(_ context.Context, period string, budget shipping.Budget) (shipping.Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.count(period, budget)
}

func (j *local) Related(_ context.Context, record Record) ([]Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.related(record), nil
}

// related is Related. The journal is locked.
func (j *local) related(record Record) (records []Record) {
	var found []*localItem
	for _, entry := range append(record.entries(), overcharged) {
		for _, item := range j.index[entry] {
			if slices.Contains(item.record.entries(), entry) && !slices.Contains(found, item) {
				found, records = append(found, item), append(records, item.record)
			}
		}
	}
	return records
}

// count adds up the counted amounts of a period. The journal is locked.
func (j *local) count(period string, budget shipping.Budget) (sum shipping.Amount, err error) {
	for _, item := range j.items {
		if item.period != period {
			continue
		}
		if problem := item.record.uncountable(budget); problem != "" {
			return shipping.Amount{}, &shipping.BudgetError{Budget: budget, Problem: problem}
		}
		if sum, err = sum.Add(item.counted); err != nil {
			return sum, err
		}
	}
	j.sums[period] = localSum{sum, budget.Currency}
	return sum, nil
}

// sum returns the sum of a period, and counts it only if necessary. The journal is locked.
func (j *local) sum(period string, budget shipping.Budget) (shipping.Amount, error) {
	if known, counted := j.sums[period]; counted && known.currency == budget.Currency {
		return known.amount, nil
	}
	return j.count(period, budget)
}

// reserve counts the amount of a record before it is written, if that raises the sum. A purchase must fit the budget.
func (j *local) reserve(item *localItem, record Record, budget shipping.Budget) error {
	if problem := record.uncountable(budget); problem != "" {
		return &shipping.BudgetError{Budget: budget, Problem: problem}
	}
	sum, err := j.sum(record.Period, budget)
	if err != nil {
		return err
	}
	more := record.commitment()
	if item.period == record.Period {
		more, err = more.Sub(item.counted)
	}
	if _, overflow := sum.Add(more); err != nil || overflow != nil {
		return cmp.Or(err, overflow)
	}
	if record.Step == StepPurchasing {
		if err := budget.Fits(sum, more); err != nil {
			return err
		}
	}
	if more.Sign() > 0 { // an amount that the record releases is subtracted after the write
		j.hold(item, record)
	}
	return nil
}

// hold counts the amount of a record for its item, in place of the previous amount.
func (j *local) hold(item *localItem, record Record) {
	j.add(item.period, item.counted.Neg())
	item.counted, item.period = record.commitment(), record.Period
	j.add(item.period, item.counted)
}

// add adds an amount to the sum of a period, if the sum is known.
func (j *local) add(period string, amount shipping.Amount) {
	known, counted := j.sums[period]
	if !counted {
		return
	}
	sum, err := known.amount.Add(amount)
	if j.sums[period] = (localSum{sum, known.currency}); err != nil {
		delete(j.sums, period)
	}
}

// localClaim is a claim that holds until it is released.
type localClaim struct {
	journal *local
	item    *localItem
	record  Record
}

func (c *localClaim) Record() Record { return c.record }

// Within implements [Claim]: no other process gets the item.
func (c *localClaim) Within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return ctx, func() {}, nil
}

// Append keeps a record. If the committed amounts cannot be added up, a purchase is refused; any other record
// is kept, because its step has already happened.
func (c *localClaim) Append(_ context.Context, record Record, budget *shipping.Budget,
	alone func([]Record) error) (shipping.Amount, error) {
	uncounted, err := c.reserve(record, budget, alone)
	if err != nil {
		return shipping.Amount{}, err
	}
	if write := c.journal.write; write != nil {
		err = write(record)
	}
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if err != nil {
		c.journal.keep(c.item, c.record)
		c.journal.hold(c.item, c.record)
		return shipping.Amount{}, err
	}
	c.journal.keep(c.item, record)
	c.record = record
	c.journal.hold(c.item, record)
	if budget == nil || uncounted != nil {
		delete(c.journal.sums, record.Period) // the sum is counted before its next use
		return shipping.Amount{}, uncounted
	}
	committed, _ := c.journal.sum(record.Period, *budget) // if the sum cannot be counted, the next purchase is refused
	return committed, nil
}

// reserve returns why the record must not be written (refused), and why its amount cannot be counted (uncounted). If
// alone is set, or after a charge above the cost, other items find the record while it is written.
func (c *localClaim) reserve(record Record, budget *shipping.Budget,
	alone func([]Record) error) (uncounted, refused error) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	switch {
	case c.item.claim != c:
		return nil, ErrItemTaken
	case record.Key != c.record.Key:
		return nil, invalid("Record", "has the key "+spelling.Quote(record.Key)+", and the claim is "+
			"for "+spelling.Quote(c.record.Key))
	}
	if alone != nil {
		if err := alone(c.journal.related(record)); err != nil {
			return nil, err
		}
	}
	if budget != nil {
		uncounted = c.journal.reserve(c.item, record, *budget)
	}
	if uncounted != nil && record.Step == StepPurchasing {
		return nil, uncounted
	}
	if alone != nil || record.Overcharged() {
		c.journal.keep(c.item, record)
	}
	return uncounted, nil
}

func (c *localClaim) Release(context.Context) error {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	switch c.item.claim {
	case c:
		c.item.claim = nil
	case nil: // it was released before
	default:
		return ErrItemTaken
	}
	return nil
}
