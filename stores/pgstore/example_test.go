package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/stores/pgstore"
	"github.com/shipping-go/shipping/webhook"
)

// Each machine runs the same batch with this journal, and skips the items that another one bought.
func ExampleNewBatchJournal() {
	ctx := context.Background()
	server := mockserver.New(mockserver.WithScenario("instant"))
	defer server.Close()
	pool, err := pgxpool.New(ctx, os.Getenv(dsnVariable))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if err := pgstore.Migrate(ctx, pool); err != nil {
		log.Fatal(err)
	}
	budget, err := shipping.ParseBudget("250000.00 NGN")
	if err != nil {
		log.Fatal(err)
	}
	var items []batch.Item
	for _, id := range server.Shipments()[:3] {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	name := "customs " + server.URL // the same for all lists and nights: what was bought under another name is not known
	for _, machine := range []string{"first", "second"} {
		client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
		if err != nil {
			log.Fatal(err)
		}
		journal := pgstore.NewBatchJournal(pool, name, 0)
		records, err := journal.Records(ctx)
		if err != nil {
			log.Fatal(err)
		}
		items := append(items, batch.Unfinished(records, items)...) // what a killed run has begun is completed, too
		report, err := batch.Run(ctx, client, items, &batch.Options{
			Select: shipping.SelectAutomated, Journal: journal, Budget: budget, Period: "2026-11-26",
			Wallet: server.Wallets()[0], // as long as it shows a purchase that the journal lacks, nothing is purchased
		})
		if err := errors.Join(err, report.Err()); err != nil {
			log.Fatal(err)
		}
		fmt.Println(machine, report.Count(batch.StateCompleted), "completed,", server.Requests(shipping.OpPurchase),
			"purchases")
	}
	// Output:
	// first 3 completed, 3 purchases
	// second 3 completed, 3 purchases
}

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
	}, webhook.WithKeys("sk_test_present"),
		webhook.WithStore(pgstore.NewWebhookStore(pool, "orders", pgstore.WebhookOptions{})))
	fmt.Println(receiver != nil, err)

	// A receiver claims each notification:
	store := pgstore.NewWebhookStore(pool, "invoices", pgstore.WebhookOptions{})
	for _, machine := range []string{"first", "second"} {
		state, err := store.Claim(ctx, "WD-1", machine)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(machine, state == webhook.Claimed)
	}
	// Output:
	// true <nil>
	// first true
	// second false
}
