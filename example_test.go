package shipping_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

const (
	shipment = shippingtest.Shipment
	wallet   = shippingtest.Wallet
)

// account returns a client, and the service that responds to it in these examples.
func account(opts ...shipping.Option) (*shipping.Client, *shippingtest.Account) {
	service := shippingtest.NewAccount()
	return clientOf(service, opts...), service
}

// clientOf returns a client whose requests go to a transport.
func clientOf(transport http.RoundTripper, opts ...shipping.Option) *shipping.Client {
	client, err := shipping.NewClient("sk_test_1", append([]shipping.Option{
		shipping.WithBaseURL(shippingtest.BaseURL), shipping.WithHTTPClient(&http.Client{Transport: transport}),
	}, opts...)...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// A client needs a key and an address. In these examples, a mock transport responds.
func Example() {
	service := shippingtest.NewAccount()

	client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL("https://api.service.test"),
		shipping.WithHTTPClient(&http.Client{Transport: service})) // not needed with a real service
	if err != nil {
		log.Fatal(err)
	}
	countries, err := client.Countries.List(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, country := range countries {
		if country.ISOCode == "NG" {
			fmt.Println(country.Name, "+"+country.PhoneCode, country.Currency, country.Timezones[0].ZoneName)
		}
	}
	// Output: Nigeria +234 NGN Africa/Lagos
}

// An invalid key or address is refused at once, with the correction.
func ExampleNewClient() {
	_, err := shipping.NewClient("Bearer sk_test_1", shipping.WithBaseURL("https://api.example.com"))
	fmt.Println(err)
	_, err = shipping.NewClient("sk_test_1", shipping.WithBaseURL("https:///v1"))
	fmt.Println(err)

	client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL("https://api.example.com/v1/"))
	fmt.Println(client, err) // never shows the key
	// Output:
	// shipping: secretKey starts with "Bearer": pass the bare key, the client adds the scheme
	// shipping: WithBaseURL has no host: write it like https://api.example.com
	// shipping.Client(https://api.example.com) <nil>
}

// Operations that the specification only names can be called with the same care.
func ExampleClient_Do() {
	client, _ := account()

	var page struct {
		Pagination shipping.Pagination `json:"pagination"`
	}
	err := client.Do(context.Background(), http.MethodGet, "/v1/rates", url.Values{"perPage": {"7"}}, nil, &page)
	fmt.Println(page.Pagination.PerPage, err)

	err = client.Do(context.Background(), http.MethodGet, "/v1/parcels", nil, nil, nil)
	fmt.Println(errors.Is(err, shipping.ErrNotFound))
	// Output:
	// 7 <nil>
	// true
}

// An observer is called for each call, for example to export metrics. An operation has a route, which can label a
// metric: it contains no identifier, key or query.
func ExampleWithObserver() {
	client, _ := account(shipping.WithObserver(shipping.Observer{
		Done: func(_ context.Context, operation string, attempts []shipping.Attempt, _ time.Duration, err error) {
			fmt.Println(operation, len(attempts), err != nil)
		},
	}))

	if _, err := client.Regulatory.Get(context.Background(), "RD-UNKNOWN"); err == nil {
		log.Fatal("it was found")
	}
	// Output: regulatory.get 1 true
}

// Differences between a service's responses and the specification.
func ExampleWithDriftReport() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"status":true,"message":"","data":[{"isoCode":"KE","name":"Kenya","phonecode":254,
			"flag":"🇰🇪","currency":"KES","latitude":"1.0","longitude":"38.0","continent":"Africa"}]}`)
	}))
	defer service.Close()
	client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL(service.URL),
		shipping.WithDriftReport(func(operation string, found []shipping.Drift) {
			for _, drift := range found {
				fmt.Println(operation, drift)
			}
		}))
	if err != nil {
		log.Fatal(err)
	}
	countries, err := client.Countries.List(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(countries[0].Name, countries[0].PhoneCode) // read despite the difference
	// Output:
	// countries.list unknown data[].continent: string
	// countries.list type data[].phonecode: number instead of string
	// countries.list missing data[].timezones
	// Kenya 254
}

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

// A notification is sent again: by its delivery, or by shipment and event.
func ExampleWebhooksService_Replay() {
	client, _ := account()
	ctx := context.Background()

	_, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: shipment})
	fmt.Println(err)

	queued, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{
		ShipmentID: shipment, Event: shipping.EventShipmentDelivered,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(queued.Event, queued.DeliveryID)
	// Output:
	// shipping: webhooks.replay: Event is empty: set it with ShipmentID, for example to EventShipmentUpdated
	// shipment.delivered WD-8K2J9L0M1N2P3Q4R
}

// Test errors with errors.Is, and read their fields with errors.AsType.
func ExampleError() {
	client := clientOf(shippingtest.NewService(shippingtest.Refusal(http.StatusUnauthorized, "Invalid key")))

	_, err := client.Rates.List(context.Background(), nil)
	fmt.Println(errors.Is(err, shipping.ErrUnauthorized))
	if failure, ok := errors.AsType[*shipping.Error](err); ok {
		fmt.Println(failure.Operation, failure.StatusCode, len(failure.Attempts))
	}
	// Output:
	// true
	// rates.list 401 1
}

// Reads are retried: after two failures, the third attempt succeeds.
func ExampleWithRetryPolicy() {
	busy := shippingtest.Refusal(http.StatusServiceUnavailable, "busy")
	service := shippingtest.NewService(busy, busy, shippingtest.OK(`{"rates":[],"pagination":{}}`))
	client := clientOf(service, shipping.WithRetryPolicy(shipping.RetryPolicy{
		MaxAttempts: 3, // 4 unless set
		MinWait:     time.Millisecond,
	}))

	page, err := client.Rates.List(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, attempt := range page.Response.Attempts {
		fmt.Println(attempt.StatusCode)
	}
	// Output:
	// 503
	// 503
	// 200
}

// A proxy from the environment, the CA certificate of a company, and at most ten seconds for an attempt.
func ExampleWithHTTPClient() {
	var companyCA []byte // PEM

	roots, err := x509.SystemCertPool()
	if err != nil {
		log.Fatal(err)
	}
	roots.AppendCertsFromPEM(companyCA)
	client, err := shipping.NewClient("sk_test_1",
		shipping.WithBaseURL("https://api.example.com"),
		shipping.WithHTTPClient(&http.Client{Transport: &http.Transport{
			Proxy:             http.ProxyFromEnvironment, // HTTPS_PROXY and NO_PROXY
			TLSClientConfig:   &tls.Config{RootCAs: roots},
			ForceAttemptHTTP2: true,
		}}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: 10 * time.Second}))

	fmt.Println(client, err)
	// Output: shipping.Client(https://api.example.com) <nil>
}
