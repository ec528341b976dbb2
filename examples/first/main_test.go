package main

import (
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

func TestBuy_LostResponse(t *testing.T) {
	// This is the whole service, in this process. It generates documents at once.
	server := mockserver.New(mockserver.WithScenario("instant"))
	defer server.Close()
	// The wallet is charged, and then the connection breaks.
	lost := fault.Rule{Operation: shipping.OpPurchase, First: 1, Committed: true, Fault: fault.Drop()}
	if err := server.Inject(lost); err != nil {
		t.Fatal(err)
	}
	if _, err := buy(t.Context(), server.Client(t), server.Shipments()[0]); err != nil {
		t.Error(err)
	}
	if n := server.Requests(shipping.OpPurchase); n != 1 {
		t.Errorf("%d purchases", n)
	}
	server.CheckInvariants(t) // the ledger balances, and no regulatory request was charged twice
	server.Lint(t)            // nothing was bought twice, and no request was sent that a careful client would avoid
}

// Each fault at each request, in virtual time: a subtest fails if buy pays twice.
func TestBuy_EveryFault(t *testing.T) {
	sweep.Run(t, sweep.Config{}, func(t *testing.T, w *mockserver.World) error {
		_, err := buy(t.Context(), w.Client(t), w.Shipments()[0])
		return err
	})
}
