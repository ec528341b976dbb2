package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

var (
	errDead = errors.New("the process was killed")
	errFull = errors.New("no space left on device")
)

// cutJournal is the journal as one life of a process sees it: it can cut the process off at each record.
type cutJournal struct {
	batch.Journal
	trial *trial
	life  *life
}

func (j cutJournal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	i := itemOfKey(key)
	time.Sleep(time.Until(j.life.tries[i]))
	if j.life.isDead() {
		return nil, errDead
	}
	j.trial.mu.Lock()
	defer j.trial.mu.Unlock()
	claim, err := j.Journal.Claim(ctx, key)
	if errors.Is(err, batch.ErrItemTaken) {
		j.life.tries[i] = time.Now().Add(nextTry)
	}
	if err != nil {
		return nil, err
	}
	j.trial.observed(j.life, i, "claims")
	return cutClaim{claim, j, i}, nil
}

func (j cutJournal) Committed(ctx context.Context, budget shipping.Budget) (shipping.Amount, error) {
	if j.life.isDead() {
		return shipping.Amount{}, errDead
	}
	return j.Journal.Committed(ctx, budget)
}

type cutClaim struct {
	batch.Claim
	journal cutJournal
	item    int
}

func (c cutClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget) (shipping.Amount, error) {
	t, life := c.journal.trial, c.journal.life
	if life.isDead() {
		return shipping.Amount{}, errDead
	}
	time.Sleep(life.latency())
	choice := t.choose(life, c.item, atRecord())
	switch choice {
	case "kill-before":
		t.kill(life)
		return shipping.Amount{}, errDead
	case "full":
		t.observe(life, c.item, "cannot write")
		return shipping.Amount{}, errFull
	case "stall-before":
		time.Sleep(stall)
	}
	committed, err := c.append(ctx, record, budget)
	if err != nil {
		return committed, err
	}
	switch choice {
	case "kill-after":
		t.kill(life)
		return shipping.Amount{}, errDead
	case "stall-after":
		time.Sleep(stall)
	}
	return committed, nil
}

func (c cutClaim) append(ctx context.Context, record batch.Record, budget *shipping.Budget) (shipping.Amount, error) {
	t, life := c.journal.trial, c.journal.life
	t.mu.Lock()
	defer t.mu.Unlock()
	before := c.Claim.Record().Step
	committed, err := c.Claim.Append(ctx, record, budget)
	if err != nil {
		return committed, err
	}
	t.kept[c.item] = record
	if record.Step == batch.StepPurchasing {
		life.reserved = c.item
	}
	t.observed(life, c.item, recordEvents(before, record.Step)...)
	return committed, nil
}

func (c cutClaim) Release(ctx context.Context) error {
	if c.journal.life.isDead() {
		return errDead
	}
	return c.Claim.Release(ctx)
}

// recordEvents are the events of the model that a record can be.
func recordEvents(before, after batch.Step) []string {
	switch after {
	case batch.StepAnalyzed:
		if before == "" {
			return []string{"records analyzed"}
		}
		return []string{"records not charged", "records settled"}
	case batch.StepPurchasing:
		return []string{"records purchasing", "renews its claim"}
	case batch.StepPurchased:
		return []string{"records purchased"}
	}
	return []string{"records completed"}
}

// leaseJournal is a journal of several processes in memory. A claim holds for a lease.
type leaseJournal struct {
	lease time.Duration
	mu    sync.Mutex
	items map[string]*leaseItem
}

type leaseItem struct {
	fence  int
	until  time.Time
	record batch.Record
}

type leaseClaim struct {
	journal *leaseJournal
	item    *leaseItem
	fence   int
	until   time.Time
	record  batch.Record
}

func (j *leaseJournal) Claim(_ context.Context, key string) (batch.Claim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	item := j.items[key]
	if item == nil {
		item = &leaseItem{record: batch.Record{Key: key}}
		j.items[key] = item
	}
	if time.Now().Before(item.until) {
		return nil, batch.ErrItemTaken
	}
	item.fence++
	item.until = time.Now().Add(j.lease)
	return &leaseClaim{j, item, item.fence, item.until, item.record}, nil
}

func (j *leaseJournal) Lease() time.Duration { return j.lease }

func (j *leaseJournal) Committed(context.Context, shipping.Budget) (shipping.Amount, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.committed(nil)
}

func (j *leaseJournal) committed(without *leaseItem) (sum shipping.Amount, err error) {
	for _, item := range j.items {
		if item == without || !item.record.Step.Committed() {
			continue
		}
		if sum, err = sum.Add(item.record.Amount); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func (c *leaseClaim) Record() batch.Record { return c.record }
func (c *leaseClaim) Until() time.Time     { return c.until }

func (c *leaseClaim) Append(_ context.Context, record batch.Record, budget *shipping.Budget) (shipping.Amount, error) {
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

func (c *leaseClaim) Release(context.Context) error {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.item.fence == c.fence {
		c.item.until = time.Time{}
	}
	return nil
}
