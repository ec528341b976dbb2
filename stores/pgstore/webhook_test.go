package pgstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/stores/internal/servers"
	"github.com/shipping-go/shipping/stores/pgstore"
	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

// claims requires the state that a store returns for a notification.
func claims(t *testing.T, store webhook.Store, id, claim string, want webhook.ClaimState) {
	t.Helper()
	if state, err := store.Claim(t.Context(), id, claim); state != want || err != nil {
		t.Errorf("%q: %d, %v, want %d", id, state, err, want)
	}
}

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
		claims(t, store, "WD-1", "one", webhook.Claimed)
	}
}

// An accepted id expires, and later claims delete its row. Rows without an end would fill the table.
func TestWebhookStore_KeepsRowsForTheirTime(t *testing.T) {
	pool, name := connect(t), rand.Text()
	store := pgstore.NewWebhookStore(pool, name, pgstore.WebhookOptions{Keep: time.Hour})
	for _, id := range []string{"WD-1", "WD-2", "WD-3"} {
		shippingtest.NoError(t, store.Accept(t.Context(), id, "one"))
	}
	const later = `UPDATE shipping_webhook SET until = until - interval '1 hour' WHERE receiver = $1 AND claim IS NULL`
	execute(t, pool, later, name)
	for _, id := range []string{"WD-1", "WD-4", "WD-5"} {
		claims(t, store, id, "two", webhook.Claimed)
	}
	var over int
	const rows = `SELECT count(*) FROM shipping_webhook WHERE receiver = $1 AND until <= clock_timestamp()`
	shippingtest.NoError(t, pool.QueryRow(t.Context(), rows, name).Scan(&over))
	shippingtest.Diff(t, "rows over their time", 0, over)
}

// A statement that failed for a moment was not tried again, so that a notification that was handled was not recorded,
// and was handled twice. While a database restarts, connections fail for a moment, too.
func TestWebhookStore_RetriesStatementsThatFail(t *testing.T) {
	t.Parallel()
	pool, receiver := connect(t), "fails "+rand.Text()
	var attempts atomic.Int32
	restarting := openPool(t, os.Getenv(dsnVariable), func(context.Context, *pgx.ConnConfig) error {
		if attempts.Add(1) <= 8 {
			return errors.New("the database restarts")
		}
		return nil
	})
	store := pgstore.NewWebhookStore(restarting, receiver, pgstore.WebhookOptions{})
	// Two of three statements fail: the rollback does not set the sequence back.
	id := strings.ToLower(rand.Text())
	for _, state := range []string{"40001", "40P01", "53300", "55P03", "57014", "58030", "P0001", "XX000"} {
		statements := strings.NewReplacer("{id}", id, "{state}", state, "{receiver}", receiver).Replace(`
			CREATE SEQUENCE IF NOT EXISTS fails_{id};
			CREATE OR REPLACE FUNCTION fails_{id}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				IF nextval('fails_{id}') % 3 > 0 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '{state}'; END IF;
				RETURN NEW;
			END $$;
			CREATE OR REPLACE TRIGGER fails_{id} BEFORE INSERT ON shipping_webhook FOR EACH ROW
				WHEN (NEW.receiver = '{receiver}') EXECUTE FUNCTION fails_{id}()`)
		execute(t, pool, statements)
		for _, notification := range []string{"WD-1 ", "WD-2 ", "WD-3 "} {
			claims(t, store, notification+state, "one", webhook.Claimed)
			if err := store.Accept(t.Context(), notification+state, "one"); err != nil {
				t.Errorf("%s: accepted: %v", state, err)
			}
		}
	}
}

func TestWebhookStore_WithoutItsTables(t *testing.T) {
	t.Parallel()
	pool := openPool(t, os.Getenv(dsnVariable)+" search_path=nowhere", nil)
	_, err := pgstore.NewWebhookStore(pool, "orders", pgstore.WebhookOptions{}).Claim(t.Context(), "WD-1", "one")
	shippingtest.Contains(t, "without tables", err, "call pgstore.Migrate")
}

// Connections that end, and a crash of the database, lose no notification, and none is handled twice.
func TestWebhookStore_SurvivesItsServer(t *testing.T) {
	t.Parallel()
	server := servers.Another(t, servers.StartPostgres)
	store := pgstore.NewWebhookStore(connectTo(t, server.DSN()), "orders", pgstore.WebhookOptions{})
	other := connectTo(t, server.DSN()+" pool_max_conns=1") // is not terminated
	servers.Outlasts(t, store, server, func() error {
		_, err := other.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`)
		return err
	})
}

// fewConnections returns the DSN of a role that may have few connections.
func fewConnections(t *testing.T, limit int) string {
	t.Helper()
	pool, role := connect(t), "few_"+strings.ToLower(rand.Text())
	for _, statement := range []string{
		fmt.Sprintf(`CREATE ROLE %s LOGIN CONNECTION LIMIT %d`, role, limit),
		`GRANT SELECT, INSERT, UPDATE, DELETE ON shipping_webhook TO ` + role,
	} {
		execute(t, pool, statement)
	}
	return os.Getenv(dsnVariable) + " user=" + role
}

// Receivers held deliveries for 5 s while PostgreSQL refused them a connection, although another one could have handled
// them. Four receivers of a role with three connections answer all notifications within a minute.
func TestWebhookStore_FewConnectionsForManyReceivers(t *testing.T) {
	const notifications, machines, key = 150, 4, "sk_test_present"
	dsn, name := fewConnections(t, 3), rand.Text()
	var handled atomic.Int32
	var receivers []*webhook.Receiver
	for range machines {
		pool := openPool(t, dsn, nil)
		receiver := shippingtest.Must(webhook.NewReceiver(func(context.Context, *webhook.Notification) error {
			handled.Add(1)
			return nil
		},
			webhook.WithKeys(key), webhook.WithStore(pgstore.NewWebhookStore(pool, name, pgstore.WebhookOptions{})),
			webhook.WithLogger(slog.New(slog.DiscardHandler))))(t)
		receivers = append(receivers, receiver)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var answered atomic.Int32
	var senders sync.WaitGroup
	for n := range notifications {
		senders.Go(func() {
			body := fmt.Sprintf(`{"event":"shipment.updated","data":{"shipment_id":"SH-%d"}}`, n)
			for try := n; ctx.Err() == nil; try++ { // the next machine gets it, after a pause
				request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
				request.Header.Set(webhook.DefaultSignatureHeader, webhook.Sign(key, []byte(body)))
				answer := httptest.NewRecorder()
				if receivers[try%machines].ServeHTTP(answer, request); answer.Code == http.StatusOK {
					answered.Add(1)
					return
				}
				_ = wait.Sleep(ctx, 500*time.Millisecond)
			}
		})
	}
	senders.Wait()
	if answered.Load() != notifications || handled.Load() != notifications {
		t.Errorf("of %d notifications %d are answered, and %d handled", notifications, answered.Load(), handled.Load())
	}
	t.Attr("cases", fmt.Sprintf("%d notifications", answered.Load()))
}

// A receiver that has no connection, and is refused one, responds at once: the service sends the notification again.
func TestWebhookStore_ARefusedConnectionHoldsNoDelivery(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	pool := openPool(t, fewConnections(t, 0), func(context.Context, *pgx.ConnConfig) error { attempts.Add(1); return nil })
	store := pgstore.NewWebhookStore(pool, rand.Text(), pgstore.WebhookOptions{})
	if _, err := store.Claim(t.Context(), "WD-1", "one"); err == nil || attempts.Load() > 2 {
		t.Errorf("after %d attempts: %v", attempts.Load(), err)
	}
}
