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
	pages  *schema    // the pagination object; nil: the list has no pages
	owner  url.Values // the query parameter that names whose records are listed
}

// checkLists makes the checks of each list: its response, its records, whose they are, and its pages.
func (s *session) checkLists() {
	for _, op := range s.service.operations {
		if op.method != http.MethodGet || strings.Contains(op.path, "{") {
			continue
		}
		data, need := op.response.Properties["data"], missing{}
		l := list{operation: op, place: "data", record: data.Items, pages: data.Properties["pagination"]}
		shape := "data is an array"
		for name, member := range data.Properties {
			if member.Items != nil {
				l.place, l.record, shape = "data."+name, member.Items, "data."+name+" is an array and data.pagination an object"
			}
		}
		if op.Name == "transactions.list" {
			l.owner, need = url.Values{"wallet": {s.target.Wallet}}, unless(s.target.Wallet != "", needsWallet)
		}
		first := s.fetch(l, 0, "", need)
		listed := cmp.Or(first.missing, unless(len(first.shape) == 0, "needs the list"))
		found := cmp.Or(listed, unless(len(first.records) > 0, "the list is empty: make a record"))
		s.judge([]check{{heading(l.Description), shape + ", in the envelope with HTTP status " + l.status, first.missing, first.shape, stated}})
		s.checkRecords(l, first, found)
		if l.owner != nil {
			s.checkOwner(l, first, found)
		}
		if l.pages != nil {
			s.checkPages(l, first, listed)
		}
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

// fetch requests a page. Without a number and perPage the service uses its defaults.
func (s *session) fetch(l list, number int64, perPage string, needs ...missing) page {
	query := url.Values{}
	maps.Copy(query, l.owner)
	if number > 0 {
		query.Set("page", fmt.Sprint(number))
	}
	if perPage != "" {
		query.Set("perPage", perPage)
	}
	p := page{response: s.send(l.operation, request{query: query}, needs...), requested: max(1, number)}
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
	var shared []string
	own := identifiers(l, first.records)
	l.owner = url.Values{"wallet": {"VA-0"}}
	other := s.fetch(l, 0, "")
	for _, id := range identifiers(l, other.records) {
		shared = append(shared, problem(slices.Contains(own, id), "%s is listed for the wallet VA-0 too", id)...)
	}
	s.judge([]check{
		{heading(l.Description), "the records of one wallet are not listed for another", cmp.Or(found, other.missing), shared, stated},
		s.breaksRule(heading(l.Description), "wallet is required", s.send(l.operation, request{})),
	})
}

// identifiers returns the identifiers of records: the first required member of each.
func identifiers(l list, records []map[string]any) (ids []string) {
	for _, r := range records {
		ids = append(ids, jsonOf(r[l.record.Required[0]]))
	}
	return ids
}

// checkPages checks the pagination object, and compares the first page with pages of two records.
func (s *session) checkPages(l list, first page, listed missing) {
	total, _ := first.number("total")
	last := max(1, total/2+total%2)
	pages := []page{first, s.fetch(l, 1, "2", listed), s.fetch(l, min(2, last), "2", listed), s.fetch(l, last, "2", listed)}
	past, odd := s.fetch(l, last+1, "2", listed), s.fetch(l, 1, "many", listed)
	sound := cmp.Or(listed, unless(len(first.paging) == 0, "needs the fields of the object"))
	var problems []string
	for i, p := range pages {
		problems = append(problems, slices.Concat(p.shape, p.arithmetic(l.pages))...)
		now, counted := p.number("total")
		size, sized := p.number("perPage")
		problems = append(problems, problem(counted && now != total, "total is %d, and %d on page %d of 2 a page", total, now, p.requested)...)
		problems = append(problems, problem(sized && i > 0 && size != 2, "perPage is %d on page %d; 2 was requested", size, p.requested)...)
		sound = cmp.Or(sound, p.missing)
	}
	if again, ok := s.fetch(l, 0, "", listed).number("total"); ok {
		sound = cmp.Or(sound, unless(again == total, "records were added or removed while the pages were read: run it again"))
	}
	all, parts := identifiers(l, first.records), identifiers(l, append(pages[1].records, pages[2].records...))
	parts = parts[:min(len(all), len(parts))]
	table, size, counter, next := heading(l.pages.Description), odd.object["perPage"], pages[3].object["pagingCounter"], pages[3].object["nextPage"]
	checks := []check{
		{table, "the object has the fields of the table, each of its type", listed, first.paging, stated},
		{table, "page, perPage, total, pageCount and the neighbours add up on the first, second and last page", sound, problems, stated},
		{heading(l.Description), "pages of 2 contain the first records of the first page, in the same order",
			cmp.Or(sound, unless(len(all) > 2, fmt.Sprintf("the list has %d records: make more than 2", len(all))), unless(len(parts) > 2, "needs the pages")),
			problem(!slices.Equal(all[:len(parts)], parts), "the first page begins with %s, and small ones with %s", all[:len(parts)], parts), stated},
		{table, "a page past the end is empty", cmp.Or(sound, past.missing),
			append(past.shape, problem(len(past.records) > 0, "page %d of %d holds %d records", last+1, last, len(past.records))...), open},
		{table, "a perPage that is not a number counts as the default", cmp.Or(sound, odd.missing),
			append(odd.shape, problem(jsonOf(size) != "100", "perPage is %s", jsonOf(size))...), open},
	}
	for _, limit := range [][2]string{{"page", "1"}, {"perPage", "100"}} {
		name, want, got := limit[0], limit[1], jsonOf(first.object[limit[0]])
		checks = append(checks, check{"Limits", name + " of " + l.path + " is " + want + " by default", listed,
			problem(got != want, "pagination.%s is %s by default; want %s", name, got, want), stated})
	}
	if want := fmt.Sprint(last*2 - 1); l.pages.Properties["pagingCounter"] != nil {
		checks = append(checks, check{table, "pagingCounter is the number of the page's first record", sound,
			problem(jsonOf(counter) != want, "pagingCounter is %s on page %d of 2 a page; %s was expected", jsonOf(counter), last, want), open})
	}
	if member := l.pages.Properties["nextPage"]; member != nil && member.Assumption != "" {
		checks = append(checks, check{table, "nextPage is 0 after the last page", sound, problem(jsonOf(next) != "0", "nextPage is %s", jsonOf(next)), open})
	}
	s.judge(checks)
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
	pages := total / perPage
	if total%perPage > 0 {
		pages++
	}
	current, shown := p.number("currentPage")
	held, full := int64(len(p.records)), max(0, min(perPage, total-(p.requested-1)*perPage))
	expect(number == p.requested, "page is %d", number)
	expect(!shown || current == number, "currentPage is %d", current)
	expect(pageCount == pages || total == 0 && pageCount == 1, "pageCount is %d; want %d for a total of %d", pageCount, pages, total)
	expect(held == full, "%d records; want %d of a total of %d", held, full, total)
	for _, n := range []struct {
		flag, name string
		there      bool
		number     int64
	}{
		{"hasPrevPage", "prevPage", number > 1, p.requested - 1},
		{"hasNextPage", "nextPage", number < pages, p.requested + 1},
	} {
		flag, isFlag := p.object[n.flag].(bool)
		expect(!isFlag || flag == n.there, "%s is %t", n.flag, flag)
		member, value := object.Properties[n.name], p.object[n.name]
		switch got, ok := whole(value); {
		case member == nil || !ok && value != nil: // of another type, which the check of the fields reports
		case n.there:
			expect(ok && got == n.number, "%s is %s; want %d", n.name, jsonOf(value), n.number)
		case member.Assumption == "": // null, if the fields allow it, or the number of no page
			expect(got == 0, "%s is %s; want none", n.name, jsonOf(value))
		}
	}
	return problems
}
