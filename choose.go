package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrMixedCurrencies is a comparison of rates in several currencies. Choose one with
// [RateFilter.Currency]: amounts of different currencies say nothing about each other.
var ErrMixedCurrencies = errors.New("shipping: rates are in several currencies; set RateFilter.Currency to compare those of one")

// ErrNoRate is a choice among no rates: none were given, or none passed the filter.
var ErrNoRate = errors.New("shipping: no rate to choose from")

// RateFilter says which rates may be chosen. The zero filter takes all that have a readable amount of 0 or
// more.
type RateFilter struct {
	// Currency, where set, takes only rates in that currency.
	Currency string
	// Unused takes only rates that were not used.
	Unused bool
	// Insured takes only rates that include insurance.
	Insured bool
	// Within, where above 0, takes only rates that deliver within that time, by
	// [Rate.DeliveryDuration]. A rate without an estimate does not.
	Within time.Duration
	// Carriers, where not empty, takes only these carrier slugs.
	Carriers []string
}

func (f RateFilter) takes(r *Rate) bool {
	switch {
	case r == nil || !r.Amount.Known() || r.Amount.Sign() < 0:
		return false
	case f.Currency != "" && r.Currency != f.Currency:
		return false
	case f.Unused && r.Used, f.Insured && !r.IncludesInsurance:
		return false
	case f.Within > 0 && (r.DeliveryETA <= 0 || r.DeliveryDuration() > f.Within):
		return false
	case len(f.Carriers) > 0 && !slices.Contains(f.Carriers, r.CarrierSlug):
		return false
	}
	return true
}

// CheapestRate returns the rate with the smallest amount; among equals the faster one, then the one
// with the smaller id, so that the choice is always the same.
func CheapestRate(rates []*Rate, filter RateFilter) (*Rate, error) {
	return chooseRate(rates, filter, byPrice)
}

// FastestRate returns the rate with the shortest time to delivery; among equals the cheaper one, then
// the one with the smaller id. A rate without an estimate is the slowest.
func FastestRate(rates []*Rate, filter RateFilter) (*Rate, error) {
	return chooseRate(rates, filter, bySpeed)
}

// BestRates returns the rates that are worth a thought, cheapest first: for each of them there is none
// that is both cheaper and faster (the Pareto front).
func BestRates(rates []*Rate, filter RateFilter) ([]*Rate, error) {
	candidates, err := comparableRates(rates, filter)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(candidates, byPrice)
	front := candidates[:1]
	for _, rate := range candidates[1:] {
		if speed(rate) < speed(front[len(front)-1]) {
			front = append(front, rate)
		}
	}
	return slices.Clip(front), nil
}

func chooseRate(rates []*Rate, filter RateFilter, order func(a, b *Rate) int) (*Rate, error) {
	candidates, err := comparableRates(rates, filter)
	if err != nil {
		return nil, err
	}
	return slices.MinFunc(candidates, order), nil
}

// comparableRates returns those that the filter takes. They have one currency, and there is at least
// one.
func comparableRates(rates []*Rate, filter RateFilter) ([]*Rate, error) {
	var candidates []*Rate
	for _, rate := range rates {
		if !filter.takes(rate) {
			continue
		}
		if len(candidates) > 0 && rate.Currency != candidates[0].Currency {
			return nil, fmt.Errorf("%w: %s and %s", ErrMixedCurrencies, candidates[0].Currency, rate.Currency)
		}
		candidates = append(candidates, rate)
	}
	if len(candidates) == 0 {
		return nil, fmt.Errorf("%w: none of %d passes the filter", ErrNoRate, len(rates))
	}
	return candidates, nil
}

func byPrice(a, b *Rate) int {
	return cmp.Or(a.Amount.Cmp(b.Amount), cmp.Compare(speed(a), speed(b)), cmp.Compare(a.RateID, b.RateID))
}

func bySpeed(a, b *Rate) int { return cmp.Or(cmp.Compare(speed(a), speed(b)), byPrice(a, b)) }

// speed is the time to delivery; without an estimate it is longer than any.
func speed(r *Rate) time.Duration {
	if d := r.DeliveryDuration(); d > 0 {
		return d
	}
	return 1<<63 - 1
}
