package conformance

import (
	"fmt"
	"slices"
)

// page is the pagination object of a response.
type page struct {
	object    map[string]any
	held      int64 // the number of records on the page
	requested int64 // the page that was requested
}

// value returns a number of the object. The check of the fields reports other types.
func (p page) value(name string) (int64, bool) { return whole(p.object[name]) }

// arithmetic returns the contradictions between the numbers of a page. Absent numbers are ignored.
//
// Specification: the three pagination objects. The rules follow from the names: total records, records a page,
// pages; every page but the last is full.
func (p page) arithmetic(neighbours neighbours) []string {
	total, ok1 := p.value("total")
	perPage, ok2 := p.value("perPage")
	number, ok3 := p.value("page")
	pageCount, ok4 := p.value("pageCount")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil
	}
	if total < 0 || perPage < 1 {
		return []string{fmt.Sprintf("total is %d and perPage is %d: neither is possible", total, perPage)}
	}
	var problems []string
	complain := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("page %d of %d a page: ", p.requested, perPage)+fmt.Sprintf(format, args...))
	}
	if number != p.requested {
		complain("page is %d", number)
	}
	if current, ok := p.value("currentPage"); ok && current != number {
		complain("currentPage is %d", current)
	}
	pages := total / perPage
	if total%perPage > 0 {
		pages++
	}
	if pageCount != pages && (total > 0 || pageCount != 1) { // an empty list has one page or none
		complain("pageCount is %d; want %d for a total of %d", pageCount, pages, total)
	}
	expected := max(0, min(perPage, total-(p.requested-1)*perPage))
	if p.held != expected {
		complain("%d records; want %d of a total of %d", p.held, expected, total)
	}
	if neighbours != nil {
		for _, problem := range neighbours(p, number > 1, number < pages) {
			complain("%s", problem)
		}
	}
	return problems
}

// neighbours returns the problems with prevPage, nextPage, hasPrevPage and hasNextPage of a page, given whether there is
// a page before it and after it.
type neighbours func(p page, before, after bool) []string

// webhookNeighbours: "prevPage, nextPage (number or null); hasPrevPage, hasNextPage (booleans)". The number of a
// page that is not there can be 0.
func webhookNeighbours(p page, before, after bool) []string {
	return append(p.flags(before, after), append(
		p.neighbour("prevPage", before, -1, nil, int64(0)), p.neighbour("nextPage", after, +1, nil, int64(0))...)...)
}

// transactionNeighbours: "prevPage, nextPage (numbers; prevPage is 0 on the first page)". What nextPage
// is after the last page is left to [list.afterLast].
func transactionNeighbours(p page, before, after bool) []string {
	problems := append(p.flags(before, after), p.neighbour("prevPage", before, -1, int64(0))...)
	if after {
		problems = append(problems, p.neighbour("nextPage", true, +1)...)
	}
	return problems
}

func (p page) flags(before, after bool) []string {
	var problems []string
	for _, flag := range []struct {
		name string
		want bool
	}{{"hasPrevPage", before}, {"hasNextPage", after}} {
		if got, ok := p.object[flag.name].(bool); ok && got != flag.want {
			problems = append(problems, fmt.Sprintf("%s is %t", flag.name, got))
		}
	}
	return problems
}

// neighbour checks the number of the page before or after, or what can stand in its place.
func (p page) neighbour(name string, there bool, step int64, otherwise ...any) []string {
	want := otherwise
	if there {
		want = []any{p.requested + step}
	}
	var got any
	if n, ok := p.value(name); ok {
		got = n
	} else if p.object[name] != nil {
		return nil // of another type, which the check of the fields reports
	}
	if !slices.Contains(want, got) {
		return []string{fmt.Sprintf("%s is %s; want %s", name, jsonOf(got), jsonOf(want[0]))}
	}
	return nil
}
