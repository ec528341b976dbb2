package shipping

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// ownJournal makes a [BatchJournal], or none, a journal whose every item this process has. What is
// spent is counted here: a price is counted before its purchase is sent and taken back only when
// nothing was charged, so the sum never exceeds the budget, not for a moment.
type ownJournal struct {
	journal BatchJournal // nil keeps nothing
	mu      sync.Mutex
	last    map[string]BatchRecord
	sum     Amount // of the budget, while there is one
}

// openOwnJournal reads what earlier runs did, also with items that are not in this one.
func openOwnJournal(ctx context.Context, journal BatchJournal, budget *Budget) (*ownJournal, error) {
	j := &ownJournal{journal: journal, last: map[string]BatchRecord{}}
	if journal != nil {
		records, err := journal.Load(ctx)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			j.last[record.Key] = record.after(j.last[record.Key])
		}
	}
	if budget == nil {
		return j, nil
	}
	var err error
	j.sum, err = j.Committed(ctx, *budget)
	return j, err
}

// Claim always succeeds: the keys of a batch are unique, and no other process has this journal.
func (j *ownJournal) Claim(_ context.Context, key string) (BatchClaim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	record := j.last[key]
	record.Key = key
	return &ownClaim{journal: j, record: record}, nil
}

func (j *ownJournal) Committed(_ context.Context, budget Budget) (Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var sum Amount
	for _, record := range j.last {
		if !record.Step.Committed() {
			continue
		}
		if record.Currency != "" && record.Currency != budget.Currency {
			return Amount{}, &BudgetError{Budget: budget,
				Problem: fmt.Sprintf("the journal holds a purchase of %s in %s", record.Key, record.Currency)}
		}
		var err error
		if sum, err = sum.Add(record.Amount); err != nil {
			return Amount{}, err
		}
	}
	return sum, nil
}

// count puts a record in the place of the item's last one, and returns what is committed now.
func (j *ownJournal) count(record BatchRecord, budget *Budget) (Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if budget != nil {
		others, err := j.sum.Sub(j.last[record.Key].commitment())
		if err != nil {
			return j.sum, err
		}
		if record.Step == BatchPurchasing {
			if err := budget.Fits(others, record.Amount); err != nil {
				return j.sum, err
			}
		}
		sum, err := others.Add(record.commitment())
		if err != nil {
			return j.sum, err
		}
		j.sum = sum
	}
	j.last[record.Key] = record
	return j.sum, nil
}

type ownClaim struct {
	journal *ownJournal
	record  BatchRecord
}

func (c *ownClaim) Record() BatchRecord           { return c.record }
func (c *ownClaim) Until() time.Time              { return time.Time{} }
func (c *ownClaim) Release(context.Context) error { return nil }

func (c *ownClaim) Append(ctx context.Context, record BatchRecord, budget *Budget) (Amount, error) {
	committed, err := c.journal.count(record, budget)
	if err != nil {
		return committed, err
	}
	if c.journal.journal != nil {
		if err := c.journal.journal.Append(ctx, record); err != nil {
			if record.Step == BatchPurchasing { // it is not kept, so it will not be sent
				committed, _ = c.journal.count(c.record, budget)
			}
			return committed, err
		}
	}
	c.record = record
	return committed, nil
}
