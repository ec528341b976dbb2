// Package redisstore stores in Redis which notifications webhook receivers accepted, for several machines.
package redisstore

import (
	"context"
	"net/url"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/shipping-go/shipping/webhook"
)

// Store is a [webhook.Store] that any number of machines share. Make one with [New].
//
// Each notification is a key, which Redis expires by its own clock; one script reads and writes it. go-redis
// retries calls whose connection ended; calls are idempotent.
//
// It is as durable as Redis: a failover to a replica, or a crash of a Redis that does not write to its disk at
// once, loses the last writes. A Redis that evicts keys when its memory is full can lose any. A notification whose
// key is lost is handled again if it is sent again. No unhandled notification is lost that way.
type Store struct {
	client  redis.Scripter
	prefix  string
	options Options
}

// Options configures how long a [Store] remembers. Zero means the default.
type Options struct {
	// Lease is the time after which a claim expires (2 minutes). A handler that takes longer may run twice; see
	// [webhook.ErrClaimLost].
	Lease time.Duration
	// Keep is how long an accepted notification is remembered (72 hours): for as long as the service may
	// send it again.
	Keep time.Duration
}

// New returns the store of the receiver of that name, which is the prefix of its keys. Machines that share the work use
// the same name. Receivers with different names each get every notification. The client is one of go-redis, for a
// server, a sentinel or a cluster. Set ContextTimeoutEnabled in its options: without it, a call to a Redis that cannot
// be reached outlasts its context, until the timeouts of the client have passed.
func New(client redis.Scripter, receiver string, options Options) *Store {
	if options.Lease <= 0 {
		options.Lease = 2 * time.Minute
	}
	if options.Keep <= 0 {
		options.Keep = 72 * time.Hour
	}
	return &Store{client: client, prefix: "shipping:webhook:" + url.QueryEscape(receiver) + ":", options: options}
}

// A key holds "accepted", or "claim " and the claim. Each script gets the claim in that form, and how many
// milliseconds the key lasts from now.
var (
	claimScript = redis.NewScript(`
		local known = redis.call('GET', KEYS[1])
		if known == 'accepted' then return 'accepted' end
		if known and known ~= ARGV[1] then return 'pending' end
		redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
		return 'claimed'`)
	acceptScript = redis.NewScript(`
		local known = redis.call('GET', KEYS[1])
		if known and known ~= ARGV[1] and known ~= 'accepted' then return 'lost' end
		redis.call('SET', KEYS[1], 'accepted', 'PX', ARGV[2])
		return 'accepted'`)
	releaseScript = redis.NewScript(`
		if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
		return 'released'`)
)

// Claim implements [webhook.Store].
func (s *Store) Claim(ctx context.Context, id, claim string) (webhook.ClaimState, error) {
	answer, err := s.run(ctx, claimScript, id, claim, s.options.Lease)
	switch {
	case err != nil:
		return 0, err
	case answer == "claimed":
		return webhook.Claimed, nil
	case answer == "accepted":
		return webhook.Accepted, nil
	}
	return webhook.Pending, nil
}

// Accept implements [webhook.Store].
func (s *Store) Accept(ctx context.Context, id, claim string) error {
	answer, err := s.run(ctx, acceptScript, id, claim, s.options.Keep)
	if answer == "lost" {
		return webhook.ErrClaimLost
	}
	return err
}

// Release implements [webhook.Store].
func (s *Store) Release(ctx context.Context, id, claim string) error {
	_, err := s.run(ctx, releaseScript, id, claim, 0)
	return err
}

// run sends the hash of a script, and the script only if this Redis does not have it yet.
func (s *Store) run(ctx context.Context, script *redis.Script, id, claim string, lasts time.Duration) (string, error) {
	return script.Run(ctx, s.client, []string{s.prefix + id}, "claim "+claim, lasts.Milliseconds()).Text()
}
