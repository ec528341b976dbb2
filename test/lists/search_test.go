package lists_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// churn is how the rows of a list come and go while it is read.
type churn struct {
	arrivals, vanishings int  // in ten responses
	largest              int  // number of rows at once
	anywhere             bool // rows arrive not only at the head
	sizes                bool // the page size changes
	replaced             bool // all rows are replaced
}

// hides reports whether rows can move without a sign of where. Then a walk can end in Incomplete, or return rows that
// it reads again out of order.
func (c churn) hides() bool {
	return c.anywhere || c.replaced || c.vanishings > 0 && (c.arrivals > 0 || c.sizes)
}

var churns = map[string]churn{
	"nothing happens":               {},
	"rows arrive":                   {arrivals: 4, largest: 5},
	"rows arrive in heaps":          {arrivals: 2, largest: 40},
	"rows arrive anywhere":          {arrivals: 4, largest: 5, anywhere: true},
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

// shape is how the pages of a list differ from right ones.
type shape struct {
	change change
	// The limits of package paging: with which pages rows can vanish during a walk and between two walks, and with which
	// the page size can change, so that no row is lost.
	during, between, resized bool
}

var shapes = map[string]shape{
	"right":                           {func(*page) {}, true, true, true},
	"no hasNextPage":                  {func(p *page) { p.HasNext = false }, true, true, true},
	"hasNextPage always":              {func(p *page) { p.HasNext = true }, true, true, true},
	"no pageCount":                    {func(p *page) { p.PageCount = 0 }, true, true, true},
	"total and perPage":               {func(p *page) { p.PageCount, p.HasNext = 0, false }, true, true, false},
	"total too large":                 {func(p *page) { p.Total += 3 }, true, true, false},
	"no total":                        {func(p *page) { p.Total = 0 }, false, true, true},
	"no numbers":                      {func(p *page) { p.Numbers = paging.Numbers{} }, false, true, false},
	"total of the page":               {func(p *page) { p.Total = len(p.rows) }, false, true, true},
	"total of the page, no pageCount": {func(p *page) { p.Total, p.PageCount = len(p.rows), 0 }, false, true, true},
	"total and pageCount of the page": {func(p *page) { p.Total, p.PageCount = len(p.rows), 1 }, false, false, false},
	"total of the rest": {func(p *page) {
		p.Total = max(p.Total-(p.number-1)*p.list.size, 0)
	}, false, true, false},
	"faulty pages": {func(p *page) {}, true, true, false},
	"stale total":  {func(p *page) { p.Total = p.list.stale }, false, false, false},
}

// fault hides rows or numbers of a page. None reports a wrong total.
type fault struct {
	change change
	still  bool // only on a list that does not change: the page looks like a change
	first  bool // only in the first walk: a token knows 16 records, and not from which pages they are
}

var faults = map[string]fault{
	"no data":             {func(p *page) { p.rows, p.Numbers, p.unlisted = nil, paging.Numbers{}, true }, false, false},
	"an empty list":       {func(p *page) { p.rows = nil }, false, false},
	"no numbers":          {func(p *page) { p.Numbers = paging.Numbers{} }, true, false},
	"empty, no numbers":   {func(p *page) { p.rows, p.Numbers = nil, paging.Numbers{} }, false, false},
	"no total":            {func(p *page) { p.Total = 0 }, true, false},
	"no pageCount":        {func(p *page) { p.PageCount = 0 }, false, false},
	"pageCount too small": {func(p *page) { p.PageCount = 1 }, false, false},
	"hasNextPage false":   {func(p *page) { p.HasNext = false }, false, false},
	"perPage wrong":       {func(p *page) { p.PerPage = p.list.random.IntN(2*len(p.rows) + 3) }, true, true},
	"the page is cut":     {func(p *page) { p.rows = p.rows[:p.list.random.IntN(len(p.rows)+1)] }, true, false},
	"a row is left out": {func(p *page) {
		if n := len(p.rows); n > 0 {
			at := p.list.random.IntN(n)
			p.rows = slices.Delete(slices.Clone(p.rows), at, at+1)
		}
	}, true, false},
	"an earlier row comes again": {func(p *page) {
		if n := len(p.rows); n > 0 && p.number > 1 {
			p.rows = slices.Clone(p.rows)
			p.rows[p.list.random.IntN(n)] = p.list.rows[p.list.random.IntN((p.number-1)*p.list.size)]
		}
	}, true, true},
	"the page before comes again": {func(p *page) {
		if len(p.rows) > 0 && p.number > 1 {
			p.rows = p.list.rowsOf(p.number-1, p.list.size)[:len(p.rows)]
		}
	}, true, true},
}

// draw is a list that changes at random between two responses, and the walks over it.
type draw struct {
	*list
	churn
	shape
	faulty   bool  // some pages are
	struck   int   // how many of the walk were
	resumed  bool  // the walk has a token
	repaired bool  // the last walk reads right pages
	window   int   // of the walk
	events   int   // changes to come
	arrived  []int // how many rows had ever arrived at each response to the walk
}

// next changes the rows before a response.
func (d *draw) next(int) {
	if d.events > 0 && len(d.arrived) > 0 {
		d.events--
		d.happen(d.during)
	}
	d.arrived = append(d.arrived, d.newest)
}

func (d *draw) happen(vanish bool) {
	before := len(d.rows)
	if vanish && d.random.IntN(10) < d.vanishings {
		n := min(1+d.random.IntN(d.largest), before)
		d.vanish(d.random.IntN(before-n+1), n)
	}
	if d.random.IntN(10) < d.arrivals {
		n := 1 + d.random.IntN(d.largest)
		if len(d.arrived) > 0 && (d.window > 1 && d.vanishings > 0 || !d.between) {
			// Less than a page arrives while pages are in flight: see the limits of package paging.
			n = min(n, d.size-1-(d.newest-d.arrived[max(len(d.arrived)-2*d.window-2, 0)]))
		}
		d.arrive(max(n, 0))
		if d.anywhere && d.between && n > 0 { // the newest row
			d.rows = slices.Insert(d.rows[1:], d.random.IntN(len(d.rows)), d.rows[0])
		}
	}
	if d.replaced && vanish && d.random.IntN(10) == 0 && (d.window == 1 || len(d.arrived) == 0) {
		d.rows = nil
		d.arrive(d.random.IntN(2*before + 1))
	}
	if d.sizes && d.resized && d.random.IntN(10) < 2 {
		d.size = 1 + d.random.IntN(12)
	}
}

func newDraw(churnName, shapeName string, seed uint64) *draw {
	d := &draw{list: drawList(seed, 1), churn: churns[churnName], shape: shapes[shapeName]}
	d.before, d.list.change, d.repaired = d.next, d.shape.change, shapeName == "total too large"
	if shapeName == "faulty pages" {
		d.addFaults()
	}
	return d
}

// addFaults lets some responses have one of up to four faults.
func (d *draw) addFaults() {
	d.churn = churns[[]string{"nothing happens", "rows arrive", "rows vanish"}[d.random.IntN(3)]]
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(faults)), func(name string) bool {
		return faults[name].still && d.churn != churn{}
	})
	d.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:1+d.random.IntN(4)]
	often := 1 + d.random.IntN(9)
	d.faulty, d.repaired, d.list.change = true, true, func(p *page) {
		right, fault := *p, faults[names[d.random.IntN(len(names))]]
		if d.random.IntN(10) >= often || d.resumed && fault.first {
			return
		}
		d.struck++
		fault.change(p)
		if !d.promised && p.Numbers == (paging.Numbers{}) && !p.unlisted { // nothing promises more
			*p = right
		}
	}
}

// run walks the list, stops one to four times, and resumes with another window after further changes. The last walks
// read the list at rest, with right pages if they were faulty.
func (d *draw) run(ctx context.Context) error {
	config := paging.Config{Fetch: d.fetch, List: 7, PerPage: d.size}
	began, delivered, log := d.rows, map[int]bool{}, ""
	for stops := 1 + d.random.IntN(4); ; stops-- {
		d.window = 1 + d.random.IntN([]int{3, 20}[d.random.IntN(2)])
		d.events = d.random.IntN([]int{12, 60}[d.random.IntN(8)/7])
		if d.resumed && stops > 0 && d.random.IntN(2) == 0 {
			d.arrived = nil
			d.happen(d.between)
		}
		config.Window = d.window
		pages := 1 + d.random.IntN(2+len(d.rows)/d.size)
		if stops <= 0 {
			d.events, pages = 0, math.MaxInt
			if d.repaired {
				d.list.change = nil
			}
		}
		rest := d.events <= 0 && (!d.repaired || stops <= 0)
		d.arrived, d.asked, d.stale, d.struck, d.promised = nil, nil, len(d.rows), 0, knowsTotal(config.Token)
		rows, token, err := d.take(ctx, config, pages)
		log += fmt.Sprintf("\nwindow %d, %d a page: asked for %v, delivered %v, %v; now %v",
			d.window, d.size, d.asked, rows, err, d.rows)
		if err := cmp.Or(d.judge(rows, rest, err), d.order(began, rows)); err != nil {
			return fmt.Errorf("%w; began %v%s", err, began, log)
		}
		for _, row := range rows {
			delivered[row] = true
		}
		if config.Token, d.resumed = token, true; token == "" {
			break
		}
	}
	for _, row := range began {
		if !delivered[row] && slices.Contains(d.rows, row) {
			return fmt.Errorf("row %d was lost; began %v%s", row, began, log)
		}
	}
	return nil
}

// knowsTotal reports whether a token has the total of a list with rows.
func knowsTotal(token string) bool {
	var place struct {
		Total int `json:"t"`
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	return err == nil && json.Unmarshal(text, &place) == nil && place.Total > 0
}

// judge returns the problem of a walk, other than rows that are lost.
func (d *draw) judge(rows []int, rest bool, err error) error {
	failure, ok := errors.AsType[*paging.Error](err)
	switch {
	case isRepeated(rows):
		return errors.New("a row was delivered twice")
	case len(d.asked) > 4*d.newest/d.size+10*d.struck+200:
		return fmt.Errorf("%d requests", len(d.asked))
	case err == nil:
		return nil
	case !ok || failure.Kind == paging.Failed || failure.Kind == paging.Behind:
		return err
	case rest:
		return fmt.Errorf("%w, although the list is at rest", err)
	case d.during && !d.repaired && !d.resumed && !d.hides():
		return fmt.Errorf("%w, although the list shows the change", err)
	case (failure.Kind == paging.Incomplete) != (failure.Missing > 0):
		return fmt.Errorf("%w, with %d missing", err, failure.Missing)
	case failure.Kind == paging.Empty && !d.faulty, failure.Kind == paging.Loop && d.during && !d.faulty:
		return err
	}
	return nil
}

func isRepeated(rows []int) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(rows)))) != len(rows)
}

// order returns an error if the first walk returned rows that were there when it began out of order.
func (d *draw) order(began, rows []int) error {
	old := slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return !slices.Contains(began, row) })
	if d.resumed || d.faulty || d.hides() || slices.IsSortedFunc(old, func(a, b int) int { return b - a }) {
		return nil
	}
	return errors.New("the rows came out of order")
}

// TestWalk_LosesNoRow draws walks with resumes over every kind of change and of pages. Within a walk no row is
// delivered twice; no row is lost without an error; the requests are bounded; a walk over a list at rest, or over one
// that shows the place of its change, ends without an error. A count of one page that is used for a page that came
// after a change loses rows.
func TestWalk_LosesNoRow(t *testing.T) {
	t.Parallel()
	o := randomtest.New(t)
	seed, draws := o.Seed(), o.Number("SHIPPING_WALKS", 8000)
	if again := randomtest.New(t).Seed(); os.Getenv("SHIPPING_SEED") != "0" && again != seed {
		t.Errorf("the seed is %d, and was %d", again, seed)
	}
	t.Attr("cases", fmt.Sprintf("%d draws", draws))
	changes, pages := slices.Sorted(maps.Keys(churns)), slices.Sorted(maps.Keys(shapes))
	for from := 0; from < draws && !t.Failed(); from += 1000 {
		synctest.Test(t, func(t *testing.T) {
			for i := from; i < min(from+1000, draws); i++ {
				change, page := changes[i%len(changes)], pages[i/len(changes)%len(pages)]
				if err := newDraw(change, page, seed<<32+uint64(i)).run(t.Context()); err != nil {
					t.Fatalf("draw %d: %s, %s: %v", i, change, page, err)
				}
			}
		})
	}
}
