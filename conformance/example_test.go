package conformance_test

import (
	"context"
	"fmt"

	"github.com/shipping-go/shipping/conformance"
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
