package documents_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func TestMyCode(t *testing.T) {
	server := mockserver.New() // the whole service, on a free port of this machine
	defer server.Close()
	client := server.Client(t) // a ready *shipping.Client

	draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
	if err != nil {
		t.Fatal(err)
	}
	bought, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
		RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"},
	})
	if err != nil || bought.TransactionID == "" {
		t.Errorf("purchase: %+v, %v", bought, err)
	}
	server.CheckInvariants(t) // the ledger balances, and nothing was charged twice
	server.Lint(t)            // no request that a careful client would avoid
}

// The response to the purchase is lost after the wallet was charged. The client reads the request back and
// reports the charge.
func TestLostResponse(t *testing.T) {
	server := mockserver.New()
	defer server.Close()
	client := server.Client(t)
	lost := fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Drop()}
	if err := server.Inject(lost); err != nil {
		t.Fatal(err)
	}

	draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
	if err != nil {
		t.Fatal(err)
	}
	bought, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}})
	if err != nil || !bought.ReadBack {
		t.Errorf("purchase: %+v, %v", bought, err)
	}
	server.CheckInvariants(t)
}

// The purchase is lost before it reaches the service. The client reads the request back for 10 seconds, and
// SettlePurchase reads it for another minute. In the bubble this takes milliseconds.
func TestLostPurchase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mockserver.New(mockserver.WithoutListener()) // in memory: a bubble cannot wait for sockets
		defer server.Close()
		client := server.Client(t)
		lost := fault.Rule{Operation: shipping.OpPurchase, First: 1, Fault: fault.Drop()}
		if err := server.Inject(lost); err != nil {
			t.Fatal(err)
		}

		draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{
			RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"},
		})
		failed, ok := errors.AsType[*shipping.PurchaseError](err)
		if !ok || failed.Outcome != shipping.OutcomeUnknown {
			t.Fatalf("the purchase: %v", err)
		}
		_, err = client.Regulatory.SettlePurchase(t.Context(), failed.Purchase)
		settled, ok := errors.AsType[*shipping.PurchaseError](err)
		if !ok || settled.Outcome != shipping.OutcomeNotCharged {
			t.Fatalf("settled: %v", err)
		}
	})
}

func TestInParallel(t *testing.T) {
	server := mockserver.New()
	t.Cleanup(server.Close) // after the parallel tests
	for scenario, want := range map[string]error{"default": nil, "lowfunds": shipping.ErrInsufficientFunds} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			world := server.NewWorld(t, scenario) // closed when the test ends
			client := world.Client(t)
			draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: world.Shipments()[0]})
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}})
			if !errors.Is(err, want) {
				t.Errorf("purchase: %v, want %v", err, want)
			}
		})
	}
}
