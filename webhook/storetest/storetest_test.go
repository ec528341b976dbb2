package storetest

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/webhook"
)

// leasing is a store whose claims last for a second, with mistakes that are easily made.
type leasing struct {
	mistake string
	mu      sync.Mutex
	ids     map[string]entry
}

type entry struct {
	claim    string
	accepted bool
	until    time.Time
}

func newLeasing(mistake string) *leasing { return &leasing{mistake: mistake, ids: map[string]entry{}} }

func (s *leasing) makes(mistake string) bool { return s.mistake == mistake }

func (s *leasing) key(id string) string {
	switch {
	case s.makes("folds case"):
		return strings.ToLower(id)
	case s.makes("cuts ids"):
		return id[:min(len(id), 255)]
	}
	return id
}

func (s *leasing) known(id string) (entry, bool) {
	e, ok := s.ids[s.key(id)]
	ends := (!e.accepted || s.makes("forgets with the lease")) && !s.makes("never lets go")
	return e, ok && !(ends && !time.Now().Before(e.until))
}

func (s *leasing) write(id string, e entry) {
	e.until = time.Now().Add(time.Second)
	s.ids[s.key(id)] = e
}

func (s *leasing) Claim(_ context.Context, id, claim string) (webhook.ClaimState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.known(id)
	if s.makes("looks, then writes") {
		s.mu.Unlock()
		for range 100 {
			runtime.Gosched()
		}
		s.mu.Lock()
	}
	switch {
	case ok && e.accepted, ok && s.makes("answers for who still tries"):
		return webhook.Accepted, nil
	case ok && (e.claim != claim || s.makes("forgets who claimed")):
		return webhook.Pending, nil
	}
	s.write(id, entry{claim: claim})
	return webhook.Claimed, nil
}

func (s *leasing) Accept(_ context.Context, id, claim string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e, ok := s.known(id); {
	case ok && !e.accepted && e.claim != claim && !s.makes("accepts for anyone"),
		ok && e.accepted && s.makes("accepts once"), !ok && s.makes("accepts no ended claim"):
		return webhook.ErrClaimLost
	}
	s.write(id, entry{accepted: true})
	return nil
}

func (s *leasing) Release(_ context.Context, id, claim string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.known(id)
	if ok && (!e.accepted && (e.claim == claim || s.makes("releases for anyone")) || e.accepted &&
		s.makes("releases what was accepted")) {
		delete(s.ids, s.key(id))
	}
	return nil
}

// broken names the rules that a store breaks.
func broken(t *testing.T, rules []rule, open func() webhook.Store) (names []string) {
	t.Helper()
	for _, rule := range rules {
		if shippingtest.Violates(t, func(v *shippingtest.Violation) { rule.check(store{v, open()}) }) {
			names = append(names, rule.name)
		}
	}
	return names
}

func TestRules_FindTheMistakesThatAreEasilyMade(t *testing.T) {
	t.Parallel()
	for mistake, rule := range map[string]string{
		"looks, then writes":          "of many claims at once one succeeds",
		"folds case":                  "any text is an id",
		"cuts ids":                    "any text is an id",
		"forgets who claimed":         "a claim may be repeated",
		"answers for who still tries": "an id is claimed once",
		"accepts for anyone":          "another claim accepts nothing",
		"accepts once":                "accepting may be repeated",
		"accepts no ended claim":      "an id without a claim can be accepted",
		"releases for anyone":         "another claim releases nothing",
		"releases what was accepted":  "an accepted id stays accepted when it is released",
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			if found := broken(t, rules, func() webhook.Store { return newLeasing(mistake) }); !slices.Contains(found, rule) {
				t.Errorf("broken %q, want %q among them", found, rule)
			}
		})
	}
}

// A claim that outlives its lease would keep an id from the other machines; one that is accepted or released after it
// would end the claim of another.
func TestLeaseRules_FindClaimsThatEndWrongly(t *testing.T) {
	t.Parallel()
	for mistake, want := range map[string][]string{
		"":                       nil,
		"never lets go":          {leaseRules[0].name, leaseRules[1].name, leaseRules[2].name},
		"accepts for anyone":     {leaseRules[0].name},
		"releases for anyone":    {leaseRules[0].name},
		"accepts no ended claim": {leaseRules[1].name},
		"forgets with the lease": {leaseRules[2].name},
	} {
		synctest.Test(t, func(t *testing.T) {
			if found := broken(t, leaseRules, func() webhook.Store { return newLeasing(mistake) }); !slices.Equal(found, want) {
				t.Errorf("%s: broken %q, want %q", mistake, found, want)
			}
		})
	}
}
