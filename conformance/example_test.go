package conformance_test

import (
	"context"
	"fmt"

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

// The report has the lines that declare the other choices of a service. The server stands for such a service.
func ExampleReport_lines() {
	server := mockserver.New(mockserver.WithDialect(&dialect.Dialect{
		Record: dialect.RecordMembers{At: "request"}, List: dialect.List{MaxPerPage: 100, Order: "oldest first"},
	}))
	defer server.Close()
	report := conformance.Check(context.Background(), conformance.Target{
		BaseURL: server.URL, Wallet: server.Wallets()[0], Shipment: server.Shipments()[0],
	}, conformance.WithSecretKey(server.SecretKey), conformance.WithWrites())
	for _, line := range report.Lines {
		fmt.Println(line)
	}
	// Output:
	// record.at = request
	// list.max_per_page = 100
	// list.order = oldest first
}
