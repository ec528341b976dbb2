package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// A client needs a key and an address; here they are those of the reference server.
func Example() {
	srv := mockserver.New()
	defer srv.Close()

	client, err := shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL))
	if err != nil {
		log.Fatal(err)
	}
	countries, err := client.Countries.List(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, country := range countries {
		if country.ISOCode == "KE" {
			fmt.Println(country.Name, "+"+country.PhoneCode, country.Currency, country.Timezones[0].ZoneName)
		}
	}
	// Output: Kenya +254 KES Africa/Nairobi
}

// What is wrong with a key or an address is told at once, with what to do.
func ExampleNewClient() {
	_, err := shipping.NewClient("Bearer sk_test_1", shipping.WithBaseURL("https://api.example.com"))
	fmt.Println(err)
	_, err = shipping.NewClient("sk_test_1", shipping.WithBaseURL("api.example.com"))
	fmt.Println(err)

	client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL("https://api.example.com/v1/"))
	fmt.Println(client, err) // never shows the key
	// Output:
	// shipping: secretKey starts with "Bearer": pass the bare key, the client adds the scheme
	// shipping: WithBaseURL has no http or https scheme: write it like https://api.example.com
	// shipping.Client(https://api.example.com) <nil>
}

// All walks every page, and fetches pages ahead.
func ExampleTransactionsService_All() {
	srv := mockserver.New()
	defer srv.Close()
	client, err := shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL))
	if err != nil {
		log.Fatal(err)
	}

	var spent shipping.Amount
	currency := ""
	options := &shipping.TransactionListOptions{Wallet: srv.Wallets()[0]}
	for transaction, err := range client.Transactions.All(context.Background(), options) {
		if err != nil {
			log.Fatal(err)
		}
		if transaction.Flow != shipping.FlowOut {
			continue
		}
		if spent, err = spent.Add(transaction.Amount); err != nil { // exact: no float is involved
			log.Fatal(err)
		}
		currency = transaction.Currency
	}
	fmt.Println("something was spent:", spent.Sign() > 0, currency)
	// Output: something was spent: true NGN
}

// Errors are told apart with errors.Is, and taken apart with errors.As.
func ExampleError() {
	srv := mockserver.New()
	defer srv.Close()
	client, err := shipping.NewClient("sk_test_of_somebody_else", shipping.WithBaseURL(srv.URL))
	if err != nil {
		log.Fatal(err)
	}

	_, err = client.Rates.List(context.Background(), nil)
	fmt.Println(errors.Is(err, shipping.ErrUnauthorized))
	if failure, ok := errors.AsType[*shipping.Error](err); ok {
		fmt.Println(failure.Operation, failure.StatusCode, len(failure.Attempts))
	}
	// Output:
	// true
	// rates.list 401 1
}

// What the specification rules out is refused before anything is sent.
func ExampleWebhooksService_Replay() {
	client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL("https://api.example.com"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Webhooks.Replay(context.Background(), &shipping.ReplayRequest{ShipmentID: "SH-7Q2MX09DKA4B8C1E"})
	fmt.Println(err)
	// Output: shipping: webhooks.replay: Event is empty: ShipmentID must be sent together with Event
}

// The connection breaks after the wallet was charged: the client reads the request back and reports
// the charge. The purchase is never sent twice.
func ExampleRegulatoryService_Purchase() {
	srv := mockserver.New()
	defer srv.Close()
	client, err := shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Inject(mockserver.FaultRule{Operation: shipping.OpPurchase, Committed: true, Fault: mockserver.FaultDrop()}); err != nil {
		log.Fatal(err)
	}

	bought, err := client.Regulatory.Purchase(ctx, draft.RequestID, draft.AvailableDocuments[0].DocumentType)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bought.Outcome, "learnt by reading back:", bought.ReadBack)
	fmt.Println("purchases that reached the server:", srv.Calls(shipping.OpPurchase))
	// Output:
	// charged learnt by reading back: true
	// purchases that reached the server: 1
}

// Where nothing proves whether the wallet was charged, the error says so and how to settle it later.
func ExamplePurchaseError() {
	srv := mockserver.New()
	defer srv.Close()
	client, err := shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		log.Fatal(err)
	}
	if err := srv.Inject(mockserver.FaultRule{Operation: shipping.OpPurchase, Fault: mockserver.FaultDrop()}); err != nil {
		log.Fatal(err)
	}

	_, err = client.Regulatory.PurchaseWith(ctx, &shipping.PurchaseRequest{
		RequestID:     draft.RequestID,
		DocumentTypes: []shipping.DocumentType{draft.AvailableDocuments[0].DocumentType},
		SettleFor:     10 * time.Millisecond,
	})
	if failure, ok := errors.AsType[*shipping.PurchaseError](err); ok {
		fmt.Println("outcome:", failure.Outcome)
		_, err = client.Regulatory.SettlePurchase(ctx, failure.RequestID, &shipping.SettleOptions{QuietFor: 10 * time.Millisecond})
	}
	if failure, ok := errors.AsType[*shipping.PurchaseError](err); ok {
		fmt.Println("settled:", failure.Outcome)
	}
	// Output:
	// outcome: unknown
	// settled: not charged
}

// From a shipment to its documents, within a budget.
func ExampleRegulatoryService_AnalyzeAndPoll() {
	srv := mockserver.New()
	defer srv.Close()
	client, err := shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL))
	if err != nil {
		log.Fatal(err)
	}
	shipment := &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]}
	within := func(amount int64) *shipping.AnalyzeAndPollOptions {
		budget, err := shipping.NewAmount(amount, 0)
		if err != nil {
			log.Fatal(err)
		}
		return &shipping.AnalyzeAndPollOptions{
			Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
				return []shipping.DocumentType{shipping.DocumentCustoms}, nil // without Select nothing is bought
			},
			Budget: &shipping.Budget{Amount: budget, Currency: "NGN"},
			Poll:   shipping.PollOptions{MinInterval: 10 * time.Millisecond, MaxInterval: 50 * time.Millisecond},
		}
	}

	draft, err := client.Regulatory.AnalyzeAndPoll(context.Background(), shipment, within(1))
	fmt.Println(draft.Status, errors.Is(err, shipping.ErrOverBudget))

	done, err := client.Regulatory.AnalyzeAndPoll(context.Background(), shipment, within(1_000_000))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Status, done.Documents[0].DocumentType, done.Documents[0].Status)
	// Output:
	// draft true
	// completed CUSTOMS generated
}

// Operations that the specification only names can be called with the same care.
func ExampleClient_Do() {
	srv := mockserver.New()
	defer srv.Close()
	client, err := shipping.NewClient(srv.SecretKey, shipping.WithBaseURL(srv.URL))
	if err != nil {
		log.Fatal(err)
	}
	var page struct {
		Pagination shipping.Pagination `json:"pagination"`
	}
	err = client.Do(context.Background(), http.MethodGet, "/v1/rates", url.Values{"perPage": {"7"}}, nil, &page)
	fmt.Println(page.Pagination.PerPage, err)

	err = client.Do(context.Background(), http.MethodGet, "/v1/parcels", nil, nil, nil)
	fmt.Println(errors.Is(err, shipping.ErrNotFound))
	// Output:
	// 7 <nil>
	// true
}

// Money is exact.
func ExampleAmount() {
	price, err := shipping.ParseAmount("19.99")
	if err != nil {
		log.Fatal(err)
	}
	three, err := shipping.NewAmount(3, 0)
	if err != nil {
		log.Fatal(err)
	}
	total, err := price.Mul(three)
	if err != nil {
		log.Fatal(err)
	}
	flat, err := total.Flat()
	fmt.Println(total, flat, err)
	// Output: 59.97 5997 <nil>
}
