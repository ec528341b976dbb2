// Package storetest tests implementations of [webhook.Store].
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) webhook.Store { return newStore(t, 2*time.Minute) })
//		storetest.RunLeases(t, func(t *testing.T) webhook.Store { return newStore(t, 2*time.Second) })
//	}
//
// [Run] is for every store. [RunLeases] is for one that several machines share, whose claims expire.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// Run tests a store. open returns an empty one each time, whose claims last for the whole test: a minute
// is enough. Each rule is a subtest.
func Run(t *testing.T, open func(t *testing.T) webhook.Store) {
	t.Helper()
	run(t, rules, open)
}

// RunLeases tests that claims expire, and the calls after that. open returns an empty store each time, whose
// claims last for a second or a few: the tests wait until they expire, and on a slow machine make several calls
// within one lease.
func RunLeases(t *testing.T, open func(t *testing.T) webhook.Store) {
	t.Helper()
	run(t, leaseRules, open)
}

// rule holds for every store. Each of its steps returns the violation, if any.
type rule struct {
	name  string
	steps []step
}

type step func(ctx context.Context, store webhook.Store) error

func run(t *testing.T, rules []rule, open func(t *testing.T) webhook.Store) {
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

// check returns the first violation.
func (r rule) check(ctx context.Context, store webhook.Store) error {
	for n, step := range r.steps {
		if err := step(ctx, store); err != nil {
			return fmt.Errorf("step %d: %w", n+1, err)
		}
	}
	return nil
}

// claim expects the state of an id when it is claimed.
func claim(id, claim string, want webhook.ClaimState) step {
	return func(ctx context.Context, store webhook.Store) error {
		got, err := store.Claim(ctx, id, claim)
		if err == nil && got != want {
			err = fmt.Errorf("is %s, want %s", stateName(got), stateName(want))
		}
		return wrap(err, "Claim", id, claim)
	}
}

func accept(id, claim string) step {
	return func(ctx context.Context, store webhook.Store) error {
		return wrap(store.Accept(ctx, id, claim), "Accept", id, claim)
	}
}

// acceptLost expects that the claim has expired.
func acceptLost(id, claim string) step {
	return func(ctx context.Context, store webhook.Store) error {
		err := store.Accept(ctx, id, claim)
		if errors.Is(err, webhook.ErrClaimLost) {
			return nil
		}
		return wrap(fmt.Errorf("the id is another's, and the error is %w, want ErrClaimLost", err), "Accept", id, claim)
	}
}

// release releases the claim of the id "a".
func release(claim string) step {
	const id = "a"
	return func(ctx context.Context, store webhook.Store) error {
		return wrap(store.Release(ctx, id, claim), "Release", id, claim)
	}
}

// taken waits until the claim of an id has expired, and the other claim has the id.
func taken(id, other string) step {
	return func(ctx context.Context, store webhook.Store) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for {
			got, err := store.Claim(ctx, id, other)
			if err != nil || got == webhook.Claimed {
				return wrap(err, "Claim", id, other)
			}
			select {
			case <-again.C:
			case <-ctx.Done():
				return wrap(fmt.Errorf("still %s after a minute: the previous claim does not expire", stateName(got)), "Claim", id,
					other)
			}
		}
	}
}

func wrap(err error, call, id, claim string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s(%.20q, %q): %w", call, id, claim, err)
}

func stateName(s webhook.ClaimState) string {
	names := map[webhook.ClaimState]string{webhook.Claimed: "Claimed", webhook.Pending: "Pending",
		webhook.Accepted: "Accepted"}
	if name, ok := names[s]; ok {
		return name
	}
	return fmt.Sprintf("%d, which is not a state", s)
}
