package sweep_test

import (
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

// The code of docs/sweep.md.
func TestBuy(t *testing.T) {
	sweep.Run(t, sweep.Config{}, func(t *testing.T, w *mockserver.World) error {
		client := w.Client(t)
		_, err := client.Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: w.Shipments()[0]},
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
		return err
	})
}
