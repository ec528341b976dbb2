package webhook

import (
	"context"
	"sync"
	"time"
)

// Store remembers which notifications were accepted. Implementations must be safe for concurrent use,
// and one that several machines share makes sure that only one of them accepts a notification.
type Store interface {
	// Claim reports whether id is claimed now for the first time. An id is remembered for as long as
	// the service may send it again.
	Claim(ctx context.Context, id string) (first bool, err error)
	// Release forgets a claim whose notification was not accepted after all.
	Release(ctx context.Context, id string) error
}

// MemoryStore is a [Store] for one process. Make one with [NewMemoryStore].
type MemoryStore struct {
	limit  int
	keep   time.Duration
	mu     sync.Mutex
	until  map[string]time.Time
	oldest []string // in the order of their claims, released ones included
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
	return &MemoryStore{limit: limit, keep: keep, until: map[string]time.Time{}}
}

// Claim implements [Store].
func (s *MemoryStore) Claim(_ context.Context, id string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.until[id]) {
		return false, nil
	}
	s.forget(now)
	s.until[id] = now.Add(s.keep)
	s.oldest = append(s.oldest, id)
	return true, nil
}

// Release implements [Store].
func (s *MemoryStore) Release(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.until, id)
	return nil
}

// forget makes room: what is over its time, and the oldest while there are too many.
func (s *MemoryStore) forget(now time.Time) {
	for len(s.oldest) > 0 {
		id := s.oldest[0]
		until, known := s.until[id]
		if known && now.Before(until) && len(s.until) < s.limit && len(s.oldest) < 2*s.limit {
			return
		}
		delete(s.until, id)
		s.oldest = s.oldest[1:]
	}
}
