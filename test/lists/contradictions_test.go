package lists_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

// contradiction is a way in which a list contradicts itself. The list has 95 rows, ten a page.
type contradiction struct {
	apply change
	// ends is how the walk ends. All rows but the missing ones are delivered if it is complete or incomplete.
	ends    walkEnd
	missing int
	// requests is how many there may be; 0 for mostRequests.
	requests int
}

// walkEnd is how a walk ends. Each row states one.
type walkEnd string

const (
	complete   walkEnd = "complete"
	incomplete walkEnd = "incomplete"
	loop       walkEnd = "loop"
	unexpected walkEnd = "unexpected body"
)

func walkEndOf(err error) walkEnd {
	switch {
	case err == nil:
		return complete
	case errors.Is(err, shipping.ErrIncomplete):
		return incomplete
	case errors.Is(err, shipping.ErrPageLoop):
		return loop
	case errors.Is(err, shipping.ErrUnexpectedBody):
		return unexpected
	default:
		return walkEnd(err.Error())
	}
}

// mostRequests is how many requests a walk over a list of ten pages makes at most, however the list contradicts
// itself.
const mostRequests = 100

// change changes a response, whatever the service's state is or by it.
type change = func(s *rowService, page int, a *rowAnswer)

// report changes one member of the pagination object.
func report(member string, value func(page int, a *rowAnswer) any) change {
	return func(_ *rowService, page int, a *rowAnswer) {
		if a.Pagination[member] = value(page, a); a.Pagination[member] == "absent" {
			delete(a.Pagination, member)
		}
	}
}

// always changes one member of the pagination object to the same value.
func always(member string, value any) change {
	return report(member, func(int, *rowAnswer) any { return value })
}

// counting changes one member by the number of responses so far.
func counting(member string, value func(n, truth int) any) change {
	return func(s *rowService, _ int, a *rowAnswer) {
		a.Pagination[member] = value(s.answers, a.Pagination[member].(int))
	}
}

// onPage changes one page.
func onPage(number int, apply func(*rowAnswer)) change {
	return func(_ *rowService, page int, a *rowAnswer) {
		if page == number {
			apply(a)
		}
	}
}

func contradictions() map[string]contradiction {
	rowsOf := func(s *rowService, page int) []int { return s.rows[min((page-1)*10, 95):min(page*10, 95)] }
	none := func(a *rowAnswer, member string) { delete(a.Pagination, member) }
	return map[string]contradiction{
		"total is absent":             {apply: always("total", "absent"), ends: complete},
		"total is null":               {apply: always("total", nil), ends: complete},
		"total is 0":                  {apply: always("total", 0), ends: complete},
		"total is negative":           {apply: always("total", -95), ends: complete},
		"total is a string":           {apply: always("total", "95"), ends: complete},
		"total is beyond all numbers": {apply: always("total", math.MaxInt), ends: incomplete},
		"total is too small":          {apply: always("total", 20), ends: complete},
		"total is too large":          {apply: always("total", 96), ends: incomplete},
		"total grows with every response": {apply: counting("total", func(n, truth int) any { return truth + n }),
			ends: incomplete},
		"total leaps with every response": {apply: counting("total", func(n, truth int) any { return truth + 1000*n }),
			ends: incomplete},
		"total shrinks with every response": {apply: counting("total", func(n, truth int) any { return max(truth-n, 0) }),
			ends: complete},
		"total shrinks from far above": {apply: counting("total", func(n, truth int) any { return 10_000 - 100*n }),
			ends: incomplete},
		// which response has which total depends on the order of the requests
		"total goes up and down": {apply: counting("total", func(n, truth int) any { return truth - 30*(n%2) }),
			ends: complete, requests: 400},
		"total is what remains": {apply: report("total",
			func(page int, a *rowAnswer) any { return 95 - 10*(page-1) }), ends: complete, requests: 40},
		"total counts the page only": {apply: report("total", func(_ int, a *rowAnswer) any { return len(a.Rows) }),
			ends: complete, requests: 11},
		"total counts the page only, and there is no pageCount": {apply: func(_ *rowService, _ int, a *rowAnswer) {
			a.Pagination["total"] = len(a.Rows)
			none(a, "pageCount")
		}, ends: complete, requests: 11},
		"total and pageCount count the page only": {apply: func(_ *rowService, _ int, a *rowAnswer) {
			a.Pagination["total"], a.Pagination["pageCount"] = len(a.Rows), 1
		}, ends: complete, requests: 11},
		"total is on the first page only": {apply: report("total",
			func(page int, a *rowAnswer) any { return map[bool]any{true: 95, false: "absent"}[page == 1] }), ends: complete},
		"pageCount is 0 with items":        {apply: always("pageCount", 0), ends: complete},
		"pageCount is absent":              {apply: always("pageCount", "absent"), ends: complete},
		"pageCount is negative":            {apply: always("pageCount", -1), ends: complete},
		"pageCount is 1":                   {apply: always("pageCount", 1), ends: complete},
		"pageCount is too large by a page": {apply: always("pageCount", 11), ends: complete},
		"pageCount has no end":             {apply: always("pageCount", 1_000_000_000), ends: complete},
		"page is absent":                   {apply: always("page", "absent"), ends: complete},
		"page is always 1, the rows right": {apply: always("page", 1), ends: complete},
		"page counts from 0": {apply: report("page", func(page int, _ *rowAnswer) any { return page - 1 }),
			ends: complete},
		"hasNextPage is always true":  {apply: always("hasNextPage", true), ends: complete},
		"hasNextPage is always false": {apply: always("hasNextPage", false), ends: complete},
		"nextPage points back": {apply: report("nextPage",
			func(page int, _ *rowAnswer) any { return page - 1 }), ends: complete},
		"nextPage is always the first":  {apply: always("nextPage", 1), ends: complete},
		"perPage is absent":             {apply: always("perPage", "absent"), ends: complete},
		"perPage is 0":                  {apply: always("perPage", 0), ends: complete},
		"perPage is negative":           {apply: always("perPage", -10), ends: complete},
		"perPage is beyond all numbers": {apply: always("perPage", math.MaxInt), ends: complete},
		"perPage counts the page only": {apply: report("perPage", func(_ int, a *rowAnswer) any { return len(a.Rows) }),
			ends: complete},
		"perPage is another with every page": {apply: counting("perPage", func(n, _ int) any { return 10 + n%7 }),
			ends: complete},
		"pagination is missing": {apply: func(_ *rowService, _ int, a *rowAnswer) { a.Pagination = nil },
			ends: complete},
		"pagination is empty": {apply: func(_ *rowService, _ int, a *rowAnswer) { clear(a.Pagination) },
			ends: complete},

		"the cap of the page size is wrong": {apply: report("perPage", func(int, *rowAnswer) any { return 100 }),
			ends: complete},
		"the cap is wrong everywhere": {apply: func(_ *rowService, page int, a *rowAnswer) {
			a.Pagination["perPage"], a.Pagination["pageCount"], a.Pagination["hasNextPage"] = 100, 1, false
		}, ends: complete},
		"the page number is ignored": {apply: func(s *rowService, _ int, a *rowAnswer) {
			a.Rows, a.Pagination["page"] = rowsOf(s, 1), 1
		}, ends: incomplete, missing: 85},
		"the page number is ignored, and echoed": {apply: func(s *rowService, _ int, a *rowAnswer) {
			a.Rows = rowsOf(s, 1)
		}, ends: incomplete, missing: 85},
		"the page number is ignored, and all else unsaid": {apply: func(s *rowService, _ int, a *rowAnswer) {
			a.Rows, a.Pagination = rowsOf(s, 1), nil
		}, ends: loop},
		"the page number is ignored, and the total grows": {apply: func(s *rowService, _ int, a *rowAnswer) {
			a.Rows, a.Pagination["total"] = rowsOf(s, 1), 95+s.answers
		}, ends: incomplete, missing: 85},
		"one page comes twice": {apply: func(s *rowService, page int, a *rowAnswer) {
			if page == 4 {
				a.Rows = rowsOf(s, 3)
			}
		}, ends: incomplete, missing: 10},
		"three pages take turns": {apply: func(s *rowService, page int, a *rowAnswer) {
			a.Rows, a.Pagination["hasNextPage"] = rowsOf(s, (page-1)%3+1), true
			none(a, "pageCount")
			none(a, "total")
		}, ends: loop},
		"the last page is repeated without end": {apply: func(s *rowService, page int, a *rowAnswer) {
			a.Rows, a.Pagination["pageCount"] = rowsOf(s, min(page, 10)), page+1
		}, ends: loop},
		"beyond the last page comes the last": {apply: func(s *rowService, page int, a *rowAnswer) {
			a.Rows, a.Pagination["page"], a.Pagination["hasNextPage"] = rowsOf(s, min(page, 10)), min(page, 10), true
		}, ends: complete},
		"an empty page stands among the others": {apply: onPage(4, func(a *rowAnswer) { a.Rows = nil }), ends: incomplete,
			missing: 10},
		"the items of a page are null": {apply: onPage(4, func(a *rowAnswer) { a.Null = true }), ends: incomplete,
			missing: 10},
		"all items are null": {apply: func(_ *rowService, page int, a *rowAnswer) { a.Null = true },
			ends: incomplete, missing: 95},
		"the items beyond the last page are null": {apply: func(_ *rowService, page int, a *rowAnswer) {
			a.Null, a.Pagination["hasNextPage"] = page > 10, true
		}, ends: complete},
		"the records have no identifiers": {apply: func(_ *rowService, _ int, a *rowAnswer) { a.Anonymous = true },
			ends: complete},
		"data of a page is null":         {apply: onPage(4, func(a *rowAnswer) { a.Data = "null" }), ends: unexpected},
		"data of a page is {}":           {apply: onPage(4, func(a *rowAnswer) { a.Data = "{}" }), ends: unexpected},
		"data of the first page is null": {apply: onPage(1, func(a *rowAnswer) { a.Data = "null" }), ends: unexpected},
		"data of the last page is null":  {apply: onPage(10, func(a *rowAnswer) { a.Data = "null" }), ends: unexpected},
		"a page has no numbers":          {apply: onPage(4, func(a *rowAnswer) { a.Pagination = nil }), ends: complete},
		"a page has neither": {apply: onPage(4, func(a *rowAnswer) { a.Rows, a.Pagination = nil, nil }),
			ends: unexpected},
		"a page is cut": {apply: onPage(4, func(a *rowAnswer) { a.Rows = a.Rows[:2] }), ends: incomplete,
			missing: 8},
		"the last page is empty": {apply: onPage(10, func(a *rowAnswer) { a.Rows = nil }), ends: incomplete,
			missing: 5},
		"a record comes again": {apply: onPage(7,
			func(a *rowAnswer) { a.Rows = append([]int{95}, a.Rows[1:]...) }), ends: incomplete, missing: 1},
		"all pages but the first are empty": {apply: func(_ *rowService, page int, a *rowAnswer) {
			a.Rows = a.Rows[:len(a.Rows)*min(1, 2-min(page, 2))]
		},
			ends: incomplete, missing: 85},
		"all records have the same identifier": {apply: func(_ *rowService, page int, a *rowAnswer) {
			a.Rows = make([]int, len(a.Rows))
		}, ends: incomplete, missing: 85},
		"the records have no identifiers, and the page number is ignored": {apply: func(s *rowService, _ int, a *rowAnswer) {
			a.Rows, a.Anonymous = rowsOf(s, 1), true
		}, ends: incomplete, missing: 85},
	}
}

// TestWalk_ContradictoryLists walks lists whose responses contradict themselves: the right records, or an
// error that names the problem, after a bounded number of requests.
func TestWalk_ContradictoryLists(t *testing.T) {
	t.Parallel()
	for name, contradiction := range contradictions() {
		for _, window := range []int{1, defaultWindow} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newRowService(95)
				s.change = func(page int, a *rowAnswer) { contradiction.apply(s, page, a) }
				delivered, err := collect(walkTransactions(t.Context(), s.client(t), 0, 10, shipping.Walk{Window: window}))
				if walkEndOf(err) != contradiction.ends {
					t.Fatalf("window %d: the walk ended with %v, want %q; pages asked for: %v", window, err, contradiction.ends,
						s.asked)
				}
				asked := slices.Clone(s.asked)
				if err == nil || errors.Is(err, shipping.ErrIncomplete) {
					checkDelivery(t, s, delivered, contradiction.missing)
				}
				if err != nil {
					checkResume(t, s, delivered, contradiction.missing, err)
				}
				if n, most := len(asked), cmp.Or(contradiction.requests, mostRequests); n > most {
					t.Errorf("window %d: %d requests, want at most %d: %v", window, n, most, asked)
				}
				if s.open != 0 {
					t.Errorf("window %d: %d bodies left open", window, s.open)
				}
			})
		}
	}
}

// checkDelivery checks that all rows but so many were delivered, each once and in order.
func checkDelivery(t *testing.T, s *rowService, delivered []int, missing int) {
	t.Helper()
	if len(delivered) == len(s.rows)-missing && (len(delivered) == 0 || delivered[0] <= 0) { // records without identifiers
		return
	}
	if !slices.IsSortedFunc(delivered, func(a, b int) int { return b - a }) ||
		len(slices.Compact(slices.Clone(delivered))) != len(s.rows)-missing {
		t.Errorf("delivered %d rows, want all but %d, each once: %v", len(delivered), missing, delivered)
	}
}

// checkResume resumes a walk that failed, now that the service is in order, and checks that every row was
// delivered then.
func checkResume(t *testing.T, s *rowService, delivered []int, missing int, failure error) {
	t.Helper()
	s.change = nil
	if len(delivered) > 0 && delivered[0] <= 0 { // records without identifiers
		return
	}
	ended, ok := errors.AsType[*shipping.ListError](failure)
	if !ok {
		t.Fatalf("%v is not a ListError", failure)
	}
	if missing > 0 && (ended.Missing < missing ||
		!strings.Contains(failure.Error(), fmt.Sprint(" ", ended.Missing, " "))) {
		t.Errorf("Missing is %d, want at least %d: %v", ended.Missing, missing, failure)
	}
	rest, err := collect(walkTransactions(t.Context(), s.client(t), 0, 10, shipping.Walk{Resume: ended.Resume}))
	all := slices.Concat(delivered, rest)
	slices.Sort(all)
	slices.Reverse(all)
	if diff := gocmp.Diff(s.rows, slices.Compact(all)); err != nil || diff != "" {
		t.Errorf("resumed after %v: %v (-want +got)\n%s", failure, err, diff)
	}
}

// TestWalk_AServiceThatDoesNotPaginate sends all it has whatever page is asked for.
func TestWalk_AServiceThatDoesNotPaginate(t *testing.T) {
	t.Parallel()
	s := newRowService(37)
	s.change = func(_ int, a *rowAnswer) { a.Rows, a.Pagination = s.rows, nil }
	delivered, err := collect(walkRates(t.Context(), s.client(t), 0, 0, shipping.Walk{}))
	if diff := gocmp.Diff(s.rows, delivered); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
