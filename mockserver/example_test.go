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
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// clientIn returns a client of a world that waits next to nothing between attempts. A test has [mockserver.World.Client].
func clientIn(w *mockserver.World) *shipping.Client {
	client, err := shipping.NewClient(w.SecretKey,
		shipping.WithBaseURL(w.URL),
		shipping.WithHTTPClient(&http.Client{Transport: w.Transport()}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Millisecond, MaxWait: time.Millisecond}))
	if err != nil {
		panic(err) // an example has no *testing.T
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

// The first two requests get the response of a failing proxy, and the client retries them.
func ExampleWorld_Inject() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	err := srv.Inject(fault.Rule{Operation: shipping.OpListRates, First: 2, Fault: fault.HTML(http.StatusBadGateway)})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := clientIn(srv.World).Rates.List(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(page.Items), "rates")
	for _, c := range srv.Journal() {
		fmt.Println(c.ID, c.Status, c.Fault)
	}
	// Output:
	// 100 rates
	// req-1 502 rule 1: html
	// req-2 502 rule 1: html
	// req-3 200
}

// The service dies right after it has charged the wallet. The client does not send the purchase again: it
// looks, and learns that it was charged.
func ExampleWorld_Inject_point() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	if err := srv.Inject(fault.Rule{Point: fault.AfterCharge, Fault: fault.Drop()}); err != nil {
		fmt.Println(err)
		return
	}
	client := clientIn(srv.World)
	draft, err := client.Regulatory.Analyze(context.Background(), &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	bought, err := client.Regulatory.Purchase(context.Background(), &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("charged after", srv.Requests(shipping.OpPurchase), "purchase; learnt by reading back:", bought.ReadBack)
	fmt.Println("invariants:", srv.Check())
	// Output:
	// charged after 1 purchase; learnt by reading back: true
	// invariants: <nil>
}

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
