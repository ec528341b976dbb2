package pgstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping/webhook"
)

// WebhookStore is a [webhook.Store] that any number of machines share. Make one with [NewWebhookStore].
//
// Its rows survive a crash of the database. Times are those of the database's clock. A call is retried for up to 5
// seconds if its connection ends, or it fails for another reason that may pass: a notification that was handled but
// not recorded would be handled again. Calls are idempotent. Claim fails at once if PostgreSQL refuses the pool its
// first connection.
type WebhookStore struct {
	pool     *pgxpool.Pool
	receiver string
	options  WebhookOptions
}

// WebhookOptions configures how long a [WebhookStore] remembers. Zero means the default.
type WebhookOptions struct {
	// Lease is the time after which a claim expires (2 minutes). A handler that takes longer may run twice; see
	// [webhook.ErrClaimLost]. It should be the same on every machine.
	Lease time.Duration
	// Keep is how long an accepted notification is remembered (72 hours): for as long as the service may
	// send it again.
	Keep time.Duration
}

// NewWebhookStore returns the store of the receiver of that name. Machines that share the work use the same name.
// Receivers with different names each get every notification.
func NewWebhookStore(pool *pgxpool.Pool, receiver string, options WebhookOptions) *WebhookStore {
	if options.Lease <= 0 {
		options.Lease = 2 * time.Minute
	}
	if options.Keep <= 0 {
		options.Keep = 72 * time.Hour
	}
	return &WebhookStore{pool: pool, receiver: column(receiver), options: options}
}

// Claim implements [webhook.Store]. A new claim also deletes two expired rows, so that the table does not grow.
func (s *WebhookStore) Claim(ctx context.Context, id, claim string) (state webhook.ClaimState, err error) {
	passing := func(err error) bool { return transient(err) && !s.refused(err) }
	err = while(passing, ctx, s.pool, s.options.Lease, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO shipping_webhook AS known (receiver, id, claim, until)
			VALUES ($1, $2, $3, clock_timestamp() + $4::interval)
			ON CONFLICT (receiver, id) DO UPDATE SET claim = excluded.claim, until = excluded.until
			WHERE known.claim = excluded.claim OR known.until <= clock_timestamp()`,
			s.receiver, column(id), claim, s.options.Lease)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 1 {
			state = webhook.Claimed
			_, err = tx.Exec(ctx, `
				WITH over AS MATERIALIZED (
					SELECT receiver, id FROM shipping_webhook WHERE until <= clock_timestamp()
					ORDER BY until LIMIT 2 FOR UPDATE SKIP LOCKED)
				DELETE FROM shipping_webhook AS known USING over
				WHERE known.receiver = over.receiver AND known.id = over.id`)
			return err
		}
		// A missing row was released or has expired: the next delivery finds out.
		state = webhook.Pending
		var accepted bool
		err = tx.QueryRow(ctx, `SELECT claim IS NULL FROM shipping_webhook WHERE receiver = $1 AND id = $2`,
			s.receiver, column(id)).Scan(&accepted)
		if accepted {
			state = webhook.Accepted
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return state, nil
}

// refused reports whether PostgreSQL refused a connection because there are too many, and the pool has none that could
// become free. Nothing is handled yet, so that the delivery need not be held: the service sends it again.
func (s *WebhookStore) refused(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	open := s.pool.Stat()
	return ok && answer.Code == tooManyConnections && open.AcquiredConns()+open.IdleConns() == 0
}

// tooManyConnections is PostgreSQL's code for a connection that exceeds a limit.
const tooManyConnections = "53300"

// Accept implements [webhook.Store].
func (s *WebhookStore) Accept(ctx context.Context, id, claim string) error {
	return again(ctx, s.pool, s.options.Lease, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			INSERT INTO shipping_webhook AS known (receiver, id, until)
			VALUES ($1, $2, clock_timestamp() + $4::interval)
			ON CONFLICT (receiver, id) DO UPDATE SET claim = NULL, until = excluded.until
			WHERE known.claim IS NULL OR known.claim = $3 OR known.until <= clock_timestamp()`,
			s.receiver, column(id), claim, s.options.Keep)
		if err == nil && tag.RowsAffected() == 0 {
			return refusal{webhook.ErrClaimLost}
		}
		return err
	})
}

// Release implements [webhook.Store].
func (s *WebhookStore) Release(ctx context.Context, id, claim string) error {
	return again(ctx, s.pool, s.options.Lease, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM shipping_webhook WHERE receiver = $1 AND id = $2 AND claim = $3`,
			s.receiver, column(id), claim)
		return err
	})
}

// column returns an id or a name in the form in which it is stored. A column and its index cannot hold a long text, or
// bytes that are not text: column returns their hash.
func column(text string) string {
	if len(text) <= 256 && utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256: " + hex.EncodeToString(sum[:])
}
