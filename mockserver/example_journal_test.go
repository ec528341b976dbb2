package mockserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// fetch sends a request with the server's key and returns the headers of the answer.
func fetch(srv *mockserver.Server, method, path, body string) http.Header {
	req, err := http.NewRequest(method, srv.URL+path, strings.NewReader(body))
	if err != nil {
		panic(err) // an example has no *testing.T
	}
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := srv.Transport().RoundTrip(req)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		panic(err)
	}
	return resp.Header
}

// Await takes the place of a sleep: it returns as soon as something was called.
func ExampleWorld_Await() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	var background sync.WaitGroup // the goroutine under test
	background.Go(func() { fetch(srv, "GET", "/v1/countries", "") })
	defer background.Wait()
	call, err := srv.Await(context.Background(), journal.Query{Operation: shipping.OpListCountries}, 10*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(call.Method, call.Path, call.Status)
	// Output:
	// GET /v1/countries 200
}

// The explanation of a refusal names the rule of the specification and a request that would be accepted.
func ExampleWorld_Why() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	answer := fetch(srv, "GET", "/v1/transactions?perPage=5", "")
	fmt.Println(answer.Get("X-Mock-Why"))
	why, err := srv.Why(answer.Get("X-Request-Id"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(why.Summary())
	fmt.Println(why.Specification)
	fmt.Println(why.Nearest.Method, strings.ReplaceAll(why.Nearest.Target, srv.Wallets()[0], "VA-…"))
	// Output:
	// /_mock/journal/req-1
	// req-1 was refused: the query parameter wallet is required: name the wallet, such as ?wallet=VA-1000000001
	// Endpoints: GET /v1/transactions
	// GET /v1/transactions?perPage=5&wallet=VA-…
}

func ExampleWorld_Journal() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	fetch(srv, "POST", "/v1/webhooks/replay", `{"delivery_id":"WD-1"}`)
	call := srv.Find(journal.Query{Status: 404})[0]
	fmt.Print(call.Curl("http://127.0.0.1:4010"))
	// Output:
	// curl -i -X POST -H "Authorization: Bearer $SHIPPING_SECRET_KEY" -H 'Content-Type: application/json' --data-raw '{"delivery_id":"WD-1"}' http://127.0.0.1:4010/v1/webhooks/replay
}

// Findings list requests that a careful client does not send. Server.Lint fails a test for each.
func ExampleWorld_Findings() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	fetch(srv, "GET", "/v1/transactions", "")
	fetch(srv, "GET", "/v1/transactions", "") // has learnt nothing
	for _, f := range srv.Findings() {
		fmt.Println(f)
	}
	// Output:
	// repeated-refusal by transactions.list (refused with 400 before), once, as req-2: the same request was refused before and nothing has changed since: correct it instead of sending it again
}

// Strict refuses requests that the service may tolerate, so that a test finds them.
func ExampleStrict() {
	srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithAssumptions(mockserver.Strict))
	defer srv.Close()
	answer := fetch(srv, "GET", "/v1/rates?sort=price", "")
	why, err := srv.Why(answer.Get("X-Request-Id"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(why.Message)
	// Output:
	// rates.list has no query parameter sort: it takes perPage, page
}
