package lists_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// contradiction is a way in which a list contradicts itself. The list has 95 rows, ten a page.
type contradiction struct {
	change change
	// ends is how the walk ends. All rows but the missing ones are delivered if it is complete or incomplete.
	ends    error
	missing int
	// requests is how many there may be; 0 for mostRequests.
	requests int
}

var incomplete, unexpected, loop = shipping.ErrIncomplete, shipping.ErrUnexpectedBody, shipping.ErrPageLoop

// mostRequests is how many requests a walk over a list of ten pages makes at most, however the list contradicts
// itself.
const mostRequests = 100

// onPage changes one page.
func onPage(number int, apply change) change {
	return func(p *page) {
		if p.number == number {
			apply(p)
		}
	}
}

var contradictions = map[string]contradiction{
	"no total":                      {change: func(p *page) { p.Total = 0 }},
	"total is negative":             {change: func(p *page) { p.Total = -95 }},
	"total is beyond all numbers":   {change: func(p *page) { p.Total = math.MaxInt }, ends: incomplete},
	"total is too small":            {change: func(p *page) { p.Total = 20 }},
	"total is too large":            {change: func(p *page) { p.Total = 96 }, ends: incomplete},
	"total grows":                   {change: func(p *page) { p.Total += p.list.responses }, ends: incomplete},
	"total leaps":                   {change: func(p *page) { p.Total += 1000 * p.list.responses }, ends: incomplete},
	"total shrinks":                 {change: func(p *page) { p.Total = max(p.Total-p.list.responses, 0) }},
	"total shrinks from far above":  {change: func(p *page) { p.Total = 10_000 - 100*p.list.responses }, ends: incomplete},
	"total is what remains":         {change: func(p *page) { p.Total -= 10 * (p.number - 1) }, requests: 40},
	"total is on the first page":    {change: func(p *page) { p.Total *= 1 / p.number }},
	"total counts the page":         {change: func(p *page) { p.Total = len(p.rows) }, requests: 11},
	"total is that of a page alone": {change: func(p *page) { p.Total, p.PageCount = len(p.rows), 0 }, requests: 11},
	"the list is a page":            {change: func(p *page) { p.Total, p.PageCount = len(p.rows), 1 }, requests: 11},
	// Which response has which total depends on the order of the requests.
	"total goes up and down": {change: func(p *page) { p.Total -= 30 * (p.list.responses % 2) }, requests: 400},

	"no pageCount":            {change: func(p *page) { p.PageCount = 0 }},
	"pageCount is negative":   {change: func(p *page) { p.PageCount = -1 }},
	"pageCount is 1":          {change: func(p *page) { p.PageCount = 1 }},
	"pageCount is too large":  {change: func(p *page) { p.PageCount = 11 }},
	"pageCount has no end":    {change: func(p *page) { p.PageCount = 1_000_000_000 }},
	"hasNextPage is true":     {change: func(p *page) { p.HasNext = true }},
	"hasNextPage is false":    {change: func(p *page) { p.HasNext = false }},
	"no perPage":              {change: func(p *page) { p.PerPage = 0 }},
	"perPage is negative":     {change: func(p *page) { p.PerPage = -10 }},
	"perPage has no end":      {change: func(p *page) { p.PerPage = math.MaxInt }},
	"perPage is too large":    {change: func(p *page) { p.PerPage = 100 }},
	"perPage counts the page": {change: func(p *page) { p.PerPage = len(p.rows) }},
	"perPage changes":         {change: func(p *page) { p.PerPage = 10 + p.list.responses%7 }},
	"the page is the list":    {change: func(p *page) { p.PerPage, p.PageCount, p.HasNext = 100, 1, false }},
	"no numbers":              {change: func(p *page) { p.Numbers = paging.Numbers{} }},
	"a page without numbers":  {change: onPage(4, func(p *page) { p.Numbers = paging.Numbers{} })},

	"total is absent":          {change: report("total", absent{})},
	"total is null":            {change: report("total", nil)},
	"total is a string":        {change: report("total", "95")},
	"perPage is absent":        {change: report("perPage", absent{})},
	"pageCount is absent":      {change: report("pageCount", absent{})},
	"page is absent":           {change: report("page", absent{})},
	"page is always 1":         {change: report("page", 1)},
	"nextPage is always 1":     {change: report("nextPage", 1)},
	"no pagination":            {change: replace("pagination", absent{})},
	"pagination is empty":      {change: replace("pagination", map[string]any{})},
	"items are null":           {replace("transactions", nil), incomplete, 95, 0},
	"items of a page are null": {onPage(4, replace("transactions", nil)), incomplete, 10, 0},
	"items behind the last page are null": {func(p *page) {
		p.HasNext = true
		if p.number > 10 {
			replace("transactions", nil)(p)
		}
	}, nil, 0, 0},

	"always page 1":                 {func(p *page) { p.rows = p.of(1) }, incomplete, 85, 0},
	"always page 1, no numbers":     {func(p *page) { p.rows, p.Numbers = p.of(1), paging.Numbers{} }, loop, 0, 0},
	"always page 1, total grows":    {func(p *page) { p.rows, p.Total = p.of(1), 95+p.list.responses }, incomplete, 85, 0},
	"always page 1, no identifiers": {func(p *page) { p.rows, p.id = p.of(1), anonymous }, incomplete, 85, 0},
	"one page comes twice":          {onPage(4, func(p *page) { p.rows = p.of(3) }), incomplete, 10, 0},
	"three pages take turns": {func(p *page) {
		p.rows, p.Numbers = p.of((p.number-1)%3+1), paging.Numbers{PerPage: 10, HasNext: true}
	}, loop, 0, 0},
	"the last page comes without end": {func(p *page) {
		p.rows, p.PageCount = p.of(min(p.number, 10)), p.number+1
	}, loop, 0, 0},
	"the last page comes again": {func(p *page) {
		p.rows, p.HasNext = p.of(min(p.number, 10)), true
	}, nil, 0, 0},
	"an empty page": {onPage(4, func(p *page) { p.rows = nil }), incomplete, 10, 0},
	"an empty page, no totals": {func(p *page) {
		if p.Total, p.PageCount = 0, 0; p.number == 4 {
			p.rows = nil
		}
	}, incomplete, 10, 0},
	"an empty page without numbers": {onPage(4, func(p *page) {
		p.rows, p.Numbers = nil, paging.Numbers{}
	}), unexpected, 0, 0},
	"the last page is empty":            {onPage(10, func(p *page) { p.rows = nil }), incomplete, 5, 0},
	"all pages but the first are empty": {func(p *page) { p.rows = p.rows[:len(p.rows)*(1/p.number)] }, incomplete, 85, 0},
	"all pages are empty":               {func(p *page) { p.rows = nil }, incomplete, 95, 0},
	"data of a page is null":            {onPage(4, func(p *page) { p.text = "null" }), unexpected, 0, 0},
	"data of the first page is null":    {onPage(1, func(p *page) { p.text = "null" }), unexpected, 0, 0},
	"data of the last page is null":     {onPage(10, func(p *page) { p.text = "null" }), unexpected, 0, 0},
	"no data on a page":                 {onPage(4, func(p *page) { p.unlisted = true }), unexpected, 0, 0},
	"no data on the first page":         {onPage(1, func(p *page) { p.unlisted = true }), unexpected, 0, 0},
	"no data on the last page":          {onPage(10, func(p *page) { p.unlisted = true }), unexpected, 0, 0},
	"a page is cut":                     {onPage(4, func(p *page) { p.rows = p.rows[:2] }), incomplete, 8, 0},
	"a record comes again": {onPage(7, func(p *page) {
		p.rows = append([]int{95}, p.rows[1:]...)
	}), incomplete, 1, 0},
	"no identifiers":                               {func(p *page) { p.id = anonymous }, nil, 0, 0},
	"all identifiers are the same":                 {func(p *page) { p.id = same }, incomplete, 85, 0},
	"three legs of a transfer share an identifier": {func(p *page) { p.id = leg }, nil, 0, 0},
}

// absent is the value of a member that is left out.
type absent struct{}

// report sets one member of the pagination object.
func report(member string, value any) change {
	return func(p *page) {
		p.edit = func(data map[string]any) { set(data["pagination"].(map[string]any), member, value) }
	}
}

// replace sets one member of the data.
func replace(member string, value any) change {
	return func(p *page) {
		p.edit = func(data map[string]any) { set(data, member, value) }
	}
}

func set(object map[string]any, member string, value any) {
	object[member] = value
	if _, ok := value.(absent); ok {
		delete(object, member)
	}
}

func anonymous(int) (id, storage string) { return "", "" }

func same(int) (id, storage string) { return "ROW", "" }

// leg is the identifier of a record that the service stores apart from others with the same one.
func leg(row int) (id, storage string) { return fmt.Sprint("ROW-", row/3), fmt.Sprint(row) }

// of returns the rows of another page.
func (p *page) of(number int) []int { return p.list.rowsOf(number, pageSize) }

// TestWalk_ContradictoryLists walks lists whose responses contradict themselves: the right records, or an error that
// names the problem, after a bounded number of requests. If the walk failed, a resume leads to all records once the
// list is in order.
func TestWalk_ContradictoryLists(t *testing.T) {
	t.Parallel()
	for name, c := range contradictions {
		for _, window := range []int{1, defaultWindow} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newList(95)
				l.change = c.change
				rows, err := l.walk(t, shipping.Walk{Window: window})
				if !errors.Is(err, c.ends) || l.open > 0 || len(l.asked) > cmp.Or(c.requests, mostRequests) {
					t.Fatalf("window %d: %v with %d open bodies, want %v; asked for %v", window, err, l.open, c.ends, l.asked)
				}
				all := err == nil || errors.Is(err, incomplete)
				if !inOrder(rows) || all && len(rows) != 95-c.missing {
					t.Errorf("window %d: %d rows, want all but %d, each once: %v", window, len(rows), c.missing, rows)
				}
				if err != nil {
					checkResume(t, l, rows, c.missing, err)
				}
			})
		}
	}
}

// inOrder reports whether each row came once, newest first.
func inOrder(rows []int) bool {
	sorted := slices.IsSortedFunc(rows, func(a, b int) int { return b - a })
	return sorted && len(slices.Compact(slices.Clone(rows))) == len(rows)
}

// checkResume resumes a walk that failed, now that the list is in order.
func checkResume(t *testing.T, l *list, rows []int, missing int, failure error) {
	t.Helper()
	ended, ok := errors.AsType[*shipping.ListError](failure)
	stated := ok && strings.Contains(failure.Error(), fmt.Sprintf(" %d ", ended.Missing))
	if !ok || ended.Missing < missing || missing > 0 && !stated {
		t.Errorf("%#v, want a ListError with at least %d missing records", failure, missing)
		return
	}
	l.change = nil
	rest, err := l.walk(t, shipping.Walk{Resume: ended.Resume})
	rows = append(rows, rest...)
	slices.Sort(rows)
	slices.Reverse(rows)
	if shippingtest.NoError(t, err); !slices.Equal(slices.Compact(rows), l.rows) {
		t.Errorf("resumed after %v: %v", failure, rows)
	}
}
