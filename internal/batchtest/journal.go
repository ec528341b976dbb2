// Package batchtest contains a journal in memory that several runs of a batch share.
package batchtest

import (
	"context"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// Journal is a [batch.Journal] of several runs in one process, as a database is one of several processes. Its claims end
// after a lease.
type Journal struct {
	lease time.Duration
	mu    sync.Mutex
	items map[string]*item
}

// NewJournal returns an empty journal.
func NewJournal(lease time.Duration) *Journal {
	return &Journal{lease: lease, items: map[string]*item{}}
}

type item struct {
	fence  int
	until  time.Time
	record batch.Record
}

type claim struct {
	journal *Journal
	item    *item
	fence   int
	until   time.Time
	record  batch.Record
}

// Claim claims an item that no run has claimed, or whose claim has ended.
func (j *Journal) Claim(_ context.Context, key string) (batch.Claim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	one := j.items[key]
	if one == nil {
		one = &item{record: batch.Record{Key: key}}
		j.items[key] = one
	}
	expires := one.until
	if !one.until.IsZero() && one.record.Step == batch.StepPurchasing {
		expires = expires.Add(j.lease / 4) // a purchase that was sent late is found
	}
	if time.Now().Before(expires) {
		return nil, batch.ErrItemTaken
	}
	one.fence++
	one.until = time.Now().Add(j.lease)
	return &claim{j, one, one.fence, one.until, one.record}, nil
}

// Lease returns how long a claim holds.
func (j *Journal) Lease() time.Duration { return j.lease }

// Committed returns the sum of all reservations and charges.
func (j *Journal) Committed(context.Context, shipping.Budget) (shipping.Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.committed(nil)
}

func (j *Journal) committed(without *item) (sum shipping.Amount, err error) {
	for _, one := range j.items {
		if one == without || !one.record.Step.Committed() {
			continue
		}
		if sum, err = sum.Add(one.record.Amount); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func (c *claim) Record() batch.Record { return c.record }

// Within returns the first quarter of the lease, if half of it is left.
func (c *claim) Within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if time.Until(c.until) <= c.journal.lease/2 {
		return nil, nil, batch.ErrItemTaken
	}
	within, stop := context.WithTimeout(ctx, c.journal.lease/4)
	return within, stop, nil
}

func (c *claim) Append(_ context.Context, record batch.Record, budget *shipping.Budget) (shipping.Amount, error) {
	j := c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.item.fence != c.fence || !time.Now().Before(c.item.until) {
		return shipping.Amount{}, batch.ErrItemTaken
	}
	if budget != nil && record.Step == batch.StepPurchasing {
		others, err := j.committed(c.item)
		if err != nil {
			return others, err
		}
		if err := budget.Fits(others, record.Amount); err != nil {
			return others, err
		}
	}
	c.item.record, c.record = record, record
	c.until = time.Now().Add(j.lease)
	c.item.until = c.until
	return j.committed(nil)
}

func (c *claim) Release(context.Context) error {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.item.fence != c.fence {
		return batch.ErrItemTaken
	}
	c.item.until = time.Time{}
	return nil
}
