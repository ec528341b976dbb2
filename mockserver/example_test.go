package mockserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
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

// A test can choose which documents are offered, and at which price.
func ExampleWorld_AddShipment() {
	server := mockserver.New(mockserver.WithoutListener())
	defer server.Close()
	price, err := shipping.ParseAmount("1500.00")
	if err != nil {
		fmt.Println(err)
		return
	}
	shipment, err := server.AddShipment(goods.Shipment{
		Items:     []goods.Item{{Description: "cotton shirt", Quantity: 40}},
		Documents: []goods.Document{{DocumentType: "CUSTOMS", Amount: price}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	draft, err := clientIn(server.World).Regulatory.Analyze(context.Background(), &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, document := range draft.AvailableDocuments {
		fmt.Println(document.DocumentType, document.Amount.StringFixed(2), document.Currency)
	}
	// Output:
	// CUSTOMS 1500.00 NGN
}

// A program also uses routes that the specification does not have. This stub creates the shipments that it analyzes.
func ExampleWorld_Stub() {
	server := mockserver.New(mockserver.WithoutListener())
	defer server.Close()
	ctx, client := context.Background(), clientIn(server.World)
	create := func(w http.ResponseWriter, _ *http.Request) {
		id, err := server.AddShipment(goods.Shipment{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"status":true,"message":"Created","data":{"shipment_id":%q}}`, id)
	}
	if err := server.Stub("POST", "/v1/shipments", http.HandlerFunc(create)); err != nil {
		fmt.Println(err)
		return
	}

	var created struct {
		ShipmentID string `json:"shipment_id"`
	}
	if err := client.Do(ctx, http.MethodPost, "/v1/shipments", nil, map[string]string{"parcel": "PC-1"}, &created); err != nil {
		fmt.Println(err)
		return
	}
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: created.ShipmentID})
	fmt.Println(draft.Status, err, server.Requests("POST /v1/shipments"))
	// Output:
	// draft <nil> 1
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

// Two outcomes of one state are two worlds, which a function prepares in the same way.
func ExampleServer_Open_outcomes() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	open := func(name string) (*mockserver.World, error) {
		w, err := srv.Open("default_" + name)
		if err != nil {
			return nil, err
		}
		_, err = w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9000/hook"})
		return w, err
	}
	funded, err := open("funded")
	if err != nil {
		fmt.Println(err)
		return
	}
	plain, err := open("plain")
	if err != nil {
		fmt.Println(err)
		return
	}
	wallet := plain.Wallets()[0]
	amount, err := shipping.ParseAmount("1000000.50")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := funded.Fund(wallet, amount); err != nil {
		fmt.Println(err)
		return
	}
	before, _ := plain.Balance(wallet)
	after, _ := funded.Balance(wallet)
	fmt.Println(after.Sub(before))
	// Output: 1000000.5 <nil>
}

// A subscription, an event, and a receiver that refuses it once: the delivery log has both attempts, and
// a replay by delivery_id sends the same bytes again.
func ExampleWorld_Emit() {
	srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithVirtualClock(time.Time{}))
	defer srv.Close()
	ctx := context.Background()

	refused := false
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !refused {
			refused = true
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Println("received, signed:", r.Header.Get(webhook.DefaultSignatureHeader) != "")
	}))
	defer receiver.Close()
	if _, err := srv.AddWebhook(notify.Webhook{Name: "Mine", URL: receiver.URL, Events: []string{"shipment.updated"}}); err != nil {
		fmt.Println(err)
		return
	}

	sent, err := srv.Emit(notify.Event{Kind: "shipment.updated", ShipmentID: srv.Shipments()[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := srv.Advance(time.Minute); err != nil { // the second attempt is due after half a second
		fmt.Println(err)
		return
	}
	mine := sent[0]
	ended, err := srv.WaitDelivery(ctx, mine.ID)
	for _, attempt := range ended.Attempts {
		fmt.Println(attempt.At.Sub(mine.CreatedAt), attempt.StatusCode)
	}
	fmt.Println(ended.State, err)

	again, err := clientIn(srv.World).Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: mine.ID})
	if err != nil {
		fmt.Println(err)
		return
	}
	replayed, err := srv.WaitDelivery(ctx, again.DeliveryID)
	fmt.Println("the same bytes:", string(replayed.Payload) == string(mine.Payload), err)
	// Output:
	// received, signed: true
	// received, signed: true
	// 0s 503
	// 500ms 200
	// delivered <nil>
	// received, signed: true
	// the same bytes: true <nil>
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

// The response to the first attempt of a notification is lost, so that the receiver gets it twice.
func ExampleWorld_Inject_notification() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("received, signed:", r.Header.Get(webhook.DefaultSignatureHeader) != "")
	}))
	defer receiver.Close()
	_, err := srv.AddWebhook(notify.Webhook{URL: receiver.URL})
	if err == nil {
		err = srv.Inject(fault.Rule{First: 1, Fault: fault.RepeatNotification()})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	sent, err := srv.Emit(notify.Event{Kind: "shipment.created"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended, err := srv.WaitDelivery(context.Background(), sent[0].ID)
	fmt.Println(ended.State, ended.Fault, err)
	// Output:
	// received, signed: true
	// received, signed: true
	// delivered rule 1: repeat-notification <nil>
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

// Strict refuses requests that the service may tolerate, so that a test finds them.
func ExampleStrict() {
	srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithDialect(dialect.Strict()))
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
