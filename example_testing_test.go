package shipping_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
)

// carriers is a function of a program: it returns the carriers of an account's rates.
func carriers(ctx context.Context, client *shipping.Client) ([]string, error) {
	var names []string
	for rate, err := range client.Rates.All(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, rate.CarrierName)
	}
	return names, nil
}

// A test of a program needs no server: a mock transport responds instead. Register each route that the program
// uses. A route that is not registered is a connection error, which a read retries. For a service that behaves
// like the real one, with wallets, documents and faults, use the package mockserver.
func Example_testing() {
	mock := httpmock.NewMockTransport()
	busy := httpmock.NewStringResponder(http.StatusServiceUnavailable, `{"status":false,"message":"busy"}`)
	rates := httpmock.NewStringResponder(http.StatusOK, `{"status":true,"message":"done","data":{"rates":[
		{"rate_id":"RT-1","carrier_name":"Road","amount":1200,"currency":"NGN"},
		{"rate_id":"RT-2","carrier_name":"Air","amount":950.5,"currency":"NGN"}],"pagination":{"total":2}}}`)
	mock.RegisterResponder(http.MethodGet, "https://api.example.com/v1/rates", busy.Then(rates))

	client, err := shipping.NewClient("sk_test_1",
		shipping.WithBaseURL("https://api.example.com"),
		shipping.WithHTTPClient(&http.Client{Transport: mock}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: 1, MaxWait: 1})) // retries after 1 ns
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(carriers(context.Background(), client))
	fmt.Println(mock.GetTotalCallCount(), "requests")
	// Output:
	// [Road Air] <nil>
	// 2 requests
}
