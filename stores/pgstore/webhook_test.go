package pgstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping/stores/internal/servers"
	"github.com/shipping-go/shipping/stores/pgstore"
	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

func TestWebhookStore_DoesAsAReceiverNeeds(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) webhook.Store {
		return pgstore.NewWebhookStore(connect(t), rand.Text(), pgstore.WebhookOptions{})
	})
	storetest.RunLeases(t, func(t *testing.T) webhook.Store {
		return pgstore.NewWebhookStore(connect(t), rand.Text(), pgstore.WebhookOptions{Lease: 4 * time.Second})
	})
}

func TestWebhookStore_ReceiversOfOtherNamesHaveEachNotificationOnceMore(t *testing.T) {
	t.Parallel()
	pool, name := connect(t), rand.Text()
	// Receivers may have names that a text column or its index cannot hold.
	for _, receiver := range []string{name, name + "2", name + "\x00", name + "\xff", name + strings.Repeat("n", 5000)} {
		store := pgstore.NewWebhookStore(pool, receiver, pgstore.WebhookOptions{})
		if state, err := store.Claim(t.Context(), "WD-1", "one"); state != webhook.Claimed || err != nil {
			t.Errorf("%d, %v", state, err)
		}
	}
}

// An accepted id expires, and later claims delete its row.
func TestWebhookStore_KeepsRowsForTheirTime(t *testing.T) {
	pool, name := connect(t), rand.Text()
	store := pgstore.NewWebhookStore(pool, name, pgstore.WebhookOptions{Keep: time.Hour})
	for _, id := range []string{"WD-1", "WD-2", "WD-3"} {
		if err := store.Accept(t.Context(), id, "one"); err != nil {
			t.Fatal(err)
		}
	}
	const later = `UPDATE shipping_webhook SET until = until - interval '1 hour' WHERE receiver = $1 AND claim IS NULL`
	if _, err := pool.Exec(t.Context(), later, name); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"WD-1", "WD-4", "WD-5"} {
		if state, err := store.Claim(t.Context(), id, "two"); state != webhook.Claimed || err != nil {
			t.Errorf("%s: %d, %v", id, state, err)
		}
	}
	var over int
	err := pool.QueryRow(t.Context(), `SELECT count(*) FROM shipping_webhook WHERE receiver = $1 AND until <= clock_timestamp()`, name).Scan(&over)
	if err != nil || over != 0 {
		t.Errorf("%d rows are over their time, %v", over, err)
	}
}

// While a database restarts, connections fail for a moment, and Accept retries.
func TestWebhookStore_WaitsForADatabaseThatRestarts(t *testing.T) {
	t.Parallel()
	connect(t)
	config, err := pgxpool.ParseConfig(os.Getenv(dsnVariable) + " pool_max_conns=2")
	if err != nil {
		t.Fatal(err)
	}
	var attempts atomic.Int32
	config.BeforeConnect = func(context.Context, *pgx.ConnConfig) error {
		if attempts.Add(1) <= 8 {
			return errors.New("the database restarts")
		}
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	store := pgstore.NewWebhookStore(pool, rand.Text(), pgstore.WebhookOptions{})
	if err := store.Accept(t.Context(), "WD-1", "one"); err != nil {
		t.Error(err)
	}
}

// A statement that failed for a moment was not tried again, so that a notification that was handled was not recorded,
// and was handled twice.
func TestWebhookStore_RetriesStatementsThatFail(t *testing.T) {
	t.Parallel()
	pool, receiver := connect(t), "fails "+rand.Text()
	id := strings.ToLower(rand.Text())
	for _, state := range []string{"40001", "40P01", "53300", "55P03", "57014", "58030", "P0001", "XX000"} {
		// Two of three statements fail: the rollback does not set the sequence back.
		for _, statement := range []string{
			`CREATE SEQUENCE IF NOT EXISTS fails_` + id,
			`CREATE OR REPLACE FUNCTION fails_` + id + `() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('fails_` + id + `') % 3 > 0 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '` + state + `'; END IF;
				RETURN NEW;
			END $$`,
			`CREATE OR REPLACE TRIGGER fails_` + id + ` BEFORE INSERT ON shipping_webhook FOR EACH ROW
				WHEN (NEW.receiver = '` + receiver + `') EXECUTE FUNCTION fails_` + id + `()`,
		} {
			if _, err := pool.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		store := pgstore.NewWebhookStore(pool, receiver, pgstore.WebhookOptions{})
		for _, notification := range []string{"WD-1 ", "WD-2 ", "WD-3 "} {
			if claimed, err := store.Claim(t.Context(), notification+state, "one"); claimed != webhook.Claimed || err != nil {
				t.Errorf("%s: claimed: %d, %v", state, claimed, err)
			}
			if err := store.Accept(t.Context(), notification+state, "one"); err != nil {
				t.Errorf("%s: accepted: %v", state, err)
			}
		}
	}
}

func TestWebhookStore_WithoutItsTablesSaysWhatToDo(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), os.Getenv(dsnVariable)+" search_path=nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	_, err = pgstore.NewWebhookStore(pool, "orders", pgstore.WebhookOptions{}).Claim(t.Context(), "WD-1", "one")
	if err == nil || !strings.Contains(err.Error(), "call pgstore.Migrate") {
		t.Error(err)
	}
}

// Connections that end, and a crash of the database, lose no notification, and none is handled twice.
func TestWebhookStore_SurvivesItsServer(t *testing.T) {
	t.Parallel()
	server, err := servers.StartPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	store := pgstore.NewWebhookStore(connectTo(t, server.DSN()), "orders", pgstore.WebhookOptions{})
	other := connectTo(t, server.DSN()+" pool_max_conns=1") // a connection that does not end
	servers.Outlasts(t, store, server, func() error {
		_, err := other.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
		return err
	})
}
