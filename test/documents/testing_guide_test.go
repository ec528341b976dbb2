package documents_test

import (
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func TestMyCode(t *testing.T) {
	server := mockserver.New() // on a free loopback port; WithoutListener() for none at all
	defer server.Close()
	client := server.Client(t) // a ready *shipping.Client

	// The answer to the purchase gets lost, after the wallet was charged.
	lost := fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Drop()}
	if err := server.Inject(lost); err != nil {
		t.Fatal(err)
	}
	draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
	if err != nil {
		t.Fatal(err)
	}
	bought, err := client.Regulatory.Purchase(t.Context(), draft.RequestID, shipping.DocumentCustoms)
	if err != nil || bought.Outcome != shipping.OutcomeCharged {
		t.Errorf("the purchase: %+v, %v", bought, err)
	}
	server.CheckInvariants(t) // the ledger still adds up
}
