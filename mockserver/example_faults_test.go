package mockserver_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// clientOf returns a client of a server in memory that waits next to nothing between attempts. In a test,
// Server.Client makes one.
func clientOf(srv *mockserver.Server) *shipping.Client {
	c, err := shipping.NewClient(srv.SecretKey,
		shipping.WithBaseURL(srv.URL),
		shipping.WithHTTPClient(&http.Client{Transport: srv.Transport()}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Millisecond, MaxWait: time.Millisecond}))
	if err != nil {
		panic(err) // an example has no *testing.T
	}
	return c
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
	page, err := clientOf(srv).Rates.List(context.Background(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(page.Items), "rates")
	for _, c := range srv.Journal() {
		fmt.Println(c.RequestID, c.Status, c.Fault)
	}
	// Output:
	// 100 rates
	// req-1 502 rule 1: html
	// req-2 502 rule 1: html
	// req-3 200
}

// A rule that could never strike is pointed out when it is injected, and not after an hour of wondering.
func ExampleWorld_Inject_never() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	fmt.Println(srv.Inject(fault.Rule{Operation: shipping.OpListCountries, Fault: fault.RepeatPage()}))
	// Output:
	// mockserver: no rule was added: rule 1 of 1 can never apply: countries.list is not a list with pages: use the operation of one, such as rates.list
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
	client := clientOf(srv)
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
