package webhook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ClaimState is the state of a notification in a [Store] when it is claimed.
type ClaimState int

const (
	// Claimed: the caller has claimed the notification, and ends its claim with Accept or Release.
	Claimed ClaimState = iota + 1
	// Pending: another claim has it. Its handler may still fail, so the receiver must not respond that the
	// notification is accepted.
	Pending
	// Accepted: it was accepted before.
	Accepted
)

// Store remembers which notifications were accepted, so that a [Receiver] recognizes duplicates; see Receiver.accept.
// Implementations must be safe for concurrent use.
//
// A claim is a random text that a [Receiver] makes for each delivery, so that a store can distinguish the callers.
// In a store that several machines share, a claim expires after a lease, and the next delivery can claim the
// notification, because the first machine may have died. A handler that takes longer than the lease can therefore run
// twice. Accept and Release with an expired claim do not change the claim that replaced it.
//
// [MemoryStore] is for one process, [FileStore] for one machine, and the nested module stores has one in PostgreSQL and
// one in Redis for several machines. Package storetest tests an implementation.
type Store interface {
	// Claim returns the state of an id, and gives the id to the claim if no other claim has it. The same claim
	// again returns [Claimed] again, so that a call whose result was lost can be retried. An accepted id is
	// remembered for as long as the service may send it again.
	Claim(ctx context.Context, id, claim string) (ClaimState, error)
	// Accept records that the notification was accepted, even if the claim has expired. If another claim has the
	// id, nothing changes and the error is [ErrClaimLost].
	Accept(ctx context.Context, id, claim string) error
	// Release gives back an id that the claim has; otherwise it does nothing. An id that was accepted
	// stays accepted.
	Release(ctx context.Context, id, claim string) error
}

// ErrClaimLost is returned if a claim expired before its handler returned, and another delivery claimed the
// notification, which is then handled twice. Use a lease that is longer than the handler takes.
var ErrClaimLost = errors.New("webhook: the claim expired before its handler returned, and another delivery claimed the notification: " +
	"use a lease that is longer than a handler takes")

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

// NewMemoryStore returns a store that remembers up to limit ids (0: 100,000), each for the time keep (0: 72 hours),
// claims included. If it is full, the oldest is forgotten first.
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
func (s *MemoryStore) Claim(_ context.Context, id, claim string) (ClaimState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known, ok := s.known(id); {
	case !ok:
		s.remember(id, claim, time.Now())
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
	_, _, err := s.accept(id, claim)
	return err
}

// accept records that a notification was accepted, and returns when it was claimed and whether that is new.
func (s *MemoryStore) accept(id, claim string) (at time.Time, added bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known, ok := s.known(id); {
	case !ok:
		s.remember(id, "", time.Now())
	case known.claim == claim && claim != "":
		s.ids[id] = remembered{until: known.until}
	case known.claim != "":
		return at, false, ErrClaimLost
	default:
		return at, false, nil
	}
	return s.ids[id].until.Add(-s.keep), true, nil
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

// known returns the entry of an id, unless it has expired.
func (s *MemoryStore) known(id string) (remembered, bool) {
	known, ok := s.ids[id]
	return known, ok && time.Now().Before(known.until)
}

// remember adds an id that was claimed at a time; an empty claim means that it was accepted.
func (s *MemoryStore) remember(id, claim string, at time.Time) {
	s.forget(time.Now())
	s.ids[id] = remembered{until: at.Add(s.keep), claim: claim}
	s.oldest = append(s.oldest, id)
}

// load adds an id that was accepted at a time, unless it is no longer remembered.
func (s *MemoryStore) load(id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(at.Add(s.keep)) {
		s.remember(id, "", at)
	}
}

// accepted returns the accepted ids that are remembered, oldest first.
func (s *MemoryStore) accepted() []storeEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var entries []storeEntry
	listed := map[string]bool{}
	for _, id := range s.oldest {
		if known, ok := s.known(id); ok && known.claim == "" && !listed[id] {
			listed[id] = true
			entries = append(entries, storeEntry{id, known.until.Add(-s.keep)})
		}
	}
	return entries
}

// forget removes expired entries, and the oldest while there are too many.
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
