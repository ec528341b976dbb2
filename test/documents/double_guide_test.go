package documents_test

import (
	"context"
	"iter"
	"testing"

	"github.com/shipping-go/shipping"
)

// lister is what cheapest needs. The field Rates of a client implements it.
type lister interface {
	All(ctx context.Context, opts *shipping.RateListOptions,
		callOpts ...shipping.CallOption) iter.Seq2[*shipping.Rate, error]
}

var _ lister = (*shipping.RatesService)(nil)

// cheapest returns the cheapest rate in one currency.
func cheapest(ctx context.Context, rates lister, currency string) (best *shipping.Rate, err error) {
	for rate, err := range rates.All(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if rate.Currency == currency && rate.Amount.Known() && (best == nil || rate.Amount.Cmp(best.Amount) < 0) {
			best = rate
		}
	}
	return best, nil
}

// fixed is a double of lister.
type fixed []*shipping.Rate

func (f fixed) All(context.Context, *shipping.RateListOptions, ...shipping.CallOption) iter.Seq2[*shipping.Rate,
	error] {
	return func(yield func(*shipping.Rate, error) bool) {
		for _, rate := range f {
			if !yield(rate, nil) {
				return
			}
		}
	}
}

func TestCheapest(t *testing.T) {
	amount := func(text string) shipping.Amount {
		a, err := shipping.ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	rates := fixed{
		{RateID: "RT-1", Amount: amount("1200"), Currency: "NGN"},
		{RateID: "RT-2", Currency: "NGN"}, // no amount: it is not the cheapest
		{RateID: "RT-3", Amount: amount("950.50"), Currency: "NGN"},
		{RateID: "RT-4", Amount: amount("1"), Currency: "USD"},
	}
	best, err := cheapest(t.Context(), rates, "NGN")
	if err != nil || best == nil || best.RateID != "RT-3" {
		t.Errorf("the cheapest rate: %v, %v", best, err)
	}
}
