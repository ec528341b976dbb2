// Package pgstore stores in PostgreSQL the journal of a batch ([NewBatchJournal]) and the notifications that webhook
// receivers accepted ([NewWebhookStore]), for several machines. Call [Migrate] first.
package pgstore

import (
	"context"
	_ "embed" // the SQL of Migrate
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping/internal/wait"
)

//go:embed schema.sql
var schema string

// Schema returns the SQL that [Migrate] executes if a table is missing, for a migration tool. It creates what is
// missing in the first schema of the search_path and brings tables of earlier versions up to date. It may be executed
// again.
func Schema() string { return schema }

//go:embed lacking.sql
var lacking string

// Migrate creates the tables shipping_batch_item, shipping_batch_total and shipping_webhook in the first schema of the
// connection's search_path, and brings those of an earlier version up to date. It may run on several machines at once.
// If a table or an index is missing, and only then, the user must own the tables and have the right to create. Tables
// of these names with other columns or keys are an error.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	return durably(ctx, pool, longestLimit, func(tx pgx.Tx) error {
		if err := lock(ctx, tx, "migrate"); err != nil {
			return err
		}
		lacks, missing := "", false
		if err := tx.QueryRow(ctx, lacking).Scan(&lacks, &missing); err != nil || lacks == "" {
			return err
		}
		if missing {
			if _, err := tx.Exec(ctx, schema); err != nil {
				return mayNotCreate(err)
			}
			if err := tx.QueryRow(ctx, lacking).Scan(&lacks, &missing); err != nil || lacks == "" {
				return err
			}
		}
		return fmt.Errorf("pgstore: the tables are not those of this version: %s is missing; rename them, or set a "+
			"search_path, and call Migrate again", lacks)
	})
}

// mayNotCreate names, in the error of a user without the rights, who has them.
func mayNotCreate(err error) error {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == insufficientPrivilege {
		return fmt.Errorf("pgstore: a table or an index of this version is missing, and this user may not create it; "+
			"execute pgstore.Schema(), or call Migrate, as the owner of the tables: %w", err)
	}
	return err
}

// The limits of a transaction are set on the server, so that they hold for a machine that vanished too: its connection
// stays open until TCP gives up, which can take hours. They depend on the lease of the machine that waits: it must get
// the locks of a vanished machine while its own claims hold.
const (
	longestLimit = 40 * time.Second
	restart      = 5 * time.Second // a database that restarts is there again by then
)

// again runs do in a transaction as durably does, and repeats it after an error that may pass: all connections of
// the pool may be dead after the database has restarted, for a moment no new one can be opened, and one statement can
// fail because of another. It gives up after restart. An attempt takes no longer than a lease.
func again(
	ctx context.Context, pool *pgxpool.Pool, lease time.Duration, do func(context.Context, pgx.Tx) error,
) error {
	return while(transient, ctx, pool, lease, do)
}

// while is like again, but passing decides whether an error may pass.
func while(
	passing func(error) bool, ctx context.Context, pool *pgxpool.Pool, lease time.Duration,
	do func(context.Context, pgx.Tx) error,
) error {
	try := func() error {
		ctx, cancel := context.WithTimeout(ctx, lease)
		defer cancel()
		return durably(ctx, pool, lease, func(tx pgx.Tx) error { return do(ctx, tx) })
	}
	start := time.Now()
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		err := try()
		if refused, ok := errors.AsType[refusal](err); ok {
			return refused.error
		}
		if err == nil || !passing(err) || time.Since(start) > restart || wait.Sleep(ctx, pause) != nil {
			return err
		}
	}
}

// refusal is the error of a transaction that went well, and found that nothing may be written.
type refusal struct{ error }

// transient reports whether the same statements may go well next time: the connection failed, or the database did.
func transient(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return true
	}
	// https://www.postgresql.org/docs/current/errcodes-appendix.html
	switch answer.Code[:min(len(answer.Code), 2)] {
	case "0A", "22", "23", "28", "3D", "3F", "42": // the statement, its data, the user or the tables are wrong
		return false
	}
	return true
}

// durably runs do in one transaction that survives a crash of the machine once it is committed, also
// on a server that does not wait for its disk by default. Each statement sees the transactions that were
// committed before it began, so that a sum taken under a lock is current. If this machine vanishes in the
// middle, the server ends the transaction after a quarter of the lease, and at most 10 seconds.
func durably(ctx context.Context, pool *pgxpool.Pool, lease time.Duration, do func(pgx.Tx) error) error {
	limit := min(lease, longestLimit)
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `
			SELECT set_config('idle_in_transaction_session_timeout', $1, true), set_config('lock_timeout', $2, true),
				set_config('statement_timeout', $3, true),
				CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`,
			milliseconds(limit/4), milliseconds(limit/2), milliseconds(limit))
		if err != nil {
			return err
		}
		return do(tx)
	})
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code == undefinedTable {
		return fmt.Errorf("pgstore: the tables are not there, or not in the search_path; call pgstore.Migrate once "+
			"before: %w", err)
	}
	return err
}

// PostgreSQL's codes for a table that is not there, and for a user without the right.
const (
	undefinedTable        = "42P01"
	insufficientPrivilege = "42501"
)

// lock waits for the lock of that name, which this transaction then holds to its end.
func lock(ctx context.Context, tx pgx.Tx, name string) error {
	_, err := tx.Exec(ctx, lockStatement, name)
	return err
}

const lockStatement = `SELECT pg_advisory_xact_lock(hashtextextended('shipping ' || $1, 0))`
