package batch

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
)

// Memory returns a journal in memory. Several batches of the process can use it at the same time: they divide their
// items, and share the budget.
func Memory() Journal { return newLocal(nil) }

// local is a journal of one process. Spending is counted in memory: a price is counted before its record is
// written, and subtracted only after the record that gives it back is kept. So the sum is never less than that
// of the journal's records, and never exceeds the budget, unless the service charges more than the price on
// the draft.
type local struct {
	write func(Record) error // returns when the record is on the disk; nil keeps it in memory only

	mu       sync.Mutex
	items    map[string]*localItem
	sum      shipping.Amount // of the counted amounts
	currency string          // of the sum; empty if it has to be counted again
}

type localItem struct {
	record  Record
	counted shipping.Amount
	claim   *localClaim // nil if nobody has the item
}

func newLocal(write func(Record) error) *local {
	return &local{write: write, items: map[string]*localItem{}}
}

// load adds a record of an earlier process.
func (j *local) load(record Record) {
	item := j.item(record.Key)
	item.record = record.after(item.record)
	item.counted = item.record.commitment()
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

// Lease returns 0: no other process is given an item.
func (j *local) Lease() time.Duration { return 0 }

func (j *local) Committed(_ context.Context, budget shipping.Budget) (shipping.Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.count(budget)
	return j.sum, err
}

// count adds up the counted amounts. The journal is locked.
func (j *local) count(budget shipping.Budget) error {
	var sum shipping.Amount
	var err error
	for _, item := range j.items {
		if problem := item.record.uncountable(budget); problem != "" {
			return &shipping.BudgetError{Budget: budget, Problem: problem}
		}
		if sum, err = sum.Add(item.counted); err != nil {
			return err
		}
	}
	j.sum, j.currency = sum, budget.Currency
	return nil
}

// reserve counts the amount that a record commits beyond the counted amount of its item, before the record is
// written.
func (j *local) reserve(item *localItem, record Record, budget shipping.Budget) error {
	if j.currency != budget.Currency {
		if err := j.count(budget); err != nil {
			return err
		}
	}
	more, err := record.commitment().Sub(item.counted)
	if err != nil {
		return err
	}
	if record.Step == StepPurchasing {
		if err := budget.Fits(j.sum, more); err != nil {
			return err
		}
	}
	if more.Sign() <= 0 {
		return nil // what it gives back is subtracted once the record is written
	}
	return j.hold(item, record.commitment())
}

// hold counts an amount for an item instead of the one before.
func (j *local) hold(item *localItem, amount shipping.Amount) error {
	more, err := amount.Sub(item.counted)
	sum, added := j.sum.Add(more)
	if err := cmp.Or(err, added); err != nil {
		return err
	}
	j.sum, item.counted = sum, amount
	return nil
}

// localClaim is a claim that holds until it is released.
type localClaim struct {
	journal *local
	item    *localItem
	record  Record
}

func (c *localClaim) Record() Record { return c.record }

// Within implements [Claim]: no other process is given the item.
func (c *localClaim) Within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	return ctx, func() {}, nil
}

// Append keeps a record. If the committed amounts cannot be added up, a purchase is refused; any other record
// is kept, because its step has already happened.
func (c *localClaim) Append(_ context.Context, record Record, budget *shipping.Budget) (shipping.Amount, error) {
	uncounted, err := c.reserve(record, budget)
	if err != nil {
		return shipping.Amount{}, err
	}
	if write := c.journal.write; write != nil {
		if err := write(record); err != nil {
			return shipping.Amount{}, err
		}
	}
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	c.item.record, c.record = record, record
	if budget != nil && uncounted == nil && c.journal.hold(c.item, record.commitment()) == nil {
		return c.journal.sum, nil
	}
	c.item.counted, c.journal.currency = record.commitment(), "" // the sum is counted before its next use
	return shipping.Amount{}, uncounted
}

// reserve returns an error if the record must not be written, and why it could not be counted.
func (c *localClaim) reserve(record Record, budget *shipping.Budget) (uncounted, refused error) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	switch {
	case c.item.claim != c:
		return nil, ErrItemTaken
	case record.Key != c.record.Key:
		return nil, invalid("Record", "has the key "+quoteShort(record.Key)+", and the claim is for "+quoteShort(c.record.Key))
	case budget == nil:
		return nil, nil
	}
	uncounted = c.journal.reserve(c.item, record, *budget)
	if record.Step == StepPurchasing {
		return nil, uncounted
	}
	return uncounted, nil
}

func (c *localClaim) Release(context.Context) error {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.item.claim == c {
		c.item.claim = nil
	}
	return nil
}
