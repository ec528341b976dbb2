package mockserver_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// clientIn returns a client of a world. A test has [mockserver.World.Client].
func clientIn(w *mockserver.World) *shipping.Client {
	client, err := shipping.NewClient(w.SecretKey, shipping.WithBaseURL(w.URL), shipping.WithHTTPClient(&http.Client{Transport: w.Transport()}))
	if err != nil {
		panic(err)
	}
	return client
}

// Two worlds of one server never see each other. In a test, NewWorld opens one that closes with the test.
func ExampleServer_Open() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	ctx := context.Background()

	left, err := srv.Open("default_left")
	if err != nil {
		fmt.Println(err)
		return
	}
	right, err := srv.Open("sk_test_default_right") // a key opens the same world
	if err != nil {
		fmt.Println(err)
		return
	}
	draft, err := clientIn(left).Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: left.Shipments()[0]})
	fmt.Println(draft.Status, err)
	_, err = clientIn(right).Regulatory.Get(ctx, draft.RequestID)
	fmt.Println(err != nil)
	// Output:
	// draft <nil>
	// true
}

// A scenario in the key makes the world a special one.
func ExampleServer_Open_scenario() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	ctx := context.Background()

	poor, err := srv.Open("lowfunds_ci42")
	if err != nil {
		fmt.Println(err)
		return
	}
	client := clientIn(poor)
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: poor.Shipments()[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}})
	fmt.Println(err != nil)

	_, err = srv.Open("lots_ci42")
	fmt.Println(err)
	// Output:
	// true
	// no such world: unknown scenario "lots": use one of default, seedN, empty, lowfunds, rowsN, historyN, failforms, instant, capN, virtual, real
}

// Ten million transactions take no memory: each follows from its place in the list.
func ExampleWithScenario() {
	srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithScenario("rows10000000"))
	defer srv.Close()

	page, err := clientIn(srv.World).Transactions.List(context.Background(), &shipping.TransactionListOptions{Wallet: srv.Wallets()[0], Page: 100_000})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(page.Items), "of", page.Pagination.Total)
	// Output: 100 of 10000000
}

// Advance moves a virtual clock and returns what fell due.
func ExampleWorld_Advance() {
	srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithVirtualClock(time.Time{}))
	defer srv.Close()
	ctx := context.Background()
	client := clientIn(srv.World)

	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}}); err != nil {
		fmt.Println(err)
		return
	}
	began := srv.Now()
	fired, err := srv.Advance(time.Minute)
	for _, f := range fired {
		fmt.Println(f.Due.Sub(began), f.Label == "generate CUSTOMS of "+draft.RequestID, err)
	}
	// Output: 150ms true <nil>
}

// A fork tries something out and leaves the world as it is.
func ExampleWorld_Fork() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	wallet := srv.Wallets()[0]
	before, _ := srv.Balance(wallet)

	fork, err := srv.Fork("what-if")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer fork.Close()
	amount, err := shipping.ParseAmount("1000000.50")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := fork.Fund(wallet, amount); err != nil {
		fmt.Println(err)
		return
	}
	here, _ := srv.Balance(wallet)
	there, _ := fork.Balance(wallet)
	more, err := there.Sub(here)
	fmt.Println(here.Equal(before), more, err)
	// Output: true 1000000.5 <nil>
}

// A snapshot is restored as often as a test wants the same beginning.
func ExampleWorld_Restore() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	ctx := context.Background()
	client := clientIn(srv.World)

	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	drafted := srv.Snapshot()
	for _, document := range []shipping.DocumentType{"CUSTOMS", "WATCH"} {
		srv.Restore(drafted)
		_, err := client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{document}})
		fmt.Println(document, err)
	}
	// Output:
	// CUSTOMS <nil>
	// WATCH <nil>
}

// The next server continues with the data of the previous one.
func ExampleWithState() {
	folder, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	state := mockserver.WithState(filepath.Join(folder, "state.json"))

	first := mockserver.New(mockserver.WithoutListener(), state)
	id, err := first.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9000/hook"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := first.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
		return
	}

	second := mockserver.New(mockserver.WithoutListener(), state)
	defer second.Close()
	fmt.Println(second.Err(), second.Webhooks()[0] == id)
	// Output: <nil> true
}
