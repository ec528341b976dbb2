package batch

import (
	"context"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
)

// ownJournal makes a [LocalJournal], or none, a journal whose every item this process has. What is
// spent is counted here: a price is counted before its record is written, and taken back only when the
// record that takes it back is kept. So the sum is never less than what the journal holds, and never
// exceeds the budget, unless the service charges more than the draft says.
type ownJournal struct {
	journal LocalJournal // nil keeps nothing
	mu      sync.Mutex
	last    map[string]Record
	sum     shipping.Amount // of the budget, while there is one
}

// openOwnJournal reads what earlier runs did, also with items that are not in this one.
func openOwnJournal(ctx context.Context, journal LocalJournal, budget *shipping.Budget) (*ownJournal, error) {
	j := &ownJournal{journal: journal, last: map[string]Record{}}
	if journal != nil {
		records, err := journal.Load(ctx)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			if err := record.check(); err != nil {
				return nil, err
			}
			j.last[record.Key] = record.after(j.last[record.Key])
		}
	}
	if budget == nil {
		return j, nil
	}
	var err error
	j.sum, err = j.committed(*budget)
	return j, err
}

// Claim always succeeds: the keys of a batch are unique, and no other process has this journal.
func (j *ownJournal) Claim(_ context.Context, key string) (Claim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	record := j.last[key]
	record.Key = key
	return &ownClaim{journal: j, record: record}, nil
}

// Lease returns 0: no other process is given an item.
func (j *ownJournal) Lease() time.Duration { return 0 }

// Committed returns the sum that Append keeps up to date.
func (j *ownJournal) Committed(context.Context, shipping.Budget) (shipping.Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sum, nil
}

// committed adds up the last records.
func (j *ownJournal) committed(budget shipping.Budget) (sum shipping.Amount, err error) {
	for _, record := range j.last {
		if problem := record.uncountable(budget); problem != "" {
			return shipping.Amount{}, &shipping.BudgetError{Budget: budget, Problem: problem}
		}
		if sum, err = sum.Add(record.commitment()); err != nil {
			return shipping.Amount{}, err
		}
	}
	return sum, nil
}

// reserve counts what a record commits in addition to the item's last one, before it is written.
func (j *ownJournal) reserve(record Record, budget *shipping.Budget) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if budget == nil {
		return nil
	}
	more, err := record.commitment().Sub(j.last[record.Key].commitment())
	if err != nil {
		return err
	}
	if record.Step == StepPurchasing {
		if err := budget.Fits(j.sum, more); err != nil {
			return err
		}
	}
	if more.Sign() <= 0 {
		return nil
	}
	sum, err := j.sum.Add(more)
	if err != nil {
		return err
	}
	j.sum = sum
	return nil
}

// keep makes a record that is written the item's last one, and counts what it gives back.
func (j *ownJournal) keep(record Record, budget *shipping.Budget) (shipping.Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	less, err := j.last[record.Key].commitment().Sub(record.commitment())
	if budget != nil && err == nil && less.Sign() > 0 {
		var sum shipping.Amount
		if sum, err = j.sum.Sub(less); err == nil {
			j.sum = sum
		}
	}
	j.last[record.Key] = record
	return j.sum, err
}

type ownClaim struct {
	journal *ownJournal
	record  Record
}

func (c *ownClaim) Record() Record                { return c.record }
func (c *ownClaim) Until() time.Time              { return time.Time{} }
func (c *ownClaim) Release(context.Context) error { return nil }

// Append keeps a record. If what is committed cannot be added up, a purchase is refused; any other record
// is kept, because it says what has happened already.
func (c *ownClaim) Append(ctx context.Context, record Record, budget *shipping.Budget) (shipping.Amount, error) {
	uncounted := c.journal.reserve(record, budget)
	if uncounted != nil && record.Step == StepPurchasing {
		return shipping.Amount{}, uncounted
	}
	if c.journal.journal != nil {
		if err := c.journal.journal.Append(ctx, record); err != nil {
			return shipping.Amount{}, err
		}
	}
	committed, err := c.journal.keep(record, budget)
	if uncounted != nil {
		err = uncounted
	}
	c.record = record
	return committed, err
}
