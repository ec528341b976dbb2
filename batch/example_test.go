package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
)

// account returns a client of a new account on the reference server, whose documents are ready at once.
func account() (*shipping.Client, *mockserver.Server) {
	server := mockserver.New(mockserver.WithScenario("instant"))
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
	if err != nil {
		log.Fatal(err)
	}
	return client, server
}

// Many shipments, one budget, and a journal: a second run continues, and buys nothing twice.
func ExampleRun() {
	client, server := account()
	defer server.Close()
	folder, err := os.MkdirTemp("", "batch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	budget, err := shipping.ParseBudget("1000000.00 NGN")
	if err != nil {
		log.Fatal(err)
	}
	var items []batch.Item
	for _, id := range server.Shipments()[:5] {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}

	for run := range 2 {
		journal, err := batch.OpenFile(filepath.Join(folder, "batch.journal"))
		if err != nil {
			log.Fatal(err)
		}
		report, err := batch.Run(context.Background(), client, items, &batch.Options{
			Select:  shipping.SelectAutomated,
			Budget:  budget,
			Journal: journal,
		})
		if err := errors.Join(err, report.Err(), journal.Close()); err != nil {
			log.Fatal(err)
		}
		fmt.Println("run", run+1, "completed:", report.Count(batch.StateCompleted), "purchases:",
			server.Requests(shipping.OpPurchase))
	}
	// Output:
	// run 1 completed: 5 purchases: 5
	// run 2 completed: 5 purchases: 5
}

// The documents of one item cannot be generated at first, and a retry generates them. Nobody retries those of another
// item, which a person closes.
func ExampleResolve() {
	server := mockserver.New(mockserver.WithScenario("instant"))
	defer server.Close()
	// the route of your service
	retry := map[string]string{"regulatory.retry": "/v1/regulatory-documents/request/{request_id}/retry"}
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL),
		shipping.WithDialect(&dialect.Dialect{Routes: retry}))
	if err != nil {
		log.Fatal(err)
	}
	ctx, journal := context.Background(), batch.Memory()
	items := []batch.Item{
		{Key: "SH-MAGICFAILONCE", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILONCE"}},
		{Key: "SH-MAGICFAILALWAYS", Analyze: shipping.AnalyzeRequest{ShipmentID: "SH-MAGICFAILALWAYS"}},
	}
	for run := range 2 {
		report, err := batch.Run(ctx, client, items, &batch.Options{Select: shipping.SelectAutomated, Journal: journal})
		if err != nil {
			log.Fatal(err)
		}
		for _, result := range report.Results {
			fmt.Printf("run %d: %s is %s\n", run+1, result.Key, result.State)
		}
		if run > 0 {
			break
		}
		// Without a new charge, the service generates the documents again.
		if _, err := client.Regulatory.Retry(ctx, report.Results[0].RequestID); err != nil {
			log.Fatal(err)
		}
		// The wallet was charged, and the documents are no longer needed.
		if err := batch.Resolve(ctx, journal, items[1].Key, shipping.OutcomeCharged, "by hand, ticket 4711"); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// run 1: SH-MAGICFAILONCE is failed
	// run 1: SH-MAGICFAILALWAYS is failed
	// run 2: SH-MAGICFAILONCE is completed
	// run 2: SH-MAGICFAILALWAYS is closed
}

// Many notifications, with a report on disk from which a later run continues.
func ExampleReplay() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()
	var requests []shipping.ReplayRequest
	for _, id := range server.Shipments()[:4] {
		requests = append(requests, shipping.ReplayRequest{ShipmentID: id, Event: shipping.EventShipmentCreated})
	}
	var report bytes.Buffer // a file, in a program
	lines := json.NewEncoder(&report)
	write := func(outcome batch.ReplayOutcome, ended, total int) {
		if err := lines.Encode(outcome); err != nil {
			log.Fatal(err)
		}
	}

	tried, err := batch.Replay(ctx, client, requests, &batch.ReplayOptions{DryRun: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("checked:", tried.Count(batch.ReplayChecked), "sent:", server.Requests(shipping.OpReplayWebhook))

	if _, err := batch.Replay(ctx, client, requests[:3], &batch.ReplayOptions{Progress: write}); err != nil {
		log.Fatal(err)
	}
	skip, err := batch.QueuedReplays(&report)
	if err != nil {
		log.Fatal(err)
	}
	rest, err := batch.Replay(ctx, client, requests, &batch.ReplayOptions{Skip: skip})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("skipped:", rest.Count(batch.ReplaySkipped), "queued:", rest.Count(batch.ReplayQueued))
	// Output:
	// checked: 4 sent: 0
	// skipped: 3 queued: 1
}
