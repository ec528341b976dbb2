package model

import (
	"context"
	"errors"
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

func (j cutJournal) Committed(ctx context.Context, period string, budget shipping.Budget) (shipping.Amount, error) {
	if j.life.isDead() {
		return shipping.Amount{}, errDead
	}
	return j.Journal.Committed(ctx, period, budget)
}

type cutClaim struct {
	batch.Claim
	journal cutJournal
	item    int
}

func (c cutClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (shipping.Amount, error) {
	t, life := c.journal.trial, c.journal.life
	if life.isDead() {
		return shipping.Amount{}, errDead
	}
	time.Sleep(life.latency())
	choice := t.choose(life, c.item, "record")
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
	committed, err := c.append(ctx, record, budget, alone)
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

func (c cutClaim) append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (shipping.Amount, error) {
	t, life := c.journal.trial, c.journal.life
	t.mu.Lock()
	defer t.mu.Unlock()
	before := c.Claim.Record().Step
	committed, err := c.Claim.Append(ctx, record, budget, alone)
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
func recordEvents(before, after shipping.Step) []string {
	switch after {
	case batch.StepAnalyzed:
		if before == "" {
			return []string{"records analyzed"}
		}
		return []string{"records not charged", "records settled", "ends a refused item", "records analyzed"}
	case batch.StepPurchasing:
		return []string{"records purchasing", "records the refusal", "records the refusal, to settle it"}
	case batch.StepPurchased:
		return []string{"records purchased"}
	}
	return []string{"records completed"}
}
