package pgstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/batch/journaltest"
	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/stores/pgstore"
	"github.com/shipping-go/shipping/webhook"
)

func amount(t *testing.T, text string) shipping.Amount {
	t.Helper()
	a := shippingtest.Must(shipping.ParseAmount(text))(t)
	return a
}

func claim(t *testing.T, journal *pgstore.BatchJournal, key string) batch.Claim {
	t.Helper()
	c := shippingtest.Must(journal.Claim(t.Context(), key))(t)
	return c
}

// keep appends a record without a budget.
func keep(t *testing.T, c batch.Claim, record batch.Record) {
	t.Helper()
	shippingtest.Must(c.Append(t.Context(), record, nil, nil))(t)
}

func release(t *testing.T, c batch.Claim) {
	t.Helper()
	shippingtest.NoError(t, c.Release(t.Context()))
}

// Machines that start at the same moment: without the advisory lock, CREATE TABLE IF NOT EXISTS fails on all but one.
func TestMigrate_MayRunOnSeveralMachinesAtOnce(t *testing.T) {
	pool := newSchema(t)
	var machines sync.WaitGroup
	for range 4 {
		machines.Go(func() {
			if err := pgstore.Migrate(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
	machines.Wait()
}

func TestBatchJournal_ObeysTheRules(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(t *testing.T) batch.Journal { return pgstore.NewBatchJournal(connect(t), rand.Text(), 0) })
	journaltest.RunLeases(t, func(t *testing.T) batch.Journal {
		return pgstore.NewBatchJournal(connect(t), rand.Text(), 4*time.Second)
	})
}

// Two machines run a job every night, are killed at any record and begun again: each shipment is bought once, within
// the budget of each night for both together. A sum that each machine counts before the record of the other exceeds it.
func TestBatchJournal_ThirtyNightsOnTwoMachines(t *testing.T) {
	t.Parallel()
	connect(t)
	synctest.Test(t, func(t *testing.T) {
		pool, name := connect(t), rand.Text()
		batchtest.Nights(t, 1, 2, func() batchtest.Machine {
			return batchtest.Machine{Journal: pgstore.NewBatchJournal(pool, name, 0), Abandon: func(keys []string) {
				// The database's clock is as good as an hour ahead.
				if _, err := pool.Exec(t.Context(), `UPDATE shipping_batch_item SET until = until - interval '1 hour'
					WHERE batch = $1 AND key = ANY($2)`, name, keys); err != nil {
					t.Error(err)
				}
			}}
		})
	})
}

// The name of a batch may contain bytes that PostgreSQL cannot store as text, and may be long, as a period may be.
func TestBatchJournal_TakesAnyNameAndPeriod(t *testing.T) {
	pool, name := connect(t), rand.Text()
	budget := shipping.Budget{Amount: amount(t, "100"), Currency: "NGN"}
	for _, suffix := range []string{"", "\x00", "\xff", strings.Repeat("n", 5000), strings.Repeat("n", 5001)} {
		journal := pgstore.NewBatchJournal(pool, name+suffix, 0)
		claim(t, journal, "a") // no other name has it
		period := strings.Repeat("ü", min(len(suffix), 2000))
		keep(t, claim(t, journal, "b"), batch.Record{
			Key: "b", Step: batch.StepPurchased, Amount: budget.Amount, Currency: "NGN", Period: period,
		})
		shippingtest.Diff(t, "committed", budget.Amount, shippingtest.Must(journal.Committed(t.Context(), period, budget))(t))
	}
}

// A machine that vanished inside a transaction kept its locks for 10 seconds, so that the others, whose lease is
// shorter, ended with an error. The locks end within the lease, and so do the claims of the machine.
func TestBatchJournal_AMachineThatVanishesInATransactionBlocksNobodyForLong(t *testing.T) {
	t.Parallel()
	const lease = 2 * time.Second
	budget := &shipping.Budget{Amount: amount(t, "100"), Currency: "NGN"}
	record := func(key string) batch.Record {
		return batch.Record{Key: key, Step: batch.StepPurchasing, Amount: amount(t, "60"), Currency: "NGN"}
	}
	for _, before := range []string{
		"UPDATE shipping_batch_item", // which follows the lock of the batch
		"\x0bcommit\x00",             // which follows that, and the lock of the row
	} {
		t.Run(strings.Trim(before, "\x0b\x00"), func(t *testing.T) {
			t.Parallel()
			pool, name := connect(t), t.Name()+rand.Text()
			proxy := newProxy(t)
			vanishing := claim(t, pgstore.NewBatchJournal(connectTo(t, proxy.dsn), name, lease), "a")
			proxy.vanish(before)
			ctx, cancel := context.WithCancel(t.Context())
			vanished := make(chan error, 1)
			go func() {
				_, err := vanishing.Append(ctx, record("a"), budget, nil)
				vanished <- err
			}()
			<-proxy.silent
			journal := pgstore.NewBatchJournal(pool, name, lease)
			shippingtest.Diff(t, "committed", record("b").Amount,
				shippingtest.Must(claim(t, journal, "b").Append(t.Context(), record("b"), budget, nil))(t))
			for {
				c, err := journal.Claim(t.Context(), "a")
				if errors.Is(err, batch.ErrItemTaken) {
					continue
				}
				if err != nil || c.Record().Step != "" {
					t.Errorf("%+v, %v", c, err)
				}
				break
			}
			cancel()
			proxy.close()
			if err := <-vanished; err == nil {
				t.Error("the machine that vanished kept its record")
			}
		})
	}
}

// A call returns when its context ends. A statement without it would hold a program that stops until the database
// responds.
func TestBatchJournal_ReturnsWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	journal := pgstore.NewBatchJournal(connect(t), t.Name()+rand.Text(), time.Hour)
	c := claim(t, journal, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, claimed := journal.Claim(ctx, "b")
	_, committed := journal.Committed(ctx, "", shipping.Budget{})
	_, listed := journal.Records(ctx)
	_, found := journal.Related(ctx, batch.Record{ShipmentID: "SH-1"})
	_, appended := c.Append(ctx, batch.Record{Key: "a", Step: batch.StepAnalyzed}, nil, nil)
	for name, err := range map[string]error{
		"Records": listed, "Related": found, "Claim": claimed, "Committed": committed, "Append": appended,
		"Release": c.Release(ctx),
	} {
		shippingtest.WantError(t, name, err, context.Canceled)
	}
}

// newSchema returns a pool whose first schema is a new one, without tables.
func newSchema(t *testing.T) *pgxpool.Pool {
	t.Helper()
	schema := "s" + strings.ToLower(rand.Text())
	execute(t, connect(t), `CREATE SCHEMA `+schema)
	return openPool(t, os.Getenv(dsnVariable)+" search_path="+schema, nil)
}

// Tables with the right names and other columns or keys were accepted by Migrate, and every run failed.
func TestMigrate_RefusesTablesOfOtherColumnsOrKeys(t *testing.T) {
	const item, notification = `ALTER TABLE shipping_batch_item `, `ALTER TABLE shipping_webhook `
	for name, tc := range map[string]struct{ change, message string }{
		"no column": {item + `DROP COLUMN currency CASCADE`, "the column currency of shipping_batch_item with the type text"},
		"another type": {`ALTER TABLE shipping_batch_total ALTER COLUMN committed TYPE numeric(10,2)`,
			"the column committed of shipping_batch_total with the type numeric is missing"},
		"no trigger":   {`DROP TRIGGER shipping_batch_count ON shipping_batch_item`, "the trigger shipping_batch_count"},
		"no time zone": {notification + `ALTER COLUMN until TYPE timestamp`, "the column until of shipping_webhook"},
		"no primary key": {item + `DROP CONSTRAINT shipping_batch_item_pkey`,
			"the primary key {batch,key} of shipping_batch_item"},
		"part of a primary key": {notification + `DROP CONSTRAINT shipping_webhook_pkey, ADD PRIMARY KEY (id)`,
			"the primary key {receiver,id} of shipping_webhook"},
		"no totals": {`DROP TABLE shipping_batch_total`, ""},
		"one table": {`DROP TABLE shipping_webhook`, ""},
		"no index":  {`DROP INDEX shipping_webhook_until, shipping_batch_source, shipping_batch_request`, ""},
		"nothing":   {`SELECT 1`, ""},
	} {
		other := newSchema(t)
		shippingtest.NoError(t, pgstore.Migrate(t.Context(), other))
		execute(t, other, tc.change)
		err := pgstore.Migrate(t.Context(), other)
		if (err == nil) != (tc.message == "") || err != nil && !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The rows of an installation without periods and totals are counted after its migration, which may be repeated. The
// totals are those of the rows, whatever changes them.
func TestMigrate_CountsTheRowsOfAnEarlierVersion(t *testing.T) {
	old := newSchema(t)
	execute(t, old, `
		CREATE TABLE shipping_batch_item (batch text NOT NULL, key text NOT NULL, fence bigint NOT NULL, until timestamptz,
			record jsonb, committed numeric, currency text, PRIMARY KEY (batch, key));
		INSERT INTO shipping_batch_item (batch, key, fence, record, committed, currency) VALUES
			('one', 'a', 1, '{"key": "a", "step": "purchased", "documents": ["FDA"]}', 10.5, 'NGN'),
			('one', 'b', 1, '{"key": "b", "step": "purchased", "documents": ["FDA"]}', 1, ' ngn'),
			('one', 'c', 1, '{"key": "c", "step": "analyzed", "documents": ["FDA"]}', NULL, ''),
			('one', 'd', 1, NULL, NULL, NULL),
			('two', 'a', 1, '{"key": "a", "step": "purchased", "documents": ["FDA"]}', NULL, '')`)
	for range 2 {
		execute(t, old, pgstore.Schema())
		shippingtest.NoError(t, pgstore.Migrate(t.Context(), old))
	}
	budget := shipping.Budget{Amount: amount(t, "100"), Currency: "NGN"}
	one := pgstore.NewBatchJournal(old, "one", 0)
	shippingtest.Diff(t, "committed", "11.5", shippingtest.Must(one.Committed(t.Context(), "", budget))(t).String())
	if _, err := pgstore.NewBatchJournal(old, "two", 0).Committed(t.Context(), "",
		budget); !errors.Is(err, shipping.ErrOverBudget) {
		t.Errorf("a purchase without a price is counted: %v", err)
	}
	c := claim(t, one, "a")
	for _, change := range []batch.Record{
		{Step: batch.StepAnalyzed},
		{Step: batch.StepPurchasing, Amount: amount(t, "5"), Currency: "NGN", Period: "tonight"},
		{Step: batch.StepPurchased, Amount: amount(t, "7"), Currency: "USD", Period: "tonight"},
	} {
		change.Key = "a"
		keep(t, c, change)
	}
	execute(t, old, `DELETE FROM shipping_batch_item WHERE batch = 'two';
		UPDATE shipping_batch_item SET batch = 'three' WHERE key = 'b'`)
	var wrong int
	err := old.QueryRow(t.Context(), `
		SELECT count(*) FROM (
			SELECT batch, period, lower(trim(currency)) AS currency, sum(committed) AS committed, count(committed) AS priced,
				0 AS unpriced
			FROM shipping_batch_item WHERE committed IS NOT NULL GROUP BY 1, 2, 3) AS counted
		FULL JOIN (SELECT * FROM shipping_batch_total WHERE (committed, priced, unpriced) <> (0, 0, 0)) AS total
			USING (batch, period, currency, committed, priced, unpriced)
		WHERE counted.* IS NULL OR total.* IS NULL`).Scan(&wrong)
	shippingtest.NoError(t, err)
	shippingtest.Diff(t, "totals that are not those of the rows", 0, wrong)
}

// The stores work in every query mode. A pool for a connection pooler prepares no statements and leaves the types of
// parameters to PostgreSQL.
func TestBatchJournal_WorksInEveryModeOfQueries(t *testing.T) {
	connect(t)
	budget := &shipping.Budget{Amount: amount(t, "100"), Currency: "NGN"}
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			pool := connectTo(t, os.Getenv(dsnVariable)+" default_query_exec_mode="+mode)
			journal := pgstore.NewBatchJournal(pool, t.Name()+rand.Text(), time.Hour)
			c := claim(t, journal, "a")
			record := batch.Record{Key: "a", Step: batch.StepPurchasing, RequestID: "RD-1", Amount: amount(t, "60"),
				Currency: "NGN"}
			if committed, err := c.Append(t.Context(), record, budget, nil); err != nil || committed != record.Amount {
				t.Fatal(committed, err)
			}
			release(t, c)
			if got := claim(t, journal, "a").Record(); got.RequestID != "RD-1" || got.Amount != record.Amount {
				t.Errorf("the record came back as %+v", got)
			}
			store := pgstore.NewWebhookStore(pool, t.Name()+rand.Text(), pgstore.WebhookOptions{})
			claims(t, store, "WD-1", "one", webhook.Claimed)
			if err := store.Accept(t.Context(), "WD-1", "one"); err != nil {
				t.Error(err)
			}
			claims(t, store, "WD-1", "two", webhook.Accepted)
		})
	}
}

// A user without the right to create tables can use tables that an administrator has created. After an update whose
// index is missing, the error states what the administrator has to do.
func TestMigrate_NeedsNoRightToCreateTablesThatExist(t *testing.T) {
	pool := newSchema(t)
	shippingtest.NoError(t, pgstore.Migrate(t.Context(), pool))
	schema, user := pool.Config().ConnConfig.RuntimeParams["search_path"], "user_"+strings.ToLower(rand.Text())
	for _, statement := range []string{
		`CREATE ROLE ` + user + ` LOGIN`,
		`GRANT USAGE ON SCHEMA ` + schema + ` TO ` + user,
		`GRANT SELECT, INSERT, UPDATE, DELETE ON shipping_batch_item, shipping_batch_total, shipping_webhook TO ` + user,
	} {
		execute(t, pool, statement)
	}
	limited := openPool(t, os.Getenv(dsnVariable)+" user="+user+" search_path="+schema, nil)
	shippingtest.NoError(t, pgstore.Migrate(t.Context(), limited))
	claim(t, pgstore.NewBatchJournal(limited, t.Name(), 0), "a")
	execute(t, pool, `DROP INDEX shipping_batch_source`)
	err := pgstore.Migrate(t.Context(), limited)
	shippingtest.Contains(t, "without an index", err, "as the owner of the tables")
}

// The items of a killed night could not be listed, so that a job with another list forgot it.
func TestBatchJournal_ListsWhatIsUnfinished(t *testing.T) {
	t.Parallel()
	journal := pgstore.NewBatchJournal(connect(t), t.Name()+rand.Text(), 0)
	for _, record := range []batch.Record{
		{Key: "b", Step: batch.StepPurchasing, ShipmentID: "SH-1"}, {Key: "a", Step: batch.StepCompleted},
		{Key: "c", Step: batch.StepPurchased},
	} {
		keep(t, claim(t, journal, record.Key), record)
	}
	claim(t, journal, "without a record")
	records, err := journal.Records(t.Context())
	if err != nil || len(records) != 3 || records[0].Key != "a" {
		t.Fatalf("%+v, %v", records, err)
	}
	open := batch.Unfinished(records, []batch.Item{{Key: "c"}})
	if len(open) != 1 || open[0].Key != "b" || open[0].Analyze.ShipmentID != "SH-1" {
		t.Errorf("%+v", open)
	}
}

// A record of a newer version is not overwritten by one that lacks its fields.
func TestBatchJournal_RefusesARecordWithFieldsThatItDoesNotKnow(t *testing.T) {
	pool, name := connect(t), t.Name()+rand.Text()
	journal := pgstore.NewBatchJournal(pool, name, 0)
	c := claim(t, journal, "a")
	keep(t, c, batch.Record{Key: "a", Step: batch.StepAnalyzed})
	release(t, c)
	const newer = `UPDATE shipping_batch_item SET record = record || '{"refund": 1}' WHERE batch = $1`
	execute(t, pool, newer, name)
	shippingtest.Contains(t, "claimed", shippingtest.Err(journal.Claim(t.Context(), "a")), `unknown field "refund"`)
}

// An amount is the value of a numeric or text column through pgx and database/sql, in every mode of queries, and can be
// read from other exact numbers.
func TestAmount_IsAColumnOfPostgreSQL(t *testing.T) {
	for _, mode := range []string{"cache_statement", "describe_exec", "exec", "simple_protocol"} {
		config := shippingtest.Must(pgx.ParseConfig(os.Getenv(dsnVariable) + " default_query_exec_mode=" + mode))(t)
		conn, err := pgx.ConnectConfig(t.Context(), config)
		shippingtest.NoError(t, err)
		defer conn.Close(t.Context())
		db := stdlib.OpenDB(*config)
		defer db.Close()
		for _, query := range []string{"SELECT $1::numeric", "SELECT $1::text"} {
			for _, text := range []string{"19.99", "0", "-3", "123456789012345678", "0.000000000000000001", "NULL"} {
				var want shipping.Amount
				native, through := amount(t, "7"), amount(t, "7") // NULL replaces them too
				if text != "NULL" {
					want = amount(t, text)
				}
				err := conn.QueryRow(t.Context(), query, want).Scan(&native)
				err = errors.Join(err, db.QueryRowContext(t.Context(), query, want).Scan(&through))
				if err != nil || native != want || through != want {
					t.Errorf("%s, %s of %s: %s, %s, %v", mode, query, text, native, through, err)
				}
			}
		}
		for query, want := range map[string]string{
			"SELECT 7::bigint": "7", "SELECT 7::integer": "7", "SELECT 1.500::numeric(10,3)": "1.5",
			"SELECT sum(x) FROM (VALUES (0.1), (0.2)) v(x)": "0.3",
			"SELECT 'NaN'::numeric":                         "", "SELECT 19.99::double precision": "",
		} {
			var got shipping.Amount
			if err := conn.QueryRow(t.Context(), query).Scan(&got); (err == nil) != (want != "") || err == nil &&
				got != amount(t, want) {
				t.Errorf("%s, %s: %s, %v; want %q", mode, query, got, err, want)
			}
		}
	}
}
