// Package journaltest tests implementations of [batch.Journal].
//
//	func TestJournal(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) batch.Journal { return newJournal(t, 2*time.Minute) })
//		journaltest.RunLeases(t, func(t *testing.T) batch.Journal { return newJournal(t, 2*time.Second) })
//	}
//
// [Run] is for every journal. [RunLeases] is for one that several processes share, whose claims expire. Neither shows
// that a record survives a crash: test that on the database.
package journaltest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/shipping-go/shipping/batch"
)

// Run tests a journal. open returns an empty one each time, whose claims last for the whole test: a minute is enough.
// Each rule is a subtest.
func Run(t *testing.T, open func(t *testing.T) batch.Journal) {
	t.Helper()
	run(t, rules, open)
}

// RunLeases tests that claims expire, and what follows. open returns an empty journal each time, whose claims last for
// a second or a few: the tests wait until they expire, and on a slow machine make several calls within one lease.
func RunLeases(t *testing.T, open func(t *testing.T) batch.Journal) {
	t.Helper()
	run(t, leaseRules, open)
}

// rule holds for every journal. check returns the first violation.
type rule struct {
	name  string
	check func(ctx context.Context, journal batch.Journal) error
}

func run(t *testing.T, rules []rule, open func(t *testing.T) batch.Journal) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			if err := rule.check(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// claimed returns a claim of an item that nobody has.
func claimed(ctx context.Context, journal batch.Journal, key string) (batch.Claim, error) {
	claim, err := journal.Claim(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("Claim(%.20q): %w", key, err)
	}
	return claim, nil
}

// taken returns an error unless an item has a claim.
func taken(ctx context.Context, journal batch.Journal, key string) error {
	if _, err := journal.Claim(ctx, key); !errors.Is(err, batch.ErrItemTaken) {
		return fmt.Errorf("Claim(%.20q) of an item that has a claim: the error is %v, want ErrItemTaken", key, err)
	}
	return nil
}

// takenOver waits until an item is given to another process, and returns an error if that is before a moment.
func takenOver(ctx context.Context, journal batch.Journal, key string,
	notBefore time.Time) (claim batch.Claim, err error) {
	err = eventually(ctx, func() (bool, error) {
		claim, err = journal.Claim(ctx, key)
		if err == nil && time.Now().Before(notBefore) {
			err = fmt.Errorf("the item is given to another process %s too early", time.Until(notBefore))
		}
		if errors.Is(err, batch.ErrItemTaken) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return nil, fmt.Errorf("Claim(%.20q) after the end of a claim: %w", key, err)
	}
	return claim, nil
}

// eventually calls a function until it is done.
func eventually(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if ended, err := done(); ended || err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.New("nothing has changed for a minute")
		}
	}
}
