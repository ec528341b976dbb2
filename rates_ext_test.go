package shipping_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func offer(t testing.TB, id, amount, currency string, minutes float64) *shipping.Rate {
	t.Helper()
	return &shipping.Rate{RateID: id, Amount: shippingtest.Amount(t, amount), Currency: currency, DeliveryETA: minutes, CarrierSlug: "dhl"}
}

func TestChoosingARate(t *testing.T) {
	t.Parallel()
	cheap, fast, middle := offer(t, "RT-1", "10", "NGN", 5000), offer(t, "RT-2", "99.99", "NGN", 60), offer(t, "RT-3", "50", "NGN", 1440)
	bad := offer(t, "RT-4", "60", "NGN", 2000)
	free, used := offer(t, "RT-5", "1", "NGN", 1), offer(t, "RT-6", "1", "NGN", 1)
	free.Amount, used.Used = shipping.Amount{}, true
	vague := offer(t, "RT-7", "2", "NGN", 0)
	dollars := offer(t, "RT-8", "0.5", "USD", 30)
	insured := offer(t, "RT-9", "70", "NGN", 3000)
	insured.IncludesInsurance, insured.CarrierSlug = true, "ups"
	all := []*shipping.Rate{bad, free, used, insured, nil, fast, middle, cheap, vague, dollars}
	naira := shipping.RateFilter{Currency: "NGN", Unused: true}
	for name, tc := range map[string]struct {
		choose func([]*shipping.Rate, shipping.RateFilter) (*shipping.Rate, error)
		filter shipping.RateFilter
		want   *shipping.Rate
	}{
		"cheapest":               {shipping.CheapestRate, naira, vague},
		"fastest":                {shipping.FastestRate, naira, fast},
		"cheapest within a day":  {shipping.CheapestRate, shipping.RateFilter{Currency: "NGN", Unused: true, Within: 24 * time.Hour}, middle},
		"cheapest with estimate": {shipping.CheapestRate, shipping.RateFilter{Currency: "NGN", Unused: true, Within: 90 * time.Hour}, cheap},
		"insured":                {shipping.CheapestRate, shipping.RateFilter{Currency: "NGN", Insured: true}, insured},
		"one carrier":            {shipping.FastestRate, shipping.RateFilter{Currency: "NGN", Carriers: []string{"ups"}}, insured},
		"another currency":       {shipping.FastestRate, shipping.RateFilter{Currency: "USD"}, dollars},
	} {
		if got, err := tc.choose(all, tc.filter); err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := shipping.CheapestRate(all, shipping.RateFilter{}); !errors.Is(err, shipping.ErrMixedCurrencies) {
		t.Errorf("mixed currencies: %v", err)
	}
	// C17: a rate with a negative price is ignored.
	negative := offer(t, "RT-10", "-0.01", "NGN", 1)
	for _, rates := range [][]*shipping.Rate{nil, {free}, {nil}, {negative}} {
		if _, err := shipping.FastestRate(rates, naira); !errors.Is(err, shipping.ErrNoRate) {
			t.Errorf("%v: %v", rates, err)
		}
	}
	front, err := shipping.BestRates(all, naira)
	if want := []*shipping.Rate{vague, cheap, middle, fast}; err != nil || !slices.Equal(front, want) {
		t.Errorf("front: %v, %v", front, err)
	}
}

// Whatever the order they come in, the choice is the same, and nothing beats a member of the front.
func TestChoosingARateIsDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		rates := make([]*shipping.Rate, n)
		for i := range rates {
			amount, err := shipping.NewAmount(rapid.Int64Range(0, 5).Draw(t, "amount"), 0)
			if err != nil {
				t.Fatal(err)
			}
			rates[i] = &shipping.Rate{RateID: fmt.Sprint(i), Amount: amount, Currency: "NGN", DeliveryETA: float64(rapid.IntRange(0, 5).Draw(t, "eta"))}
		}
		shuffled := rapid.Permutation(rates).Draw(t, "shuffled")
		for name, choose := range map[string]func([]*shipping.Rate, shipping.RateFilter) (*shipping.Rate, error){
			"cheapest": shipping.CheapestRate, "fastest": shipping.FastestRate,
		} {
			a, errA := choose(rates, shipping.RateFilter{})
			b, errB := choose(shuffled, shipping.RateFilter{})
			if errA != nil || errB != nil || a != b {
				t.Fatalf("%s: %v and %v", name, a, b)
			}
		}
		front, err := shipping.BestRates(shuffled, shipping.RateFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, kept := range front {
			for _, other := range rates {
				faster := other.DeliveryETA > 0 && (kept.DeliveryETA == 0 || other.DeliveryETA < kept.DeliveryETA)
				if other.Amount.Cmp(kept.Amount) < 0 && faster {
					t.Fatalf("%+v beats %+v", other, kept)
				}
			}
		}
	})
}
