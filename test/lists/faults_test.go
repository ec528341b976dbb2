package lists_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shipping-go/shipping"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

// pageFault changes one response of a list that is honest otherwise.
type pageFault func(s *rowService, random *rand.Rand, page int, a *rowAnswer)

// pageFaults are faults that hide rows, or numbers, of a page. None of them reports a wrong total.
var pageFaults = map[string]pageFault{
	"data is null":        func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Data = "null" },
	"data is {}":          func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Data = "{}" },
	"the list is null":    func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Null = true },
	"the list is empty":   func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Rows = nil },
	"no numbers":          func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Pagination = nil },
	"empty, no numbers":   func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Rows, a.Pagination = nil, nil },
	"no total":            func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { delete(a.Pagination, "total") },
	"no pageCount":        func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { delete(a.Pagination, "pageCount") },
	"pageCount too small": func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Pagination["pageCount"] = 1 },
	"hasNextPage false":   func(_ *rowService, _ *rand.Rand, _ int, a *rowAnswer) { a.Pagination["hasNextPage"] = false },
	"perPage wrong": func(_ *rowService, random *rand.Rand, _ int, a *rowAnswer) {
		a.Pagination["perPage"] = random.IntN(2*len(a.Rows) + 3)
	},
	"the page is cut": func(_ *rowService, random *rand.Rand, _ int, a *rowAnswer) {
		a.Rows = a.Rows[:random.IntN(len(a.Rows)+1)]
	},
	"a row is left out": func(_ *rowService, random *rand.Rand, _ int, a *rowAnswer) {
		if n := len(a.Rows); n > 0 {
			at := random.IntN(n)
			a.Rows = slices.Delete(slices.Clone(a.Rows), at, at+1)
		}
	},
	"an earlier row comes again": func(s *rowService, random *rand.Rand, page int, a *rowAnswer) {
		if n := len(a.Rows); n > 0 && page > 1 {
			a.Rows = slices.Clone(a.Rows)
			a.Rows[random.IntN(n)] = s.rows[random.IntN(slices.Index(s.rows, a.Rows[0]))]
		}
	},
	"the page before comes again": func(s *rowService, _ *rand.Rand, page int, a *rowAnswer) {
		if n := len(a.Rows); n > 0 && page > 1 {
			first := slices.Index(s.rows, a.Rows[0])
			a.Rows = s.rows[max(first-n, 0):first]
		}
	},
}

// faultyWalk is a walk over a list with faults.
type faultyWalk struct {
	rows, perPage, window int
	often                 int // faults in ten responses, on average
	faults                []string
	unseen                []string // faults that do not happen
	arrivals, vanishings  int      // in ten responses
	seed                  uint64
}

func (f faultyWalk) run(t testing.TB) error {
	random := rand.New(rand.NewPCG(f.seed, 0))
	s := newRowService(f.rows)
	var began []int
	changes, struck := 20, 0
	s.before = func(s *rowService, _, n int) {
		if n == 1 {
			began = slices.Clone(s.rows)
			return
		}
		if changes > 0 && random.IntN(10) < f.arrivals {
			changes--
			s.arrive(1 + random.IntN(5))
		}
		if changes > 0 && random.IntN(10) < f.vanishings {
			changes--
			s.vanish(random.IntN(len(s.rows)+1), 1+random.IntN(5))
		}
	}
	s.change = func(page int, a *rowAnswer) {
		random := rand.New(rand.NewPCG(f.seed, uint64(page)<<20|uint64(s.times[page]))) // whatever the order of the requests
		fault := f.faults[random.IntN(len(f.faults))]
		if random.IntN(10) >= f.often || s.answers == 1 && strings.Contains(fault, "no numbers") { // nothing promises more
			return
		}
		struck++
		pageFaults[fault](s, random, page, a)
	}
	delivered, err := collect(walkTransactions(t.Context(), s.client(t), 0, f.perPage, shipping.Walk{Window: f.window}))
	asked := len(s.asked)
	if twice := repeatedRow(delivered); twice > 0 {
		return fmt.Errorf("row %d was delivered twice", twice)
	}
	if most := 5*(f.rows+100)/f.perPage + 10*struck + 200; asked > most {
		return fmt.Errorf("%d requests, want at most %d", asked, most)
	}
	switch {
	case err == nil:
		return lostRow(survivors(began, s.rows), delivered)
	case !errors.Is(err, shipping.ErrIncomplete) && !errors.Is(err, shipping.ErrUnexpectedBody) &&
		!errors.Is(err, shipping.ErrPageLoop):
		return err
	}
	// The service is in order again: the token leads to all rows.
	s.change, s.before = nil, nil
	for range 3 {
		if err == nil {
			break
		}
		ended, ok := errors.AsType[*shipping.ListError](err)
		if !ok || errors.Is(err, shipping.ErrIncomplete) != (ended.Missing > 0) {
			return fmt.Errorf("Missing is not set: %w", err)
		}
		var rest []int
		rest, err = collect(walkTransactions(t.Context(), s.client(t), 0, f.perPage, shipping.Walk{Resume: ended.Resume}))
		delivered = append(delivered, rest...)
	}
	if err != nil && f.arrivals+f.vanishings == 0 {
		return fmt.Errorf("resumed: %w", err)
	}
	return lostRow(survivors(began, s.rows), delivered)
}

// Whatever is wrong with single responses, a walk delivers every row that is there throughout exactly once, or ends
// with an error whose token leads to the rows that are missing.
func TestWalk_NeverEndsShortInSilence(t *testing.T) {
	t.Parallel()
	// See walk: such faults look like changes of the list.
	unseen := []string{
		"no numbers", "no total", "the page is cut", "a row is left out", "an earlier row comes again",
		"the page before comes again",
	}
	for name, list := range map[string]faultyWalk{
		"nothing changes": {},
		"rows arrive":     {arrivals: 3, unseen: unseen},
		"rows vanish":     {vanishings: 3, unseen: unseen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := slices.DeleteFunc(slices.Sorted(maps.Keys(pageFaults)),
				func(name string) bool { return slices.Contains(list.unseen, name) })
			rapid.Check(t, func(rt *rapid.T) {
				f := list
				f.rows = rapid.IntRange(0, 200).Draw(rt, "rows")
				f.perPage = rapid.IntRange(1, 25).Draw(rt, "perPage")
				f.window = rapid.SampledFrom([]int{1, 2, 10}).Draw(rt, "window")
				f.often = rapid.IntRange(1, 9).Draw(rt, "often")
				f.faults = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID[string]).Draw(rt, "faults")
				f.seed = rapid.Uint64().Draw(rt, "seed")
				if list.arrivals+list.vanishings > 0 {
					f.window = 1 // so that every run is the same
				}
				if err := f.run(t); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}
