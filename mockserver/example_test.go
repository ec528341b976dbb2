package mockserver_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/goods"
)

// clientIn returns a client of a world that waits next to nothing between attempts. A test has
// [mockserver.World.Client].
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
	draft, err := clientIn(server.World).Regulatory.Analyze(context.Background(),
		&shipping.AnalyzeRequest{ShipmentID: shipment})
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
	if err := client.Do(ctx, http.MethodPost, "/v1/shipments", nil, map[string]string{"parcel": "PC-1"},
		&created); err != nil {
		fmt.Println(err)
		return
	}
	draft, err := client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: created.ShipmentID})
	fmt.Println(draft.Status, err, server.Requests("POST /v1/shipments"))
	// Output:
	// draft <nil> 1
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
