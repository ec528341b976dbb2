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

// Store remembers which notifications were accepted, so that a [Receiver] recognizes duplicates.
// Implementations must be safe for concurrent use.
//
// The id of a notification is the delivery's id and a hash of the body, so that the same delivery id with another body
// is another notification. If a service sends another body each time it sends a notification again, each one is
// handled, and the handler must be idempotent.
//
// A claim is a random text that a [Receiver] makes for each delivery, so that a store can distinguish deliveries. In a
// store that several machines share, a claim expires after a lease, and the next delivery can claim the notification,
// because the first machine may have died. A handler that takes longer than the lease can therefore run twice. Accept
// and Release with an expired claim do not change the claim that replaced it.
//
// [MemoryStore] is for one process, [FileStore] for one machine, and the nested module stores has one in PostgreSQL and
// one in Redis for several machines. Package storetest tests an implementation.
type Store interface {
	// Claim returns the state of an id, and gives the id to the claim if no other claim has it. The same claim returns
	// [Claimed] again, so that a call whose result was lost can be retried. An accepted id is remembered for as long
	// as the service may send it again.
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
var ErrClaimLost = errors.New("webhook: the claim expired before its handler returned, and another delivery claimed " +
	"the notification: use a lease that is longer than a handler takes")

// MemoryStore is a [Store] for one process. Make one with [NewMemoryStore].
type MemoryStore struct {
	limit int
	keep  time.Duration
	mu    sync.Mutex
	ids   bounded[*remembered]
}

type remembered struct {
	at       time.Time
	claim    string
	accepted bool
}

// StoreOptions configures how much a [MemoryStore] or a [FileStore] remembers. Zero means the default.
type StoreOptions struct {
	// Limit is how many ids are remembered, claims included (100,000). The oldest is forgotten first.
	Limit int
	// Keep is how long an id is remembered (72 hours): for as long as the service may send the notification again.
	Keep time.Duration
}

// NewMemoryStore returns an empty store.
func NewMemoryStore(options StoreOptions) *MemoryStore {
	if options.Limit <= 0 {
		options.Limit = 100_000
	}
	if options.Keep <= 0 {
		options.Keep = 72 * time.Hour
	}
	return &MemoryStore{limit: options.Limit, keep: options.Keep}
}

// Claim implements [Store].
func (s *MemoryStore) Claim(_ context.Context, id, claim string) (ClaimState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch known := s.known(id); {
	case known == nil:
		s.remember(id, &remembered{at: time.Now(), claim: claim})
		return Claimed, nil
	case known.accepted:
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

// accept records that a notification was accepted. It returns when the notification was claimed, and whether it was not
// accepted before.
func (s *MemoryStore) accept(id, claim string) (at time.Time, added bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known(id)
	switch {
	case known == nil:
		known = &remembered{at: time.Now()}
		s.remember(id, known)
	case known.accepted:
		return at, false, nil
	case known.claim != claim:
		return at, false, ErrClaimLost
	}
	known.accepted = true
	return known.at, true, nil
}

// Release implements [Store].
func (s *MemoryStore) Release(_ context.Context, id, claim string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known(id); known != nil && known.claim == claim && !known.accepted {
		s.ids.remove(id)
	}
	return nil
}

// known returns the entry of an id, or nil if it has expired or does not exist.
func (s *MemoryStore) known(id string) *remembered {
	known, found := s.ids.get(id)
	if !found || s.expired(known.at) {
		return nil
	}
	return known
}

func (s *MemoryStore) expired(at time.Time) bool { return time.Since(at) >= s.keep }

// remember adds an id, and removes those that have expired.
func (s *MemoryStore) remember(id string, added *remembered) {
	for id, known := range s.ids.all() {
		if !s.expired(known.at) {
			break
		}
		s.ids.remove(id)
	}
	s.ids.set(id, added, s.limit)
}

// load adds accepted ids, unless they have expired.
func (s *MemoryStore) load(entries []storeEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if !s.expired(e.at) {
			s.remember(e.id, &remembered{at: e.at, accepted: true})
		}
	}
}

// accepted returns the accepted ids that are remembered, oldest first.
func (s *MemoryStore) accepted() (entries []storeEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, known := range s.ids.all() {
		if known.accepted && !s.expired(known.at) {
			entries = append(entries, storeEntry{id, known.at})
		}
	}
	return entries
}
