package lists_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// motion is how the rows of a service change between two responses. Numbers of events are those in ten responses.
type motion struct {
	arrivals, vanishings, touches int
	largest                       int  // number of rows at once
	oldestFirst                   bool // rows arrive at the end
	tied                          int  // rows that come in another order in each response
	exchange                      bool // before a later reading a row vanishes, and another one arrives
	cached                        bool // some responses are those of an earlier moment
}

var motions = map[string]motion{
	"at rest":                    {},
	"rows arrive":                {arrivals: 4, largest: 5},
	"rows vanish":                {vanishings: 4, largest: 5},
	"many rows vanish":           {vanishings: 2, largest: 25},
	"rows arrive and vanish":     {arrivals: 3, vanishings: 3, largest: 4},
	"rows move to the head":      {touches: 3},
	"oldest first, arrive":       {arrivals: 4, largest: 5, oldestFirst: true},
	"oldest first, vanish":       {vanishings: 4, largest: 5, oldestFirst: true},
	"oldest first, both":         {arrivals: 3, vanishings: 3, largest: 4, oldestFirst: true},
	"tied":                       {tied: 8},
	"tied, exchanges":            {tied: 8, exchange: true},
	"tied, rows arrive":          {tied: 8, arrivals: 2, largest: 3},
	"exchanges between readings": {exchange: true, vanishings: 2, largest: 2},
	"cached, rows arrive":        {arrivals: 4, largest: 5, cached: true},
	"cached, rows vanish":        {vanishings: 4, largest: 5, cached: true},
}

// numbering is how the numbers of a page differ from right ones.
type numbering struct {
	change change
	silent bool // some pages report no total
	capped bool // a page has fewer rows than requested, and no numbers
	alone  bool // a page does not report which one it is
}

var numberings = map[string]numbering{
	"right":                   {change: func(*page) {}},
	"pages count from 0":      {change: func(p *page) { p.reported-- }},
	"page is always 1":        {change: func(p *page) { p.reported = 1 }, alone: true},
	"no page, no hasNextPage": {change: func(p *page) { p.reported, p.HasNext = 0, false }, alone: true},
	"no total":                {change: func(p *page) { p.Total = 0 }, silent: true},
	"total on the first page": {change: func(p *page) { p.Total *= 1 / p.number }, silent: true},
	"total on some pages":     {change: func(p *page) { p.Total *= p.list.random.IntN(2) }, silent: true},
	"no numbers, fewer a page": {change: func(p *page) { p.Numbers, p.reported = paging.Numbers{}, 0 },
		silent: true, alone: true, capped: true},
}

// endings are the responses to a page behind the last one.
var endings = map[string]change{
	"an empty page": func(*page) {},
	"the last page": func(p *page) {
		if p.number > p.PageCount {
			p.reported, p.rows = p.PageCount, p.list.rowsOf(p.PageCount, p.PerPage)
		}
	},
	"a refusal": func(p *page) {
		if p.number > p.PageCount {
			p.status = refusals[p.list.random.IntN(len(refusals))]
		}
	},
	"a refusal, deep pages too": func(p *page) {
		if p.number > min(p.PageCount, 4) {
			p.status = refusals[p.list.random.IntN(len(refusals))]
		}
	},
}

var refusals = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusRequestedRangeNotSatisfiable,
	http.StatusUnprocessableEntity}

// service is a service that is drawn, and the walks over its list.
type service struct {
	*list
	motion
	numbering
	ending  string
	flaky   bool // some responses are 503 or 429
	events  int  // changes to come
	highest int  // the last page that this walk asked for
	ties    map[int]bool
	cache   map[int]page

	// What happened.
	walks, requests int
	came, gone      int          // rows that arrived and vanished
	moved           map[int]bool // rows that changed places
	touched         int          // how often a row moved to the head
	again           bool         // the last page came in place of one behind it
	earlier         bool         // a page was one of an earlier moment
	window          int          // the largest one
	tiedErrors      int          // of walks over rows that are tied, and at rest otherwise
}

func newService(m motion, n numbering, ending string, seed uint64) *service {
	s := &service{list: drawList(seed, 2), motion: m, numbering: n, ending: ending, ties: map[int]bool{},
		moved: map[int]bool{}, cache: map[int]page{}}
	s.before, s.list.change, s.flaky = s.next, s.respondAs, s.random.IntN(4) == 0
	if s.oldestFirst {
		slices.Reverse(s.rows)
	}
	if first := s.random.IntN(len(s.rows) + 1); s.tied > 0 {
		for _, row := range s.rows[first:min(first+2+s.random.IntN(s.tied), len(s.rows))] {
			s.ties[row], s.moved[row] = true, true
		}
	}
	s.status = func(int, int) int {
		if !s.flaky || s.events == 0 || s.random.IntN(10) > 1 {
			return 0
		}
		return []int{http.StatusServiceUnavailable, http.StatusTooManyRequests}[s.random.IntN(2)]
	}
	return s
}

// next changes the rows before a response.
func (s *service) next(int) {
	if s.events == 0 {
		return
	}
	s.events--
	s.happen()
	if n := len(s.rows); s.exchange && n > 0 && s.reading < s.highest {
		s.vanish(s.random.IntN(n), 1)
		s.arrive(1)
		s.came++
		s.gone++
	}
}

func (s *service) happen() {
	if n := len(s.rows); n > 0 && s.random.IntN(10) < s.vanishings {
		lost := min(1+s.random.IntN(s.largest), n)
		s.vanish(s.random.IntN(n-lost+1), lost)
		s.gone += lost
	}
	if s.random.IntN(10) < s.arrivals {
		n := 1 + s.random.IntN(s.largest)
		s.arrive(n)
		s.came += n
		if s.oldestFirst {
			slices.Reverse(s.rows[:n])
			s.rows = slices.Concat(s.rows[n:], s.rows[:n])
		}
	}
	if n := len(s.rows); n > 0 && s.random.IntN(10) < s.touches {
		at := s.random.IntN(n)
		s.moved[s.rows[at]] = true
		s.touched++
		s.rows = slices.Concat(s.rows[at:at+1], s.rows[:at], s.rows[at+1:])
	}
}

// respondAs makes a right response one of the service.
func (s *service) respondAs(p *page) {
	s.highest = max(s.highest, p.number)
	rows := s.rows
	s.rows = s.reordered()
	p.rows = s.rowsOf(p.number, p.PerPage)
	endings[s.ending](p)
	s.again = s.again || p.number > p.PageCount && len(p.rows) > 0
	s.numbering.change(p)
	s.rows = rows
	if earlier, ok := s.cache[p.number]; ok && s.cached && s.events > 0 && s.random.IntN(2) == 0 {
		s.earlier = s.earlier || earlier.Total != p.Total || !slices.Equal(earlier.rows, p.rows)
		*p = earlier
	}
	s.cache[p.number] = *p
}

// reordered returns the rows with those that are tied in another order.
func (s *service) reordered() []int {
	rows, tied := slices.Clone(s.rows), func(row int) bool { return s.ties[row] }
	if first := slices.IndexFunc(rows, tied); first >= 0 {
		group := rows[first:]
		if n := slices.IndexFunc(group, func(row int) bool { return !s.ties[row] }); n >= 0 {
			group = group[:n]
		}
		s.random.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
	}
	return rows
}

// unseen are the cases of "What no client can see" in docs/lists.md: when a walk can miss a row without an error.
var unseen = []struct {
	name string
	when func(s *service, row int) bool
}{
	{"Pages without a total", func(s *service, row int) bool {
		return s.silent && (s.gone > 0 || len(s.moved) > 0 || s.capped && s.came >= s.size)
	}},
	{"Pages of an earlier moment", func(s *service, row int) bool {
		return s.earlier && (s.gone > 0 || len(s.moved) > 0 || s.came > 0 && s.silent)
	}},
	{"Pages without their number", func(s *service, row int) bool { return s.again && s.alone && s.gone > 0 }},
	{"Records that move between two walks", func(s *service, row int) bool { return s.walks > 1 && s.moved[row] }},
	{"Changes that the total does not show", func(s *service, row int) bool {
		return s.oldestFirst && s.came > 0 && s.gone > 0 || len(s.moved) > 0 && (s.came > 0 || s.gone > 0)
	}},
	{"Several pages at once", func(s *service, row int) bool {
		return s.window > 1 && (min(s.came, s.gone) >= s.size || s.walks > 1 && s.touched >= s.size)
	}},
}

// reason returns why no client can see that a row is missing; "" if one can.
func (s *service) reason(row int) string {
	for _, u := range unseen {
		if u.when(s, row) {
			return u.name
		}
	}
	return ""
}

// read reads rows, 0 for all, and returns the token of the last page that was read completely, or of the error.
func (s *service) read(t *testing.T, rows int, token string) (delivered []int, next string, err error) {
	next = token
	walk := shipping.Walk{Window: 1 + s.random.IntN([]int{3, 20}[s.random.IntN(2)]), Resume: token}
	s.window = max(s.window, walk.Window)
	walk.Progress = func(p shipping.ListProgress) { next = p.Resume }
	selected := options(walk)
	if selected.PerPage = s.size; s.capped {
		selected.PerPage++
	}
	retries := shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: 1, MaxWait: 1}) // the same in every run
	for record, err := range shippingtest.NewClient(t, s, retries).Transactions.All(t.Context(), selected) {
		if failure, ok := errors.AsType[*shipping.ListError](err); ok {
			return delivered, failure.Resume, err
		}
		if err != nil {
			return delivered, next, err
		}
		if delivered = append(delivered, rowOf(record)); len(delivered) == rows {
			return delivered, next, errStopped
		}
	}
	return delivered, next, nil
}

var errStopped = errors.New("the walk was stopped")

// run walks the list to its end. If resumed, it stops behind some row up to three times, and resumes after further
// changes. A walk that fails is resumed when the list is at rest. If a row was lost, run returns it with the error.
func (s *service) run(t *testing.T, resumed bool) (int, error) {
	began, delivered, log, token, failed := s.rows, map[int]bool{}, "", "", 0
	stops := 0
	if resumed {
		stops = 1 + s.random.IntN(3)
	}
	for {
		rows, events := 0, s.random.IntN([]int{12, 60}[s.random.IntN(8)/7])
		if stops > 0 {
			rows = 1 + s.random.IntN(len(s.rows)+1)
		}
		if failed > 0 && stops <= 0 {
			events = 0
		}
		if log != "" && events > 0 {
			s.happen()
		}
		s.events, s.asked, s.highest = events, nil, 0
		clear(s.cache)
		got, next, err := s.read(t, rows, token)
		s.walks++
		s.requests += len(s.asked)
		log += fmt.Sprintf("\n%d changes: asked for %v, delivered %v, %v; now %v", events, s.asked, got, err, s.rows)
		for _, row := range got {
			delivered[row] = true
		}
		refused := s.refuses(err)
		switch tied := s.tied > 0 && errors.Is(err, shipping.ErrIncomplete); {
		case isRepeated(got):
			return 0, fmt.Errorf("a row was delivered twice; began %v%s", began, log)
		case len(s.asked) > 9*(s.newest/s.size+2)+200:
			return 0, fmt.Errorf("%d requests; began %v%s", len(s.asked), began, log)
		case err == nil:
			return s.lost(began, delivered, log)
		case refused && events == 0: // the list cannot be read
			return 0, nil
		case events == 0 && tied && failed < 9:
			s.tiedErrors++
		case events == 0 && err != errStopped:
			return 0, fmt.Errorf("%w, although the list is at rest; began %v%s", err, began, log)
		}
		if err != errStopped {
			failed++
		}
		token, stops = next, stops-1
	}
}

// refuses reports whether the service refused a page that is not behind the last one. A list with short pages and
// no numbers can also end in an error: if rows vanished, or if a page is refused.
func (s *service) refuses(err error) bool {
	failure, ok := errors.AsType[*shipping.Error](err)
	isRefused := ok && slices.Contains(refusals, failure.StatusCode)
	return isRefused && s.ending == "a refusal, deep pages too" && len(s.rows) > 4*s.size ||
		s.capped && err != errStopped && (s.gone > 0 || isRefused)
}

// lost returns an error, and the row, if one that was there from the beginning to the end was not delivered.
func (s *service) lost(began []int, delivered map[int]bool, log string) (int, error) {
	for _, row := range began {
		if !delivered[row] && slices.Contains(s.rows, row) {
			return row, fmt.Errorf("row %d was lost; began %v%s", row, began, log)
		}
	}
	return 0, nil
}

// TestClient_LosesNoRow draws services that differ in what users have met: how rows move, which numbers a page reports,
// how the service responds to a page behind the last one, and 503 and 429 between the pages. The real client walks
// them, half of them with resumes. A row is lost only for a reason that docs/lists.md lists; a list at rest causes
// no error, unless its rows are tied: then a resume leads to all of them; or its pages have no numbers.
func TestClient_LosesNoRow(t *testing.T) {
	t.Parallel()
	o := randomtest.New(t)
	seed, draws := o.Seed(), o.Number("SHIPPING_SERVICES", 2880)
	page := string(shippingtest.Must(os.ReadFile("../../docs/lists.md"))(t))
	_, page, _ = strings.Cut(page, "### What no client can see")
	if page, _, _ = strings.Cut(page, "\n## "); strings.Count(page, "\n- ") != len(unseen) {
		t.Errorf("docs/lists.md has other cases than the %d of the search:\n%s", len(unseen), page)
	}
	moved, numbered := slices.Sorted(maps.Keys(motions)), slices.Sorted(maps.Keys(numberings))
	ended := slices.Sorted(maps.Keys(endings))
	walks, requests, lost, tiedErrors := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for from := 0; from < draws && !t.Failed(); from += 1000 {
		synctest.Test(t, func(t *testing.T) {
			for i := from; i < min(from+1000, draws); i++ {
				n := i
				pick := func(names []string) string { name := names[n%len(names)]; n /= len(names); return name }
				motion, numbering, ending := pick(moved), pick(numbered), pick(ended)
				s := newService(motions[motion], numberings[numbering], ending, seed<<32+uint64(i))
				row, err := s.run(t, n%2 == 1)
				reason := ""
				if row > 0 {
					reason = s.reason(row)
					lost[reason]++
				}
				if err != nil && reason == "" {
					t.Fatalf("draw %d: %s; %s; behind the end %s; %d a page: %v", i, motion, numbering, ending, s.size, err)
				}
				walks[motion] += s.walks
				requests[motion] += s.requests
				tiedErrors += s.tiedErrors
			}
		})
	}
	t.Attr("cases", fmt.Sprintf("%d draws", draws))
	for _, u := range unseen {
		shippingtest.Contains(t, "docs/lists.md", page, "- **"+u.name+"**")
		t.Logf("%6d lost: %s", lost[u.name], u.name)
	}
	t.Logf("%6d errors of a list at rest, all of tied rows", tiedErrors)
	for _, motion := range moved {
		t.Logf("%6.2f requests a walk: %s", float64(requests[motion])/float64(walks[motion]), motion)
	}
}
