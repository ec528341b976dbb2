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

// checkLists makes the checks of each list: its response, its records, whose they are, and its pages.
func (s *session) checkLists() {
	for _, op := range s.service.operations {
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
		if op.Name == "transactions.list" {
			l.owner = "wallet"
		}
		s.checkList(l)
	}
}

func (s *session) checkList(l list) {
	first, shape := s.fetch(l, 1, url.Values{}), l.place+" is an array"
	listed := cmp.Or(first.missing, unless(len(first.shape) == 0, "needs the list"))
	found := cmp.Or(listed, unless(len(first.records) > 0, "the list is empty: make a record"))
	if l.pages != nil {
		shape += " and data.pagination an object"
	}
	s.judge([]check{{heading(l.Description), shape + ", in the envelope with HTTP status " + l.status, first.missing, first.shape, stated}})
	s.checkRecords(l, first, found)
	if l.owner != "" {
		s.checkOwner(l, first, found)
	}
	if l.pages != nil {
		s.checkPages(l, first, listed)
	}
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
	p.records = append(objects(p.envelope["data"]), objects(p.data()[strings.TrimPrefix(l.place, "data.")])...)
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
	problems      func(at string, record map[string]any) []string
}{
	{"Webhook", "_id and id are equal", func(at string, w map[string]any) []string {
		return problem(!reflect.DeepEqual(w["_id"], w["id"]), "%s: _id is %v and id is %v", at, w["_id"], w["id"])
	}},
	// "Integer amount in minor units, as it occurs (amount times 100)". How a fraction of a minor unit is rounded is left open.
	{"Transaction", "flat_amount is amount times 100", func(at string, t map[string]any) []string {
		amount, ok := rational(t["amount"])
		flat, fits := rational(t["flat_amount"])
		if !ok || !fits {
			return nil
		}
		gap := new(big.Rat).Sub(flat, new(big.Rat).Mul(amount, big.NewRat(100, 1)))
		return problem(gap.Abs(gap).Cmp(big.NewRat(1, 1)) >= 0, "%s: flat_amount is %v beside an amount of %v", at, t["flat_amount"], t["amount"])
	}},
}

// checkRecords checks the records of a page against their table.
func (s *session) checkRecords(l list, first page, found missing) {
	table := heading(l.record.Description)
	var others []string
	for _, r := range first.records {
		for name := range r {
			others = append(others, problem(l.record.Properties[name] == nil, "%s", name)...)
		}
	}
	s.judge([]check{
		{table, "every record has the fields of the table, each of its type and format", found, first.fields, stated},
		{table, "the record has only the fields of the table", found, problem(len(others) > 0, "further fields: %s", joined(others)), open},
	})
	for _, rule := range recordRules {
		var problems []string
		for i, r := range first.records {
			problems = append(problems, rule.problems(fmt.Sprintf("%s[%d]", l.place, i), r)...)
		}
		if rule.heading == table {
			s.judge([]check{{table, rule.what, found, problems, stated}})
		}
	}
}

// checkOwner: "unique wallet identifier whose transactions are listed", "required: yes". A wallet that does not exist is
// refused, or has none.
func (s *session) checkOwner(l list, first page, found missing) {
	other := s.fetch(l, 1, url.Values{l.owner: {"VA-0"}})
	var shared []string
	for _, r := range other.records {
		is := func(own map[string]any) bool { return l.idOf(own) == l.idOf(r) }
		shared = append(shared, problem(slices.ContainsFunc(first.records, is), "%s is listed for the %s VA-0 too", l.idOf(r), l.owner)...)
	}
	s.judge([]check{
		{heading(l.Description), "the records of one " + l.owner + " are not listed for another", cmp.Or(found, other.missing), shared, stated},
		s.breaksRule(heading(l.Description), l.owner+" is required", s.send(l.operation, request{})),
	})
}

// idOf returns the identifier of a record: its first required member.
func (l list) idOf(record map[string]any) string { return jsonOf(record[l.record.Required[0]]) }

// checkPages checks the pagination object, and compares pages of several sizes.
func (s *session) checkPages(l list, first page, listed missing) {
	total, _ := first.number("total")
	last := max(1, (total+partSize-1)/partSize)
	pages := []page{first, s.part(l, 1), s.part(l, min(2, last)), s.part(l, last)}
	past, odd := s.part(l, last+1), s.fetch(l, 1, url.Values{"perPage": {"many"}})
	sound := cmp.Or(listed, unless(len(first.paging) == 0, "needs the fields of the object"))
	var problems, order []string
	for _, p := range pages {
		sound = cmp.Or(sound, p.missing)
		problems = append(problems, slices.Concat(p.shape, p.arithmetic(l.pages))...)
		if now, ok := p.number("total"); ok && now != total {
			problems = append(problems, fmt.Sprintf("total is %d, and %d on page %d of %d a page", total, now, p.requested, partSize))
			again, _ := s.fetch(l, 1, url.Values{}).number("total")
			sound = cmp.Or(sound, unless(again == total, "records were added or removed while the pages were read: run it again"))
		}
	}
	for _, p := range pages[1:] {
		size, ok := p.number("perPage")
		problems = append(problems, problem(ok && size != partSize, "perPage is %d on page %d; %d was requested", size, p.requested, partSize)...)
	}
	for i, r := range append(pages[1].records, pages[2].records...) {
		if i < len(first.records) && len(order) == 0 {
			id, own := l.idOf(r), l.idOf(first.records[i])
			order = problem(id != own, "record %d is %s on the first page and %s on small ones", i+1, own, id)
		}
	}
	table, size, counter := heading(l.pages.Description), odd.object["perPage"], pages[3].object["pagingCounter"]
	checks := []check{
		{table, "the object has the fields of the table, each of its type", listed, first.paging, stated},
		{table, "page, perPage, total, pageCount and the neighbours add up on the first, second and last page", sound, problems, stated},
		{heading(l.Description), "pages of 2 contain the first records of the first page, in the same order", cmp.Or(sound,
			unless(len(first.records) > partSize, fmt.Sprintf("the list has %d records: make more than %d", len(first.records), partSize)),
			unless(len(pages[1].shape)+len(pages[2].shape) == 0, "needs the pages")), order, stated},
		{table, "a page past the end is empty", cmp.Or(sound, past.missing),
			append(past.shape, problem(len(past.records) > 0, "page %d of %d holds %d records", last+1, last, len(past.records))...), open},
	}
	for _, limit := range [][2]string{{"page", "1"}, {"perPage", "100"}} {
		name, want, got := limit[0], limit[1], jsonOf(first.object[limit[0]])
		checks = append(checks, check{"Limits", name + " of " + l.path + " is " + want + " by default", listed,
			problem(got != want, "pagination.%s is %s by default; want %s", name, got, want), stated})
	}
	checks = append(checks, check{table, "a perPage that is not a number counts as the default", cmp.Or(sound, odd.missing),
		append(odd.shape, problem(jsonOf(size) != jsonOf(first.object["perPage"]), "perPage is %s", jsonOf(size))...), open})
	if l.pages.Properties["pagingCounter"] != nil {
		want := fmt.Sprint((last-1)*partSize + 1)
		checks = append(checks, check{table, "pagingCounter is the number of the page's first record", sound,
			problem(jsonOf(counter) != want, "pagingCounter is %s on page %d of %d a page; %s was expected", jsonOf(counter), last, partSize, want), open})
	}
	if next := l.pages.Properties["nextPage"]; next != nil && next.Assumption != "" {
		shown := jsonOf(pages[3].object["nextPage"])
		checks = append(checks, check{table, "nextPage is 0 after the last page", sound, problem(shown != "0", "nextPage is %s", shown), open})
	}
	s.judge(checks)
}

// arithmetic returns the contradictions between the numbers of a page. Absent numbers are ignored.
//
// Specification: the three pagination objects. The rules follow from the names: total records, records a page,
// pages; every page but the last is full.
func (p page) arithmetic(object *schema) (problems []string) {
	n := map[string]int64{}
	for _, name := range []string{"total", "perPage", "page", "pageCount"} {
		value, ok := p.number(name)
		if n[name] = value; !ok {
			return nil
		}
	}
	if n["total"] < 0 || n["perPage"] < 1 {
		return []string{fmt.Sprintf("total is %d and perPage is %d: neither is possible", n["total"], n["perPage"])}
	}
	expect := func(is bool, format string, args ...any) {
		problems = append(problems, problem(!is, "page %d of %d a page: "+format, slices.Concat([]any{p.requested, n["perPage"]}, args)...)...)
	}
	expect(n["page"] == p.requested, "page is %d", n["page"])
	if current, ok := p.number("currentPage"); ok {
		expect(current == n["page"], "currentPage is %d", current)
	}
	pages := n["total"] / n["perPage"]
	if n["total"]%n["perPage"] > 0 {
		pages++
	}
	// An empty list has one page or none.
	expect(n["pageCount"] == pages || n["total"] == 0 && n["pageCount"] == 1, "pageCount is %d; want %d for a total of %d", n["pageCount"], pages, n["total"])
	held, full := int64(len(p.records)), max(0, min(n["perPage"], n["total"]-(p.requested-1)*n["perPage"]))
	expect(held == full, "%d records; want %d of a total of %d", held, full, n["total"])
	for _, neighbour := range []struct {
		flag, name string
		there      bool
		number     int64
	}{
		{"hasPrevPage", "prevPage", n["page"] > 1, p.requested - 1},
		{"hasNextPage", "nextPage", n["page"] < pages, p.requested + 1},
	} {
		if flag, ok := p.object[neighbour.flag].(bool); ok {
			expect(flag == neighbour.there, "%s is %t", neighbour.flag, flag)
		}
		member, value := object.Properties[neighbour.name], p.object[neighbour.name]
		switch got, ok := whole(value); {
		case member == nil || !ok && value != nil: // of another type, which the check of the fields reports
		case neighbour.there:
			expect(ok && got == neighbour.number, "%s is %s; want %d", neighbour.name, jsonOf(value), neighbour.number)
		case member.Assumption == "": // null, if the fields allow it, or the number of no page
			expect(got == 0, "%s is %s; want none", neighbour.name, jsonOf(value))
		}
	}
	return problems
}
