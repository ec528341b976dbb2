package batch_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// The effect of each outcome of a purchase on the item and its reservation. The draft's price is 100.
func TestBatch_OutcomesOfAPurchase(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault     purchaseFault
		before    bool // another program purchases it at the last moment, for 120
		state     batch.State
		err       error
		committed string
		charged   string
	}{
		"charged":           {purchaseFault{}, false, batch.StateCompleted, nil, "100", "100"},
		"lost":              {purchaseFault{Lose: true}, false, batch.StateCompleted, nil, "100", "100"},
		"refused":           {purchaseFault{Refuse: true}, false, batch.StateError, shipping.ErrInvalidRequest, "0", ""},
		"unknown":           {purchaseFault{Ignore: true}, false, batch.StateUnknown, shipping.ErrConnection, "100", ""},
		"purchased before":  {purchaseFault{}, true, batch.StateCompleted, nil, "120", "120"},
		"more was charged":  {purchaseFault{Charge: "130"}, false, batch.StateCompleted, nil, "130", "130"},
		"less was reported": {purchaseFault{Report: `"charged_amount":7,"currency":"NGN"`}, false, batch.StateCompleted, nil, "100", "7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := &walletService{}
				service.purchase = func(int) purchaseFault {
					if test.before {
						service.charge("RD-SH-1", purchaseFault{Charge: "120"})
					}
					return test.fault
				}
				report, err := batch.Run(t.Context(), walletClient(t, service), walletItems(1), &batch.Options{
					Select: shipping.SelectAll, Budget: nairaBudget(t, "1000"),
					Progress: func(event batch.Event) {
						// The record after the purchase has the charge already.
						if event.Step == "purchased" && event.Item.Charged != shippingtest.Amount(t, test.charged) {
							t.Errorf("purchased for %s, want %s", event.Item.Charged, test.charged)
						}
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				got := report.Results[0]
				if got.State != test.state || !errors.Is(got.Err, test.err) {
					t.Errorf("%s, %v, want %s, %v", got.State, got.Err, test.state, test.err)
				}
				if report.Committed != shippingtest.Amount(t, test.committed) {
					t.Errorf("%s is committed, want %s", report.Committed, test.committed)
				}
				if charged := got.Charged; charged.Known() != (test.charged != "") || charged.Known() && charged != shippingtest.Amount(t, test.charged) {
					t.Errorf("charged %s, want %s", charged, test.charged)
				}
			})
		})
	}
}
