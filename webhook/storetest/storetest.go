// Package storetest tests implementations of [webhook.Store].
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) webhook.Store { return newStore(t, 2*time.Minute) })
//		storetest.RunLeases(t, func(t *testing.T) webhook.Store { return newStore(t, 2*time.Second) })
//	}
//
// [Run] is for every store, [RunLeases] for those of several machines, with claims that expire.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// Run tests a store. Each time, open returns an empty store whose claims last for the whole test: a minute is
// enough. Each rule is a subtest.
func Run(t *testing.T, open func(t *testing.T) webhook.Store) {
	t.Helper()
	run(t, rules, open)
}

// RunLeases tests that claims expire, and the calls after that. Each time, open returns an empty store whose claims
// last for a second or a few: the tests wait until they expire, and on a slow machine make several calls within one
// lease.
func RunLeases(t *testing.T, open func(t *testing.T) webhook.Store) {
	t.Helper()
	run(t, leaseRules, open)
}

// rule holds for every store.
type rule struct {
	name  string
	check func(s store)
}

func run(t *testing.T, rules []rule, open func(t *testing.T) webhook.Store) {
	t.Helper()
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			rule.check(store{t, open(t)})
		})
	}
}

// store is a store under test. A method that finds a violation ends the test.
type store struct {
	t interface {
		Context() context.Context
		Errorf(format string, args ...any)
		Fatalf(format string, args ...any)
	}
	webhook.Store
}

// claim expects the state of an id when it is claimed.
func (s store) claim(id, claim string, want webhook.ClaimState) {
	got, err := s.Claim(s.t.Context(), id, claim)
	if err != nil || got != want {
		s.t.Fatalf("Claim(%.20q, %q) is %s, %v; want %s", id, claim, stateName(got), err, stateName(want))
	}
}

func (s store) accept(id, claim string) {
	if err := s.Accept(s.t.Context(), id, claim); err != nil {
		s.t.Fatalf("Accept(%.20q, %q): %v", id, claim, err)
	}
}

// acceptLost expects that the claim has expired.
func (s store) acceptLost(id, claim string) {
	if err := s.Accept(s.t.Context(), id, claim); !errors.Is(err, webhook.ErrClaimLost) {
		s.t.Fatalf("Accept(%.20q, %q): the id is another's, and the error is %v, want ErrClaimLost", id, claim, err)
	}
}

// release releases the claim of the id "a".
func (s store) release(claim string) {
	if err := s.Release(s.t.Context(), "a", claim); err != nil {
		s.t.Fatalf("Release(%q, %q): %v", "a", claim, err)
	}
}

// taken lets the claim of an id expire, and waits until another claim gets the id.
func (s store) taken(id, other string) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; <-again.C {
		got, err := s.Claim(s.t.Context(), id, other)
		switch {
		case err == nil && got == webhook.Claimed:
			return
		case err != nil || time.Since(began) > time.Minute:
			s.t.Fatalf("Claim(%.20q, %q) is %s, %v after %s: the previous claim does not expire", id, other, stateName(got), err,
				time.Since(began))
		}
	}
}

func stateName(s webhook.ClaimState) string {
	names := map[webhook.ClaimState]string{webhook.Claimed: "Claimed", webhook.Pending: "Pending",
		webhook.Accepted: "Accepted"}
	if name, ok := names[s]; ok {
		return name
	}
	return fmt.Sprintf("%d, which is not a state", s)
}
