// Package batchtest contains a journal in memory that several runs of a batch share, and a job that runs every night.
package batchtest

import (
	"context"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// Journal is a [batch.Journal] for several runs in one process, like a database for several processes: [batch.Memory]
// with claims that end after a lease.
type Journal struct {
	batch.Journal
	lease time.Duration

	mu     sync.Mutex
	claims map[string]*claim // the latest claim of each item
}

// NewJournal returns an empty journal.
func NewJournal(lease time.Duration) *Journal {
	return &Journal{Journal: batch.Memory(), lease: lease, claims: map[string]*claim{}}
}

type claim struct {
	batch.Claim
	journal *Journal
	until   time.Time
}

// Claim claims an item that no run has claimed, or whose claim has ended.
func (j *Journal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if before := j.claims[key]; before != nil {
		expires := before.until
		if before.Record().Step == batch.StepPurchasing {
			expires = expires.Add(j.lease / 4) // leave time to find a purchase that was sent late
		}
		if time.Now().Before(expires) {
			return nil, batch.ErrItemTaken
		}
		if err := before.Claim.Release(ctx); err != nil {
			return nil, err
		}
	}
	next, err := j.Journal.Claim(ctx, key)
	if err != nil {
		return nil, err
	}
	j.claims[key] = &claim{next, j, time.Now().Add(j.lease)}
	return j.claims[key], nil
}

// Lease returns how long a claim holds.
func (j *Journal) Lease() time.Duration { return j.lease }

// Within returns the first quarter of the lease, if half of it is left.
func (c *claim) Within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if time.Until(c.until) <= c.journal.lease/2 {
		return nil, nil, batch.ErrItemTaken
	}
	within, stop := context.WithTimeout(ctx, c.journal.lease/4)
	return within, stop, nil
}

// Append keeps a record and renews the lease, unless it has ended.
func (c *claim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (shipping.Amount, error) {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if !time.Now().Before(c.until) {
		return shipping.Amount{}, batch.ErrItemTaken
	}
	committed, err := c.Claim.Append(ctx, record, budget, alone)
	if err == nil {
		c.until = time.Now().Add(c.journal.lease)
	}
	return committed, err
}

// Release gives the item back, unless another run has it.
func (c *claim) Release(ctx context.Context) error {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	key := c.Record().Key
	if c.journal.claims[key] != c {
		return batch.ErrItemTaken
	}
	delete(c.journal.claims, key)
	return c.Claim.Release(ctx)
}
