package webhook

import (
	"context"
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

// Store remembers which notifications were accepted. Implementations must be safe for concurrent use,
// and one that several machines share gives a notification to one of them at a time. There a claim has to
// end by itself when its machine has died; a handler that takes longer than that may run twice.
type Store interface {
	// Claim says how an id stands, and claims it if nobody has. An accepted id is remembered for as long
	// as the service may send it again.
	Claim(ctx context.Context, id string) (Standing, error)
	// Accept remembers that the notification was accepted.
	Accept(ctx context.Context, id string) error
	// Release forgets a claim that came to nothing. An id that was accepted stays accepted.
	Release(ctx context.Context, id string) error
}

// MemoryStore is a [Store] for one process. Make one with [NewMemoryStore].
type MemoryStore struct {
	limit  int
	keep   time.Duration
	mu     sync.Mutex
	ids    map[string]remembered
	oldest []string // in the order of their claims, released ones included
}

type remembered struct {
	until    time.Time
	accepted bool
}

// NewMemoryStore remembers up to limit ids (0: 100,000), each for as long as keep (0: 72 hours). When
// it is full the oldest goes first.
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
func (s *MemoryStore) Claim(_ context.Context, id string) (Standing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch known := s.ids[id]; {
	case !now.Before(known.until): // never claimed, or over its time
	case known.accepted:
		return Accepted, nil
	default:
		return Pending, nil
	}
	s.forget(now)
	s.ids[id] = remembered{until: now.Add(s.keep)}
	s.oldest = append(s.oldest, id)
	return Claimed, nil
}

// Accept implements [Store].
func (s *MemoryStore) Accept(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.ids[id]; ok {
		known.accepted = true
		s.ids[id] = known
	}
	return nil
}

// Release implements [Store].
func (s *MemoryStore) Release(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ids[id].accepted {
		delete(s.ids, id)
	}
	return nil
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
