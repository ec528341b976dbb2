// Package stores_test checks what holds for all stores. It needs no server.
package stores_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/stores/pgstore"
	"github.com/shipping-go/shipping/stores/redisstore"
)

const password = "pw8mK3vQ9rT2xW7yZ4bN6c"

// TestSecrets_NoStoreShowsThePassword prints each type that holds a connection, and the errors of stores whose
// server cannot be reached.
func TestSecrets_NoStoreShowsThePassword(t *testing.T) {
	t.Parallel()
	const nobody = "127.0.0.1:1"
	pool := shippingtest.Must(pgxpool.New(t.Context(), "postgres://user:"+password+"@"+nobody+"/db?connect_timeout=1"))(t)
	t.Cleanup(pool.Close)
	client := redis.NewClient(&redis.Options{Addr: nobody, Username: "user", Password: password, MaxRetries: -1,
		DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	journal := pgstore.NewBatchJournal(pool, "batch", 0)
	notifications := pgstore.NewWebhookStore(pool, "receiver", pgstore.WebhookOptions{})
	store := redisstore.New(client, "receiver", redisstore.Options{})

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, claimError := journal.Claim(ctx, "item")
	_, receiverError := notifications.Claim(ctx, "WD-1", "claim")
	_, redisError := store.Claim(ctx, "WD-1", "claim")
	migrateError := pgstore.Migrate(ctx, pool)
	pool.Close() // waits for the connections that it still opens: printing it would race with them
	for name, value := range map[string]any{
		"BatchJournal": journal, "*BatchJournal": *journal, "WebhookStore": notifications, "*WebhookStore": *notifications,
		"Store": store, "*Store": *store, "Claim": claimError, "receiver": receiverError, "Redis": redisError,
		"Migrate": migrateError,
	} {
		if value == nil {
			t.Errorf("%s: no error", name)
		}
		_, isError := value.(error)
		for where, holder := range map[string]any{"itself": value, "in a field": struct{ holder any }{value}} {
			for how, text := range printed(holder) {
				if isError && (how == "%t" || how == "%w") { // what pgx returns holds its configuration in a field
					continue
				}
				if strings.Contains(text, password[2:10]) || strings.Contains(text, fmt.Sprintf("%x", password[2:10])) {
					t.Errorf("%s %s, with %s, shows the password: %.300s", name, where, how, text)
				}
			}
		}
	}
}

func printed(value any) map[string]string {
	texts := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%p", "%w"} {
		texts[verb] = fmt.Sprintf(verb, value)
	}
	if data, err := json.Marshal(value); err == nil {
		texts["JSON"] = string(data)
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "holder", value)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "holder", value)
	texts["slog"] = out.String()
	return texts
}
