package sweep_test

import (
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/sweep"
)

func TestRun_Schedules(t *testing.T) {
	runs, polls := 0, 0
	sweep.Run(t, sweep.Config{Faults: []string{"lost-after", "500"}}, func(t *testing.T, w *mockserver.World) error {
		runs++
		requests := w.Client(t).Regulatory
		bought, err := requests.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: w.Shipments()[0]},
			&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
		for range 3 {
			if err == nil {
				_, err = requests.Get(t.Context(), bought.RequestID)
			}
		}
		if runs == 1 {
			polls = w.Requests(shipping.OpGetRequest)
		}
		return err
	})
	if polls <= 3 || runs != 1+2*2+3 {
		t.Errorf("%d runs, want one without faults, two at each of two POST requests, and one at each of the first two and "+
			"at the last of %d equal GET requests", runs, polls)
	}
}

// In pairs without a Retry-After: a walk that goes back can request a page again that it had requested ahead.
func TestRun_Lists(t *testing.T) {
	for name, config := range map[string]sweep.Config{
		"single": {}, "pairs": {Pairs: true, Faults: []string{"lost-before", "truncated", "500", "inserted", "removed"},
			MaxRuns: 60},
	} {
		t.Run(name, func(t *testing.T) {
			sweep.Run(t, config, func(t *testing.T, w *mockserver.World) error {
				for _, err := range w.Client(t).Rates.All(t.Context(), nil) {
					if err != nil {
						return err
					}
				}
				for _, err := range w.Client(t).Transactions.All(t.Context(),
					&shipping.TransactionListOptions{Wallet: w.Wallets()[0]}) {
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}
