// Package pgstore stores in PostgreSQL the journal of a batch ([NewBatchJournal]) and the notifications that webhook
// receivers accepted ([NewWebhookStore]), for several machines. Call [Migrate] once before.
package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schema is created by Migrate. Columns hold the values that are searched or added up; a record is stored whole.
const schema = `
CREATE TABLE IF NOT EXISTS shipping_batch_item (
	batch     text   NOT NULL,
	key       text   NOT NULL,
	fence     bigint NOT NULL,    -- the number of the claim that may write
	until     timestamptz,        -- when the claim ends; null: released
	record    jsonb,              -- the last record
	committed numeric,            -- what it counts for against a budget
	currency  text,
	PRIMARY KEY (batch, key)
);
CREATE TABLE IF NOT EXISTS shipping_webhook (
	receiver text NOT NULL,
	id       text NOT NULL,
	claim    text,                -- who has it; null: accepted
	until    timestamptz NOT NULL, -- when it is forgotten
	PRIMARY KEY (receiver, id)
);
CREATE INDEX IF NOT EXISTS shipping_webhook_until ON shipping_webhook (until);
`

// migrated reports whether the first schema of the search_path has all of the schema above.
const migrated = `
SELECT bool_and(to_regclass(quote_ident(current_schema()) || '.' || name) IS NOT NULL)
FROM unnest(ARRAY['shipping_batch_item', 'shipping_webhook', 'shipping_webhook_until']) AS name`

// Migrate creates the tables shipping_batch_item and shipping_webhook in the first schema of the
// connection's search_path. It leaves what exists as it is, and may run on several machines at once. The
// user needs the right to create tables only if one is missing.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	return durably(ctx, pool, func(tx pgx.Tx) error {
		if err := lock(ctx, tx, "migrate"); err != nil {
			return err
		}
		var done bool
		if err := tx.QueryRow(ctx, migrated).Scan(&done); err != nil || done {
			return err
		}
		_, err := tx.Exec(ctx, schema)
		return err
	})
}

// The limits of a transaction, set on the server, so that they hold for a machine that vanished too: its
// connection stays open until TCP gives up, which can take hours.
const (
	idleLimit = "10s" // between two statements, with the locks of the first
	lockLimit = "60s" // of the wait for a lock
)

// durably runs do in one transaction that survives a crash of the machine once it is committed, also
// on a server that does not wait for its disk by default. Each statement sees the transactions that were
// committed before it began, so that a sum taken under a lock is current. If this machine vanishes in the
// middle, the server ends the transaction after idleLimit.
func durably(ctx context.Context, pool *pgxpool.Pool, do func(pgx.Tx) error) error {
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			SELECT set_config('idle_in_transaction_session_timeout', $1, true), set_config('lock_timeout', $2, true),
				CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`,
			idleLimit, lockLimit)
		if err != nil {
			return err
		}
		return do(tx)
	})
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == undefinedTable {
		return fmt.Errorf("pgstore: the tables are not there, or not in the search_path; call pgstore.Migrate once before: %w", err)
	}
	return err
}

// undefinedTable is PostgreSQL's code for a table that is not there.
const undefinedTable = "42P01"

// lock waits until no other transaction holds the lock of that name; it is held to the end of this one.
func lock(ctx context.Context, tx pgx.Tx, name string) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('shipping ' || $1, 0))`, name)
	return err
}
