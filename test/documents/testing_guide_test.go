package documents_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

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

		_, err := client.Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: server.Shipments()[0]},
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
		unclear, ok := errors.AsType[*shipping.RegulatoryError](err)
		if !ok || unclear.Outcome != shipping.OutcomeUnknown {
			t.Fatalf("the purchase: %v", err)
		}
		_, err = client.Regulatory.SettlePurchase(t.Context(), unclear.Purchase)
		settled, ok := errors.AsType[*shipping.RegulatoryError](err)
		if !ok || settled.Outcome != shipping.OutcomeNotCharged {
			t.Fatalf("settled: %v", err)
		}
	})
}

func TestInParallel(t *testing.T) {
	server := mockserver.New()
	t.Cleanup(server.Close) // after the parallel tests
	for scenario, want := range map[string]error{"instant": nil, "lowfunds": shipping.ErrInsufficientFunds} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			world := server.NewWorld(t, scenario) // closed when the test ends
			_, err := world.Client(t).Regulatory.AnalyzeAndPoll(t.Context(),
				&shipping.AnalyzeRequest{ShipmentID: world.Shipments()[0]},
				&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
			if !errors.Is(err, want) {
				t.Errorf("purchase: %v, want %v", err, want)
			}
		})
	}
}

func TestThirtyShipments(t *testing.T) {
	server := mockserver.New(mockserver.WithScenario("shipments30-instant"))
	defer server.Close()
	var items []batch.Item
	for _, id := range server.Shipments() {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: id}})
	}
	report, err := batch.Run(t.Context(), server.Client(t), items, &batch.Options{Select: shipping.SelectAutomated})
	if err := errors.Join(err, report.Err()); err != nil {
		t.Error(err)
	}
	server.CheckInvariants(t)
}
