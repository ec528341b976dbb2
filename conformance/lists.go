package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// list is an operation that returns records, as its description has it.
type list struct {
	*operation
	place  string // of the array in the response
	record *schema
	pages  *schema // the pagination object; nil: the list has no pages
	owner  string  // the query parameter that names whose records are listed
}

// lists returns the lists of the specification.
func (s *session) lists() (all []list) {
	for _, op := range s.service.operations() {
		if op.method != http.MethodGet || strings.Contains(op.path, "{") {
			continue
		}
		data := op.response.Properties["data"]
		l := list{operation: op, place: "data", record: data.Items, pages: data.Properties["pagination"]}
		for name, member := range data.Properties {
			if member.Items != nil {
				l.place, l.record = "data."+name, member.Items
			}
		}
		for _, p := range op.Parameters {
			if p.Required {
				l.owner = p.Name
			}
		}
		all = append(all, l)
	}
	return all
}

// page is a page of a list.
type page struct {
	response
	shape     []string // the problems of the response, beside those of its records and of its pagination object
	fields    []string // the problems of the records
	paging    []string // the problems of the members of the pagination object
	records   []map[string]any
	object    map[string]any // the pagination object
	requested int64
}

// number returns a number of the pagination object. The check of the fields reports other types.
func (p page) number(name string) (int64, bool) { return whole(p.object[name]) }

// fetch requests a page, with query values.
func (s *session) fetch(l list, requested int64, query url.Values) page {
	var need missing
	if query = maps.Clone(query); l.owner != "" && !query.Has(l.owner) {
		query.Set(l.owner, s.target.Wallet)
		need = unless(s.target.Wallet != "", needsWallet)
	}
	p := page{response: s.send(l.operation, request{query: query}, need), requested: requested}
	for _, problem := range p.problems() {
		switch {
		case strings.HasPrefix(problem, l.place+"["):
			p.fields = append(p.fields, problem)
		case strings.HasPrefix(problem, "data.pagination."):
			p.paging = append(p.paging, problem)
		default:
			p.shape = append(p.shape, problem)
		}
	}
	array := p.envelope["data"]
	if _, name, inObject := strings.Cut(l.place, "."); inObject {
		array = p.data()[name]
	}
	p.records = objects(array)
	p.object, _ = p.data()["pagination"].(map[string]any)
	return p
}

// partSize is the size of the pages that are compared with the first page.
const partSize = 2

// part requests a page of partSize records.
func (s *session) part(l list, number int64) page {
	return s.fetch(l, number, url.Values{"page": {fmt.Sprint(number)}, "perPage": {fmt.Sprint(partSize)}})
}

// recordRules are rules for a record beside its table, by the heading of the table.
var recordRules = []struct {
	heading, what string
	problems      func(record map[string]any) []string
}{
	{"Webhook", "_id and id are equal", func(w map[string]any) []string {
		return problem(!reflect.DeepEqual(w["_id"], w["id"]), "_id is %v and id is %v", w["_id"], w["id"])
	}},
	// "Integer amount in minor units, as it occurs (amount times 100)". How a fraction of a minor unit is rounded is left open.
	{"Transaction", "flat_amount is amount times 100", func(t map[string]any) []string {
		amount, ok := rational(t["amount"])
		flat, fits := rational(t["flat_amount"])
		if !ok || !fits {
			return nil
		}
		gap := new(big.Rat).Sub(flat, new(big.Rat).Mul(amount, big.NewRat(100, 1)))
		return problem(gap.Abs(gap).Cmp(big.NewRat(1, 1)) >= 0, "flat_amount is %v beside an amount of %v", t["flat_amount"], t["amount"])
	}},
}

// checkLists makes the checks of each list: its response, its records, whose they are, and its pages.
func (s *session) checkLists() {
	for _, l := range s.lists() {
		first, shape := s.fetch(l, 1, url.Values{}), l.place+" is an array"
		listed := cmp.Or(first.missing, unless(len(first.shape) == 0, "needs the list"))
		if l.pages != nil {
			shape += " and data.pagination an object"
		}
		s.judge([]check{{heading(l.Description), shape + ", in the envelope with HTTP status " + l.status, first.missing, first.shape, stated}})
		s.checkRecords(l, first, cmp.Or(listed, unless(len(first.records) > 0, "the list is empty: make a record")))
		if l.pages != nil {
			s.checkPages(l, first, listed)
		}
	}
}

// checkRecords checks the records of a page against their table.
func (s *session) checkRecords(l list, first page, need missing) {
	others := map[string]bool{}
	for _, r := range first.records {
		for _, name := range l.record.others(r) {
			others[name] = true
		}
	}
	table := heading(l.record.Description)
	s.judge([]check{
		{table, "every record has the fields of the table, each of its type and format", need, first.fields, stated},
		{table, "the record has only the fields of the table", need, problem(len(others) > 0, "further fields: %s", joined(others)), open},
	})
	for _, rule := range recordRules {
		var problems []string
		for i, r := range first.records {
			for _, p := range rule.problems(r) {
				problems = append(problems, fmt.Sprintf("%s[%d]: %s", l.place, i, p))
			}
		}
		if rule.heading == table {
			s.judge([]check{{table, rule.what, need, problems, stated}})
		}
	}
	if l.owner == "" {
		return
	}
	// "unique wallet identifier whose transactions are listed", "required: yes". A wallet that does not exist is refused, or has none.
	var shared []string
	other := s.fetch(l, 1, url.Values{l.owner: {"VA-0"}})
	for _, r := range other.records {
		is := func(own map[string]any) bool { return l.idOf(own) == l.idOf(r) }
		shared = append(shared, problem(slices.ContainsFunc(first.records, is), "%s is listed for the %s VA-0 too", l.idOf(r), l.owner)...)
	}
	s.judge([]check{
		{heading(l.Description), "the records of one " + l.owner + " are not listed for another", cmp.Or(need, other.missing), shared, stated},
		s.breaksRule(heading(l.Description), l.owner+" is required", s.send(l.operation, request{})),
	})
}

// idOf returns the identifier of a record: its first required member.
func (l list) idOf(record map[string]any) string { return jsonOf(record[l.record.Required[0]]) }

// checkPages checks the pagination object, and compares pages of several sizes.
func (s *session) checkPages(l list, first page, listed missing) {
	total, _ := first.number("total")
	last := max(1, (total+partSize-1)/partSize)
	end, past, odd := s.part(l, last), s.part(l, last+1), s.fetch(l, 1, url.Values{"perPage": {"many"}})
	pages := []page{first, s.part(l, 1), s.part(l, min(2, last)), end}
	sound := cmp.Or(listed, unless(len(first.paging) == 0, "needs the fields of the object"))
	var problems, order []string
	for i, p := range pages {
		sound = cmp.Or(sound, p.missing)
		problems = append(problems, slices.Concat(p.shape, p.arithmetic(l.pages))...)
		if now, ok := p.number("total"); ok && now != total {
			problems = append(problems, fmt.Sprintf("total is %d, and %d on page %d of %d a page", total, now, p.requested, partSize))
			again, _ := s.fetch(l, 1, url.Values{}).number("total")
			sound = cmp.Or(sound, unless(again == total, "records were added or removed while the pages were read: run it again"))
		}
		size, ok := p.number("perPage")
		problems = append(problems, problem(ok && i > 0 && size != partSize, "perPage is %d on page %d; %d was requested", size, p.requested, partSize)...)
	}
	for i, r := range slices.Concat(pages[1].records, pages[2].records) {
		if i < len(first.records) && len(order) == 0 {
			id, own := l.idOf(r), l.idOf(first.records[i])
			order = problem(id != own, "record %d is %s on the first page and %s on small ones", i+1, own, id)
		}
	}
	compared := cmp.Or(sound, unless(len(pages[1].shape)+len(pages[2].shape) == 0, "needs the pages"),
		unless(len(first.records) > partSize, fmt.Sprintf("the list has %d records: make more than %d", len(first.records), partSize)))
	table := heading(l.pages.Description)
	size, _ := odd.number("perPage")
	limit := func(name string, want int64) check {
		got, ok := first.number(name)
		return check{headingLimits, fmt.Sprintf("%s of %s is %d by default", name, l.path, want), listed,
			problem(!ok || got != want, "pagination.%s is %v by default; want %d", name, first.object[name], want), stated}
	}
	s.judge([]check{
		{table, "the object has the fields of the table, each of its type", listed, first.paging, stated},
		limit("perPage", 100), limit("page", 1),
		{table, "page, perPage, total, pageCount and the neighbours add up on the first, second and last page", sound, problems, stated},
		{heading(l.Description), fmt.Sprintf("pages of %d contain the first records of the first page, in the same order", partSize), compared, order, stated},
		{table, "a page past the end is empty", cmp.Or(sound, past.missing),
			append(past.shape, problem(len(past.records) > 0, "page %d of %d holds %d records", last+1, last, len(past.records))...), open},
		{table, "a perPage that is not a number counts as the default", cmp.Or(sound, odd.missing),
			append(odd.shape, problem(size != 100, "perPage is %d", size)...), open},
	})
	if l.pages.Properties["pagingCounter"] != nil {
		counter, _ := end.number("pagingCounter")
		want := (last-1)*partSize + 1
		s.judge([]check{{table, "pagingCounter is the number of the page's first record", sound,
			problem(counter != want, "pagingCounter is %d on page %d of %d a page; %d was expected", counter, last, partSize, want), open}})
	}
	if next := l.pages.Properties["nextPage"]; next != nil && next.Assumption != "" {
		after, ok := end.number("nextPage")
		s.judge([]check{{table, "nextPage is 0 after the last page", sound, problem(!ok || after != 0, "nextPage is %s", jsonOf(end.object["nextPage"])), open}})
	}
}

// arithmetic returns the contradictions between the numbers of a page. Absent numbers are ignored.
//
// Specification: the three pagination objects. The rules follow from the names: total records, records a page,
// pages; every page but the last is full.
func (p page) arithmetic(object *schema) (problems []string) {
	total, ok1 := p.number("total")
	perPage, ok2 := p.number("perPage")
	number, ok3 := p.number("page")
	pageCount, ok4 := p.number("pageCount")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return nil
	}
	if total < 0 || perPage < 1 {
		return []string{fmt.Sprintf("total is %d and perPage is %d: neither is possible", total, perPage)}
	}
	expect := func(is bool, format string, args ...any) {
		problems = append(problems, problem(!is, "page %d of %d a page: "+format, slices.Concat([]any{p.requested, perPage}, args)...)...)
	}
	expect(number == p.requested, "page is %d", number)
	if current, ok := p.number("currentPage"); ok {
		expect(current == number, "currentPage is %d", current)
	}
	pages := total / perPage
	if total%perPage > 0 {
		pages++
	}
	// An empty list has one page or none.
	expect(pageCount == pages || total == 0 && pageCount == 1, "pageCount is %d; want %d for a total of %d", pageCount, pages, total)
	held, full := int64(len(p.records)), max(0, min(perPage, total-(p.requested-1)*perPage))
	expect(held == full, "%d records; want %d of a total of %d", held, full, total)
	for _, n := range []struct {
		flag, name string
		there      bool
		step       int64
	}{
		{"hasPrevPage", "prevPage", number > 1, -1},
		{"hasNextPage", "nextPage", number < pages, +1},
	} {
		if flag, ok := p.object[n.flag].(bool); ok {
			expect(flag == n.there, "%s is %t", n.flag, flag)
		}
		member, value := object.Properties[n.name], p.object[n.name]
		switch neighbour, ok := whole(value); {
		case member == nil || !ok && value != nil: // of another type, which the check of the fields reports
		case n.there:
			expect(ok && neighbour == p.requested+n.step, "%s is %s; want %d", n.name, jsonOf(value), p.requested+n.step)
		case member.Assumption == "": // null, if the fields allow it, or the number of no page
			expect(neighbour == 0, "%s is %s; want none", n.name, jsonOf(value))
		}
	}
	return problems
}
