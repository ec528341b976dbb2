package pgstore_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping/stores/pgstore"
	"github.com/shipping-go/shipping/webhook"
)

// Every machine has a receiver with this store; a notification is handled by one of them.
func ExampleNewWebhookStore() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv(dsnVariable))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := pgstore.Migrate(ctx, pool); err != nil {
		log.Fatal(err)
	}

	receiver, err := webhook.NewReceiver(func(_ context.Context, n *webhook.Notification) error {
		return nil // do something about it
	}, webhook.WithKeys("sk_test_present"), webhook.WithInline(),
		webhook.WithStore(pgstore.NewWebhookStore(pool, "orders", pgstore.WebhookOptions{})))
	fmt.Println(receiver != nil, err)

	// What a receiver asks the store:
	store := pgstore.NewWebhookStore(pool, "invoices", pgstore.WebhookOptions{})
	for _, machine := range []string{"first", "second"} {
		standing, err := store.Claim(ctx, "WD-1", machine)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(machine, standing == webhook.Claimed)
	}
	// Output:
	// true <nil>
	// first true
	// second false
}
