package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

// account returns a client of a new account on the reference server, whose documents are ready at once.
// The first example does it by hand; the others begin here.
func account(opts ...shipping.Option) (*shipping.Client, *mockserver.Server) {
	server := mockserver.New(mockserver.WithAssumptions(func(a *assumption.Set) { a.GenerationScale = -1 }))
	client, err := shipping.NewClient(server.SecretKey, append(opts, shipping.WithBaseURL(server.URL))...)
	if err != nil {
		log.Fatal(err)
	}
	return client, server
}

// A client needs a key and an address; here they are those of the reference server.
func Example() {
	server := mockserver.New()
	defer server.Close()

	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
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

// An invalid key or address is refused at once, with the correction.
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

// Key and address from SHIPPING_SECRET_KEY and SHIPPING_BASE_URL.
func ExampleNewClientFromEnv() {
	os.Unsetenv("SHIPPING_SECRET_KEY")
	_, err := shipping.NewClientFromEnv()
	fmt.Println(err)
	// Output: shipping: SHIPPING_SECRET_KEY is not set: export it with the account's secret key
}

// Operations that the specification only names can be called with the same care.
func ExampleClient_Do() {
	client, server := account()
	defer server.Close()

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
