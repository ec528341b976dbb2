package webhook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Standing is what a [Store] knows of a notification that is to be claimed.
type Standing int

const (
	// Claimed is a notification that is the caller's now: it ends in Accept or Release.
	Claimed Standing = iota + 1
	// Pending is one that somebody else has claimed and neither accepted nor released. It may still fail
	// there, so that it must not be answered as if it were in good hands.
	Pending
	// Accepted is one that was accepted before.
	Accepted
)

// Store remembers which notifications were accepted. Implementations must be safe for concurrent use.
//
// A claim is a text that a [Receiver] makes up for each delivery, so that a store can tell who asks. A
// store that several machines share lets a claim end by itself when its machine has died, and gives the
// notification to the next that asks; a handler that takes longer than that may run twice. Whoever lost
// a claim that way can no longer end the one that took its place.
//
// Package storetest holds an implementation against this; the nested module stores has one on
// PostgreSQL and one on Redis.
type Store interface {
	// Claim says how an id stands, and gives it to the claim if nobody has it. The same claim again is
	// [Claimed] again, so that one whose answer was lost may be repeated. An accepted id is remembered for
	// as long as the service may send it again.
	Claim(ctx context.Context, id, claim string) (Standing, error)
	// Accept remembers that the notification was accepted, also when the claim has ended by itself. While
	// another claim has the id, nothing changes and the error is [ErrClaimLost].
	Accept(ctx context.Context, id, claim string) error
	// Release gives back an id that the claim has; otherwise it does nothing. An id that was accepted
	// stays accepted.
	Release(ctx context.Context, id, claim string) error
}

// ErrClaimLost is a claim that ended by itself before its handler did, so that another delivery of the
// notification was given to somebody else: it is handled twice. Have the store keep claims for longer
// than a handler takes.
var ErrClaimLost = errors.New("webhook: the claim ended before its handler did, and the notification was given to another: " +
	"let claims last longer than a handler takes")

// MemoryStore is a [Store] for one process. Make one with [NewMemoryStore].
type MemoryStore struct {
	limit  int
	keep   time.Duration
	mu     sync.Mutex
	ids    map[string]remembered
	oldest []string // in the order they came, released ones included
}

type remembered struct {
	until time.Time
	claim string // empty once it was accepted
}

// NewMemoryStore remembers up to limit ids (0: 100,000), each for as long as keep (0: 72 hours), claims
// too: they end with the process. When it is full the oldest goes first.
func NewMemoryStore(limit int, keep time.Duration) *MemoryStore {
	if limit <= 0 {
		limit = 100_000
	}
	if keep <= 0 {
		keep = 72 * time.Hour
	}
	return &MemoryStore{limit: limit, keep: keep, ids: map[string]remembered{}}
}

// Claim implements [Store].
func (s *MemoryStore) Claim(_ context.Context, id, claim string) (Standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known, ok := s.known(id); {
	case !ok:
		s.remember(id, claim)
		return Claimed, nil
	case known.claim == "":
		return Accepted, nil
	case known.claim == claim:
		return Claimed, nil
	}
	return Pending, nil
}

// Accept implements [Store].
func (s *MemoryStore) Accept(_ context.Context, id, claim string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known, ok := s.known(id); {
	case !ok:
		s.remember(id, "")
	case known.claim == claim:
		s.ids[id] = remembered{until: known.until}
	case known.claim != "":
		return ErrClaimLost
	}
	return nil
}

// Release implements [Store].
func (s *MemoryStore) Release(_ context.Context, id, claim string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known(id); ok && known.claim == claim && claim != "" {
		delete(s.ids, id)
	}
	return nil
}

// known returns what is remembered of an id, unless it is over its time.
func (s *MemoryStore) known(id string) (remembered, bool) {
	known, ok := s.ids[id]
	return known, ok && time.Now().Before(known.until)
}

func (s *MemoryStore) remember(id, claim string) {
	now := time.Now()
	s.forget(now)
	s.ids[id] = remembered{until: now.Add(s.keep), claim: claim}
	s.oldest = append(s.oldest, id)
}

// forget makes room: what is over its time, and the oldest while there are too many.
func (s *MemoryStore) forget(now time.Time) {
	for len(s.oldest) > 0 {
		id := s.oldest[0]
		known, ok := s.ids[id]
		if ok && now.Before(known.until) && len(s.ids) < s.limit && len(s.oldest) < 2*s.limit {
			return
		}
		delete(s.ids, id)
		s.oldest = s.oldest[1:]
	}
}
