package conformance_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
)

// A service is checked against the specification, without changing anything in it.
func ExampleCheck() {
	server := mockserver.New() // or any other service: its address and key are all that is needed
	defer server.Close()
	report := conformance.Check(context.Background(), conformance.Target{
		BaseURL: server.URL,
		Wallet:  server.Wallets()[0],
	}, conformance.WithSecretKey(server.SecretKey))
	for _, result := range report.Results {
		if result.Heading == "Webhook pagination object" && result.Verdict == conformance.Pass {
			fmt.Println(result.Verdict, result.Check)
		}
	}
	fmt.Println("conforms:", report.Conforms())
	// Output:
	// pass the object has the fields of the table, each of its type
	// pass page, perPage, total, pageCount and the neighbours add up on the first, second and last page
	// conforms: true
}

// A service is measured, and the client buys from it. The server stands for a service that has decided otherwise.
func Example_dialect() {
	ctx := context.Background()
	decided, err := dialect.Read("testdata/service.json")
	if err != nil {
		log.Fatal(err)
	}
	server := mockserver.New(mockserver.WithDialect(decided))
	defer server.Close()

	report := conformance.Check(ctx, conformance.Target{
		BaseURL: server.URL, Wallet: server.Wallets()[0], Shipment: server.Shipments()[0],
	}, conformance.WithSecretKey(server.SecretKey), conformance.WithWrites(), conformance.WithMost("100000.00"))
	measured := report.Dialect
	fmt.Println("price:", measured.Offer.Amount, "not charged:", measured.Offer.Beside)

	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL), shipping.WithPlainHTTP(),
		shipping.WithDialect(measured))
	if err != nil {
		log.Fatal(err)
	}
	limit, err := shipping.ParseBudget("30000.00 NGN")
	if err != nil {
		log.Fatal(err)
	}
	request, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]},
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectOnly("CUSTOMS"), Budget: limit})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(request.Status, request.ChargedAmount)
	// Output:
	// price: price.gross not charged: [price.net vat]
	// completed 5904.16
}
