package lists_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/shipping-go/shipping"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

// churn is how a list changes while it is walked.
type churn struct {
	arrivals, vanishings int // in how many of ten responses, at most
	largest              int // number of rows at once
	caps                 []int
	anywhere             bool // rows arrive not only at the head
	noTotal              bool // the service reports no total
	oneByOne             bool // pages are not fetched ahead
}

// hidesChanges reports whether rows can vanish without a sign of where. A complete walk can then end with
// ErrIncomplete.
func (w churn) hidesChanges() bool {
	return w.anywhere || w.vanishings > 0 && (w.arrivals > 0 || len(w.caps) > 0)
}

// TestWalk_RowsThatWereThereAreDeliveredExactlyOnce is the promise of the walks: whatever arrives at
// the head and vanishes anywhere, at any moment, each row that was there when the walk began and is
// there when it ends is delivered, once. A page fetched ahead that is placed by its number alone loses or repeats rows
// that moved meanwhile.
func TestWalk_RowsThatWereThereAreDeliveredExactlyOnce(t *testing.T) {
	worlds := map[string]churn{
		"nothing happens":                 {},
		"rows arrive":                     {arrivals: 4, largest: 5},
		"rows arrive in heaps":            {arrivals: 2, largest: 70},
		"rows arrive anywhere":            {arrivals: 4, largest: 5, anywhere: true},
		"rows arrive, no total":           {arrivals: 4, largest: 5, noTotal: true},
		"rows vanish":                     {vanishings: 4, largest: 5},
		"rows vanish in heaps":            {vanishings: 2, largest: 40},
		"rows come and go, one at a time": {arrivals: 3, vanishings: 3, largest: 1},
		"rows come and go, a few at once": {arrivals: 4, vanishings: 4, largest: 5},
		"rows come and go, in heaps":      {arrivals: 3, vanishings: 3, largest: 50, oneByOne: true},
		"the page size is capped":         {caps: []int{0, 7, 3, 12, 30}},
		"rows arrive, other page sizes":   {arrivals: 3, largest: 10, caps: []int{0, 5, 9, 20}},
		"rows vanish, other page sizes":   {vanishings: 3, largest: 10, caps: []int{0, 5, 9, 20}},
		"rows come and go, other pages": {arrivals: 3, vanishings: 3, largest: 10, caps: []int{0, 5, 9, 20},
			oneByOne: true},
		"rows come and go, pages of a few": {arrivals: 4, vanishings: 4, largest: 3, oneByOne: true},
	}
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				window, least := 1, 1
				if !w.oneByOne {
					window = rapid.IntRange(1, 12).Draw(rt, "window")
				}
				switch {
				case w.arrivals > 0 && w.vanishings > 0 && window > 1:
					// As many rows as a page holds arrive and vanish undetected while a window is read: see the
					// limits in the comment of paging.Walk.
					least = w.largest*window + 1
				case w.noTotal: // a walk that brings nothing new for long is given up
					least = 10
				}
				perPage := rapid.IntRange(least, least+24).Draw(rt, "perPage")
				size := rapid.IntRange(0, max(200, 12*least)).Draw(rt, "rows")
				events := rapid.IntRange(0, 30).Draw(rt, "events")
				seed := rapid.Uint64().Draw(rt, "seed")
				list := rapid.SampledFrom([]string{"rates", "webhooks", "transactions"}).Draw(rt, "list")
				var err error
				synctest.Test(t, func(t *testing.T) {
					err = w.walk(t, list, size, perPage, window, events, seed)
				})
				if err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

func (w churn) walk(t *testing.T, list string, size, perPage, window, events int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 0))
	s := newRowService(size)
	var began []int
	s.before = func(s *rowService, _, n int) {
		if n == 1 {
			began = slices.Clone(s.rows)
			return
		}
		if events > 0 && random.IntN(10) < w.arrivals {
			events--
			s.arrive(1 + random.IntN(w.largest))
			if w.anywhere { // the newest row
				s.rows = slices.Insert(s.rows[1:], random.IntN(len(s.rows)), s.rows[0])
			}
		}
		if events > 0 && random.IntN(10) < w.vanishings {
			events--
			s.vanish(random.IntN(len(s.rows)+1), 1+random.IntN(w.largest))
		}
		if len(w.caps) > 0 && events > 0 && random.IntN(10) < 2 {
			events--
			s.perPageCap = w.caps[random.IntN(len(w.caps))]
		}
	}
	if w.noTotal {
		s.change = func(_ int, a *rowAnswer) { delete(a.Pagination, "total") }
	}
	s.latency = func(page, n int) time.Duration { // another for each request, so that every run is the same
		own := rand.New(rand.NewPCG(seed, uint64(page)<<20|uint64(n)))
		return time.Millisecond + time.Duration(own.IntN(20_000_000))
	}
	delivered, err := collect(walkers()[list](t.Context(), s.client(t), 0, perPage, shipping.Walk{Window: window}))
	if err != nil && !(w.hidesChanges() && errors.Is(err, shipping.ErrIncomplete)) {
		return err
	}
	err = judge(began, s.rows, delivered)
	if err == nil && !w.hidesChanges() && !inOrder(began, delivered) {
		err = errors.New("the rows came out of order")
	}
	if err != nil {
		return fmt.Errorf("%w; began %v, ended %v, delivered %v, asked %v", err, began, s.rows, delivered, s.asked)
	}
	return nil
}
