// Package journaltest tests implementations of [batch.Journal].
//
//	func TestJournal(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) batch.Journal { return newJournal(t, 2*time.Minute) })
//		journaltest.RunLeases(t, func(t *testing.T) batch.Journal { return newJournal(t, 2*time.Second) })
//	}
//
// [Run] is for every journal, [RunLeases] for those of several processes, with claims that expire. Neither shows
// that a record survives a crash: test that on the database.
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// Run tests a journal. Each time, open returns an empty journal whose claims last for the whole test: a minute is
// enough. Each rule is a subtest.
func Run(t *testing.T, open func(t *testing.T) batch.Journal) {
	t.Helper()
	run(t, rules, open)
}

// RunLeases tests that claims expire, and what follows. Each time, open returns an empty journal whose claims last
// for a second or a few: the tests wait until they expire, and on a slow machine make several calls within one
// lease.
func RunLeases(t *testing.T, open func(t *testing.T) batch.Journal) {
	t.Helper()
	run(t, leaseRules, open)
}

// rule holds for every journal.
type rule struct {
	name  string
	check func(j journal)
}

func run(t *testing.T, rules []rule, open func(t *testing.T) batch.Journal) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			rule.check(journal{t, open(t)})
		})
	}
}

// journal is a journal under test. A method that finds a violation ends the test.
type journal struct {
	t interface {
		Context() context.Context
		Fatalf(format string, args ...any)
	}
	batch.Journal
}

// claim claims an item that nobody has claimed.
func (j journal) claim(key string) batch.Claim {
	claim, err := j.Claim(j.t.Context(), key)
	if err != nil {
		j.t.Fatalf("Claim(%.20q): %v", key, err)
	}
	return claim
}

// taken checks that an item has a claim.
func (j journal) taken(key string) {
	if _, err := j.Claim(j.t.Context(), key); !errors.Is(err, batch.ErrItemTaken) {
		j.t.Fatalf("Claim(%.20q) of an item that has a claim: the error is %v, want ErrItemTaken", key, err)
	}
}

// takenOver waits until another process gets an item, which must not happen before a moment.
func (j journal) takenOver(key string, notBefore time.Time) (claim batch.Claim) {
	j.eventually("Claim after the end of a claim", func() bool {
		var err error
		claim, err = j.Claim(j.t.Context(), key)
		switch {
		case errors.Is(err, batch.ErrItemTaken):
			return false
		case err != nil:
			j.t.Fatalf("Claim(%.20q) after the end of a claim: %v", key, err)
		case time.Now().Before(notBefore):
			j.t.Fatalf("another process could claim the item %.20q %s too early", key, time.Until(notBefore))
		}
		return true
	})
	return claim
}

// eventually calls a function until it returns true.
func (j journal) eventually(what string, done func() bool) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); !done(); <-again.C {
		if time.Since(began) > time.Minute {
			j.t.Fatalf("%s: nothing has changed for a minute", what)
		}
	}
}

// append appends a record, which must be accepted, and returns the committed sum.
func (j journal) append(claim batch.Claim, record batch.Record, budget *shipping.Budget) shipping.Amount {
	committed, err := claim.Append(j.t.Context(), record, budget, nil)
	if err != nil {
		j.t.Fatalf("Append of a record of %.20q with the step %q: %v", record.Key, record.Step, err)
	}
	return committed
}

func (j journal) release(claim batch.Claim) {
	if err := claim.Release(j.t.Context()); err != nil {
		j.t.Fatalf("Release of %.20q: %v", claim.Record().Key, err)
	}
}

// keep claims an item, appends a record without a budget, and releases the item.
func (j journal) keep(record batch.Record) {
	claim := j.claim(record.Key)
	j.append(claim, record, nil)
	j.release(claim)
}

// holds checks the last record of an item that nobody has.
func (j journal) holds(want batch.Record) {
	claim := j.claim(want.Key)
	j.same(claim.Record(), want)
	j.release(claim)
}

// releases releases an item, and checks its last record.
func (j journal) releases(claim batch.Claim, want batch.Record) {
	j.same(claim.Record(), want)
	j.release(claim)
	j.holds(want)
}

// same compares records as JSON.
func (j journal) same(got, want batch.Record) {
	one, err := json.Marshal(got)
	other, err2 := json.Marshal(want)
	if err := errors.Join(err, err2); err != nil || string(one) != string(other) {
		j.t.Fatalf("the record of %.20q is %s, want %s (%v)", want.Key, one, other, err)
	}
}

// committed checks the sum of a period.
func (j journal) committed(period string, budget shipping.Budget, want string) {
	sum, err := j.Committed(j.t.Context(), period, budget)
	if err != nil || sum.Cmp(amount(want)) != 0 {
		j.t.Fatalf("Committed of the period %q with a budget of %s returns %s, %v; want %s", period, budget, sum, err, want)
	}
}
