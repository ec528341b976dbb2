package pgstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// BatchJournal is a [batch.Journal]. Make one with [NewBatchJournal].
//
// An item belongs to the claim that has the fencing number of its row. A new claim raises the number, which is
// possible once the previous claim was released or its lease has expired by the database's clock. A record is
// accepted in the same statement that compares the number. A transaction that changes an item changes the totals of
// its period too. Purchases within a budget are recorded one at a time, under a lock of the period. Drafts and
// purchases are recorded under a lock of the shipment or invoice, and one of the request. Locks are taken in this
// order.
//
// A purchase is begun only if at least half of the lease is left, and is cancelled after a quarter of it. If the lease
// of an item with an open purchase expires, another process gets the item a quarter of the lease later, so that it
// finds a purchase that a stalled process sent late. The module's README states the limits.
type BatchJournal struct {
	pool  *pgxpool.Pool
	batch string
	lease time.Duration
}

// NewBatchJournal returns the journal of the batch of that name. Another process takes over an item of a dead process
// after the lease (0: 7 minutes), which must be the same in every process. A tenth of it is reserved for clocks that
// run at different speeds, and the rest must be at least a quarter longer than the QuietFor of the batch. A longer
// lease covers a process that stalls for longer.
func NewBatchJournal(pool *pgxpool.Pool, batch string, lease time.Duration) *BatchJournal {
	if lease <= 0 {
		lease = 7 * time.Minute
	}
	return &BatchJournal{pool: pool, batch: column(batch), lease: lease}
}

// Lease implements [batch.Journal].
func (j *BatchJournal) Lease() time.Duration { return j.lease - j.lease/10 }

// Claim implements [batch.Journal].
func (j *BatchJournal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	c := &batchClaim{journal: j, key: key, record: batch.Record{Key: key}}
	err := c.hold(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var record []byte
		err := tx.QueryRow(ctx, `
			INSERT INTO shipping_batch_item AS item (batch, key, fence, until)
			VALUES ($1, $2, 1, clock_timestamp() + $3::interval)
			ON CONFLICT (batch, key) DO UPDATE SET fence = item.fence + 1, until = excluded.until
			WHERE item.until IS NULL OR item.until <= clock_timestamp()
				AND (item.record->>'step' IS DISTINCT FROM $4 OR item.until + $3::interval / 4 <= clock_timestamp())
			RETURNING fence, record`, j.batch, key, j.lease, string(batch.StepPurchasing)).Scan(&c.fence, &record)
		if errors.Is(err, pgx.ErrNoRows) {
			return refusal{batch.ErrItemTaken}
		}
		if err != nil || record == nil {
			return err
		}
		if err := shipping.RawJSON(record).Decode(&c.record); err != nil {
			return refusal{err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Committed implements [batch.Journal].
func (j *BatchJournal) Committed(ctx context.Context, period string,
	budget shipping.Budget) (sum shipping.Amount, err error) {
	var uncounted error
	err = again(ctx, j.pool, j.lease, func(ctx context.Context, tx pgx.Tx) (err error) {
		sum, uncounted, err = j.sum(ctx, tx, period, budget)
		return err
	})
	return sum, cmp.Or(err, uncounted)
}

// Related implements [batch.Journal].
func (j *BatchJournal) Related(ctx context.Context, record batch.Record) (records []batch.Record, err error) {
	err = again(ctx, j.pool, j.lease, func(ctx context.Context, tx pgx.Tx) (err error) {
		records, err = recordsOf(tx.Query(ctx, related, j.batch, record.Source(), record.RequestID))
		return err
	})
	return records, err
}

// Records returns the last record of each item, in the order of the keys: what [batch.Unfinished] needs.
func (j *BatchJournal) Records(ctx context.Context) (records []batch.Record, err error) {
	err = again(ctx, j.pool, j.lease, func(ctx context.Context, tx pgx.Tx) (err error) {
		records, err = recordsOf(tx.Query(ctx, allRecords, j.batch))
		return err
	})
	return records, err
}

const (
	allRecords = `SELECT record FROM shipping_batch_item WHERE batch = $1 AND record IS NOT NULL ORDER BY key`
	related    = `SELECT record FROM shipping_batch_item
		WHERE batch = $1 AND (coalesce(record->>'shipment_id', record->>'file_hash') = $2 OR record->>'request_id' = $3
			OR record ? 'overcharge' AND NOT record ? 'note')`
)

// recordsOf reads the rows of a query.
func recordsOf(rows pgx.Rows, err error) ([]batch.Record, error) {
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (record batch.Record, err error) {
		var text []byte
		if err := row.Scan(&text); err != nil {
			return record, err
		}
		if err := shipping.RawJSON(text).Decode(&record); err != nil {
			return record, refusal{err}
		}
		return record, nil
	})
}

// sum returns the committed amount of all items of a period, or the reason why it cannot be computed.
func (j *BatchJournal) sum(ctx context.Context, tx pgx.Tx, period string,
	budget shipping.Budget) (sum shipping.Amount, uncounted, err error) {
	var text string
	var uncountable bool
	err = tx.QueryRow(ctx, `
		SELECT trim_scale(coalesce(sum(committed), 0))::text,
			coalesce(bool_or(unpriced > 0 OR priced > 0 AND currency NOT IN ('', lower(trim($3)))), false)
		FROM shipping_batch_total WHERE batch = $1 AND period = $2`,
		j.batch, column(period), budget.Currency).Scan(&text, &uncountable)
	if err != nil {
		return sum, nil, err
	}
	if uncountable {
		uncounted, err = j.uncountable(ctx, tx, period, budget)
		return sum, uncounted, err
	}
	return sum, sum.UnmarshalText([]byte(text)), nil
}

// uncountable returns the error that names an item whose money cannot be compared with the budget.
func (j *BatchJournal) uncountable(ctx context.Context, tx pgx.Tx, period string,
	budget shipping.Budget) (uncounted, err error) {
	var key, currency string
	var priced bool
	err = tx.QueryRow(ctx, `
		SELECT key, currency, coalesce(committed >= 0, false) FROM shipping_batch_item
		WHERE batch = $1 AND period = $2 AND CASE WHEN committed >= 0 THEN lower(trim(currency)) NOT IN ('', lower(trim($3)))
			ELSE committed < 0 OR record ? 'documents' AND record->>'step' <> $4 END
		ORDER BY key LIMIT 1`, j.batch, column(period), budget.Currency, string(batch.StepAnalyzed)).Scan(&key, &currency,
		&priced)
	if err != nil {
		return nil, err
	}
	problem := fmt.Sprintf("the journal holds a purchase of %s whose price is not known", key)
	if priced {
		problem = fmt.Sprintf("the journal holds a purchase of %s in %s: set a budget in that currency", key, currency)
	}
	return &shipping.BudgetError{Budget: budget, Problem: problem}, nil
}

type batchClaim struct {
	journal *BatchJournal
	key     string
	fence   int64
	until   time.Time
	record  batch.Record
}

func (c *batchClaim) Record() batch.Record { return c.record }

// Within implements [batch.Claim].
func (c *batchClaim) Within(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if passed(c.until.Add(-c.journal.Lease() / 2)) {
		return nil, nil, batch.ErrItemTaken
	}
	within, stop := context.WithTimeout(ctx, c.journal.Lease()/4)
	return within, stop, nil
}

// passed reports whether a moment has passed by either clock: the monotonic clock stops while the machine sleeps, and
// the wall clock may be set back.
func passed(moment time.Time) bool {
	now := time.Now()
	return !now.Before(moment) || !now.Round(0).Before(moment.Round(0))
}

// hold runs a transaction that renews the lease. It reads the time before the database does, so that the lease expires
// first in this process.
func (c *batchClaim) hold(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	var until time.Time
	err := again(ctx, c.journal.pool, c.journal.lease, func(ctx context.Context, tx pgx.Tx) error {
		until = time.Now().Add(c.journal.Lease())
		return do(ctx, tx)
	})
	if err == nil {
		c.until = until
	}
	return err
}

func (c *batchClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (committed shipping.Amount, err error) {
	text, err := json.Marshal(record)
	if err != nil {
		return committed, err
	}
	var uncounted error
	err = c.hold(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if budget != nil && record.Step == batch.StepPurchasing {
			if err := lock(ctx, tx, "batch "+c.journal.batch+" "+column(record.Period)); err != nil {
				return err
			}
		}
		if alone != nil {
			if err := c.journal.look(ctx, tx, record, alone); err != nil {
				return err
			}
		}
		if budget != nil {
			var err error
			committed, uncounted, err = c.fit(ctx, tx, record, *budget)
			if err == nil && uncounted != nil && record.Step == batch.StepPurchasing {
				return refusal{uncounted} // any other record is kept: it describes a past event
			}
			if err != nil {
				return err
			}
		}
		return c.write(ctx, tx, record, text)
	})
	if err == nil {
		c.record = record
	}
	return committed, cmp.Or(err, uncounted)
}

// write stores the record, unless the item has another claim by now.
func (c *batchClaim) write(ctx context.Context, tx pgx.Tx, record batch.Record, text []byte) error {
	var amount *string
	if record.Committed() && record.Amount.Known() {
		s := record.Amount.String()
		amount = &s
	}
	tag, err := tx.Exec(ctx, `
		UPDATE shipping_batch_item
		SET record = $4::text::jsonb, committed = $5::text::numeric, currency = $6, period = $7,
			until = clock_timestamp() + $8::interval
		WHERE batch = $1 AND key = $2 AND fence = $3`,
		c.journal.batch, c.key, c.fence, string(text), amount, record.Currency, column(record.Period), c.journal.lease)
	if err == nil && tag.RowsAffected() == 0 {
		return refusal{batch.ErrItemTaken}
	}
	return err
}

// look calls the function alone with the related records, under locks of the source and the request, held until the
// record is written. All statements are sent at once. The last one begins after the locks are held, so that it sees the
// record of whoever held them before.
func (j *BatchJournal) look(ctx context.Context, tx pgx.Tx, record batch.Record,
	alone func([]batch.Record) error) error {
	statements := &pgx.Batch{}
	statements.Queue(lockStatement, "batch source "+j.batch+" "+record.Source())
	statements.Queue(lockStatement, "batch request "+j.batch+" "+record.RequestID)
	statements.Queue(related, j.batch, record.Source(), record.RequestID)
	results := tx.SendBatch(ctx, statements)
	_, err := results.Exec()
	if err == nil {
		_, err = results.Exec()
	}
	var found []batch.Record
	if err == nil {
		found, err = recordsOf(results.Query())
	}
	if err := errors.Join(err, results.Close()); err != nil {
		return err
	}
	if err := alone(found); err != nil {
		return refusal{err}
	}
	return nil
}

// fit returns the committed amount with the record, or the reason why it cannot be computed, or why the budget has no
// room for a purchase. The budget of a purchase is locked.
func (c *batchClaim) fit(ctx context.Context, tx pgx.Tx, record batch.Record,
	budget shipping.Budget) (sum shipping.Amount, uncounted, err error) {
	sum, uncounted, err = c.journal.sum(ctx, tx, record.Period, budget)
	if err != nil || uncounted != nil {
		return sum, uncounted, err
	}
	if before := c.record; before.Committed() && before.Period == record.Period && before.Amount.Known() {
		if sum, uncounted = sum.Sub(before.Amount); uncounted != nil {
			return sum, uncounted, nil
		}
	}
	if record.Step == batch.StepPurchasing {
		if err := budget.Fits(sum, record.Amount); err != nil {
			return sum, err, nil
		}
	}
	if record.Committed() {
		sum, uncounted = sum.Add(record.Amount)
	}
	return sum, uncounted, nil
}

// Release implements [batch.Claim].
func (c *batchClaim) Release(ctx context.Context) error {
	return again(ctx, c.journal.pool, c.journal.lease, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE shipping_batch_item SET until = NULL WHERE batch = $1 AND key = $2 AND fence = $3`,
			c.journal.batch, c.key, c.fence)
		if err == nil && tag.RowsAffected() == 0 {
			return refusal{batch.ErrItemTaken}
		}
		return err
	})
}
