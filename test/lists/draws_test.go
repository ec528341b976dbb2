package lists_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// drawnChanges are the changes of a drawn list.
type drawnChanges struct {
	arrivals, vanishings int // in ten responses
	largest              int // number of rows at once
	sizes                bool
	replaced             bool
}

var allDrawnChanges = map[string]drawnChanges{
	"nothing happens":               {},
	"rows arrive":                   {arrivals: 4, largest: 5},
	"rows arrive in heaps":          {arrivals: 2, largest: 40},
	"rows vanish":                   {vanishings: 4, largest: 5},
	"rows vanish in heaps":          {vanishings: 2, largest: 30},
	"rows arrive and vanish":        {arrivals: 3, vanishings: 3, largest: 5},
	"rows arrive and vanish singly": {arrivals: 3, vanishings: 3, largest: 1},
	"rows arrive and vanish, heaps": {arrivals: 2, vanishings: 2, largest: 30},
	"the page size changes":         {sizes: true},
	"rows arrive, other page sizes": {arrivals: 3, largest: 5, sizes: true},
	"rows vanish, other page sizes": {vanishings: 3, largest: 5, sizes: true},
	"the list is replaced":          {arrivals: 1, vanishings: 1, largest: 5, replaced: true},
}

// drawnNumbers are the numbers of the pages of a drawn list.
type drawnNumbers struct {
	report func(l *drawnList, page *paging.Page, before int)
	// The limits of package paging: with which numbers rows can vanish during a walk and between two walks, and with which
	// the page size can change, so that no row is lost.
	vanish, vanishBetween, sizes bool
}

var allDrawnNumbers = map[string]drawnNumbers{
	"right":              {func(*drawnList, *paging.Page, int) {}, true, true, true},
	"no hasNextPage":     {func(_ *drawnList, p *paging.Page, _ int) { p.HasNext = false }, true, true, true},
	"hasNextPage always": {func(_ *drawnList, p *paging.Page, _ int) { p.HasNext = true }, true, true, true},
	"no pageCount":       {func(_ *drawnList, p *paging.Page, _ int) { p.PageCount = 0 }, true, true, true},
	"total and perPage": {func(_ *drawnList, p *paging.Page, _ int) {
		p.PageCount, p.HasNext = 0, false
	}, true, true, false},
	"total too large":   {func(_ *drawnList, p *paging.Page, _ int) { p.Total += 3 }, true, true, false},
	"no total":          {func(_ *drawnList, p *paging.Page, _ int) { p.Total = 0 }, false, true, true},
	"no numbers":        {func(_ *drawnList, p *paging.Page, _ int) { p.Numbers = paging.Numbers{} }, false, true, false},
	"total of the page": {func(_ *drawnList, p *paging.Page, _ int) { p.Total = len(p.IDs) }, false, true, true},
	"total of the page, no pageCount": {func(_ *drawnList, p *paging.Page, _ int) {
		p.Total, p.PageCount = len(p.IDs), 0
	}, false, true, true},
	"total and pageCount of the page": {func(_ *drawnList, p *paging.Page, _ int) {
		p.Total, p.PageCount = len(p.IDs), 1
	}, false, false, false},
	"total of the rest": {func(_ *drawnList, p *paging.Page, before int) {
		p.Total = max(p.Total-before, 0)
	}, false, true, true},
	"stale total": {func(l *drawnList, p *paging.Page, _ int) { p.Total = l.stale }, false, false, false},
}

// drawnList is a list of numbered rows, newest first. It changes at random between two responses.
type drawnList struct {
	drawnChanges
	numbers drawnNumbers
	random  *rand.Rand
	seed    uint64

	mu      sync.Mutex
	rows    []int
	newest  int
	perPage int
	events  int   // changes to come
	window  int   // of the walk
	stale   int   // how many rows there were when the walk began
	arrived []int // how many rows had ever arrived at each response to the walk
	times   map[int]int
	asked   []int
}

func (l *drawnList) arrive(n int) {
	for range n {
		l.newest++
		l.rows = append(l.rows, l.newest)
	}
	slices.SortFunc(l.rows, func(a, b int) int { return b - a })
}

func (l *drawnList) change(vanish bool) {
	before := len(l.rows)
	if vanish && l.random.IntN(10) < l.vanishings {
		n := min(1+l.random.IntN(l.largest), before)
		at := l.random.IntN(before - n + 1)
		l.rows = slices.Delete(l.rows, at, at+n)
	}
	if l.random.IntN(10) < l.arrivals {
		n := 1 + l.random.IntN(l.largest)
		if len(l.arrived) > 0 && (l.window > 1 && l.vanishings > 0 || !l.numbers.vanishBetween) {
			// Less than a page arrives while pages are in flight: see the limits of package paging.
			n = min(n, l.perPage-1-(l.newest-l.arrived[max(len(l.arrived)-2*l.window-2, 0)]))
		}
		l.arrive(max(n, 0))
	}
	if l.replaced && vanish && l.random.IntN(10) == 0 && (l.window == 1 || len(l.arrived) == 0) {
		l.rows = nil
		l.arrive(l.random.IntN(2*before + 1))
	}
	if l.sizes && l.numbers.sizes && l.random.IntN(10) < 2 {
		l.perPage = 1 + l.random.IntN(12)
	}
	l.events--
}

func (l *drawnList) fetch(ctx context.Context, number int) (*paging.Page, error) {
	l.mu.Lock()
	l.times[number]++
	l.asked = append(l.asked, number)
	own := rand.New(rand.NewPCG(l.seed, uint64(number)<<20|uint64(l.times[number]))) // the same in every run
	l.mu.Unlock()
	if l.window > 1 {
		time.Sleep(time.Duration(1 + own.IntN(1e9)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.events > 0 && len(l.arrived) > 0 {
		l.change(l.numbers.vanish)
	}
	l.arrived = append(l.arrived, l.newest)
	first, last := min((number-1)*l.perPage, len(l.rows)), min(number*l.perPage, len(l.rows))
	page := &paging.Page{Listed: true, Value: slices.Clone(l.rows[first:last]), Numbers: paging.Numbers{
		Total: len(l.rows), PerPage: l.perPage,
		PageCount: max(1, (len(l.rows)+l.perPage-1)/l.perPage), HasNext: last < len(l.rows),
	}}
	page.IDs = idsOf(l.rows[first:last])
	l.numbers.report(l, page, (number-1)*l.perPage)
	return page, nil
}

func idsOf(rows []int) (ids []uint64) {
	for _, row := range rows {
		ids = append(ids, paging.ID(strconv.Itoa(row), ""))
	}
	return ids
}

// walk takes so many pages of a walk. The token is empty at the end of the list.
func (l *drawnList) walk(ctx context.Context, config paging.Config, pages int) (rows []int, token string, err error) {
	l.arrived, l.asked, l.stale = nil, nil, len(l.rows)
	config.Window = l.window
	w, err := paging.Start(ctx, config)
	if err != nil {
		return nil, "", err
	}
	defer w.Stop()
	for range pages {
		page, err := w.Next()
		if failure, ok := errors.AsType[*paging.Error](err); ok {
			return rows, failure.Token, err
		}
		if page == nil {
			return rows, "", nil
		}
		for i, row := range page.Value.([]int) {
			if page.Skip == nil || !page.Skip[i] {
				rows = append(rows, row)
			}
		}
	}
	return rows, w.Token(), nil
}

// drawWalks walks a list that changes, stops one to four times, and resumes with another window after further changes.
// The last walks read the list at rest.
func drawWalks(ctx context.Context, changes, numbers string, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 1))
	l := &drawnList{
		drawnChanges: allDrawnChanges[changes], numbers: allDrawnNumbers[numbers], random: random, seed: seed,
		perPage: 1 + random.IntN(12), times: map[int]int{},
	}
	l.arrive(random.IntN(60))
	if random.IntN(4) == 0 { // the last page is full
		l.arrive((l.perPage - len(l.rows)%l.perPage) % l.perPage)
	}
	config := paging.Config{Fetch: l.fetch, List: 7, PerPage: l.perPage}
	began, delivered, log := slices.Clone(l.rows), map[int]bool{}, ""
	for stops := 1 + random.IntN(4); ; stops-- {
		l.window = 1 + random.IntN([]int{3, 20}[random.IntN(2)])
		l.events = random.IntN([]int{12, 60}[random.IntN(8)/7])
		if config.Token != "" && stops > 0 && random.IntN(2) == 0 {
			l.arrived = nil
			l.change(l.numbers.vanishBetween)
		}
		pages := 1 + random.IntN(2+len(l.rows)/l.perPage)
		if stops <= 0 {
			l.events, pages = 0, math.MaxInt
		}
		if stops <= 0 && numbers == "total too large" {
			l.numbers = allDrawnNumbers["right"]
		}
		rest := l.events <= 0
		rows, token, err := l.walk(ctx, config, pages)
		log += fmt.Sprintf("\nwindow %d, %d a page: asked for %v, delivered %v, %v; now %v",
			l.window, l.perPage, l.asked, rows, err, l.rows)
		for _, row := range rows {
			delivered[row] = true
		}
		if err != nil && rest && (numbers != "total too large" || stops <= 0) {
			return fmt.Errorf("%w, although the list is at rest; began %v%s", err, began, log)
		}
		if config.Token = token; token == "" {
			break
		}
	}
	for _, row := range began {
		if !delivered[row] && slices.Contains(l.rows, row) {
			return fmt.Errorf("row %d was lost; began %v%s", row, began, log)
		}
	}
	return nil
}

// TestResume_NothingIsLost draws walks with resumes over every kind of change and of numbers. No row is lost without an
// error, and a walk over a list at rest ends without one. A count of one page that is used for a page that came after a
// change loses rows.
func TestResume_NothingIsLost(t *testing.T) {
	t.Parallel()
	o := randomtest.New(t)
	seed, draws := o.Seed(), o.Number("SHIPPING_WALKS", 4000)
	if again := randomtest.New(t).Seed(); os.Getenv("SHIPPING_SEED") != "0" && again != seed {
		t.Errorf("the seed is %d, and was %d", again, seed)
	}
	t.Attr("cases", fmt.Sprintf("%d draws", draws))
	changes, numbers := slices.Sorted(maps.Keys(allDrawnChanges)), slices.Sorted(maps.Keys(allDrawnNumbers))
	for from := 0; from < draws && !t.Failed(); from += 1000 {
		synctest.Test(t, func(t *testing.T) {
			for i := from; i < min(from+1000, draws); i++ {
				change, number := changes[i%len(changes)], numbers[i/len(changes)%len(numbers)]
				if err := drawWalks(t.Context(), change, number, seed<<32+uint64(i)); err != nil {
					t.Fatalf("draw %d: %s, %s: %v", i, change, number, err)
				}
			}
		})
	}
}
