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

// list is the description of an operation that returns records.
type list struct {
	*operation
	place  string // of the array in the response
	record *schema
	pages  *schema    // the pagination object; nil: the list has no pages
	owner  url.Values // the query parameter for the owner of the records
}

// checkLists makes the checks of each list: its response, its records, their owner, and its pages.
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
			l.owner, need = url.Values{"wallet": {s.target.Wallet}}, unless(s.target.Wallet != "", NotRun, needsWallet)
		}
		first := s.fetch(l, 0, "", need)
		listed := cmp.Or(first.missing, unless(len(first.shape) == 0, NotRun, "needs the list"))
		found := cmp.Or(listed, unless(len(first.records) > 0, NotRun, "the list is empty: make a record"))
		s.judge([]check{{heading(l.Description), shape + ", in the envelope with HTTP status " + l.status, first.missing,
			first.shape, stated}})
		s.checkRecords(l, first, found)
		if listed == (missing{}) {
			s.observeList(l, first)
		}
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

// request requests a page. Without a number and perPage the service uses its defaults.
func (s *session) request(l list, number int64, perPage string, needs ...missing) response {
	query := url.Values{}
	maps.Copy(query, l.owner)
	if number > 0 {
		query.Set("page", fmt.Sprint(number))
	}
	if perPage != "" {
		query.Set("perPage", perPage)
	}
	return s.send(l.operation, request{query: query}, needs...)
}

// fetch requests a page and checks its fields.
func (s *session) fetch(l list, number int64, perPage string, needs ...missing) page {
	p := page{response: s.request(l, number, perPage, needs...), requested: max(1, number)}
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
	p.object = p.pagination()
	return p
}

// pagination returns the pagination object of a page; nil if it has none.
func (a response) pagination() map[string]any {
	object, _ := a.data()["pagination"].(map[string]any)
	return object
}

// recordRules are rules for a record that are not in its table, by the heading of the table.
var recordRules = []struct {
	heading, what string
	problems      func(at string, record map[string]any) []string
}{
	{"Webhook", "_id and id are equal", func(at string, w map[string]any) []string {
		return problem(!reflect.DeepEqual(w["_id"], w["id"]), "%s: _id is %v and id is %v", at, w["_id"], w["id"])
	}},
	// "Integer amount in minor units, as it occurs (amount times 100)". How a fraction of a minor unit is rounded is left
	// open.
	{"Transaction", "flat_amount is amount times 100", func(at string, t map[string]any) []string {
		amount, ok := rational(t["amount"])
		flat, fits := rational(t["flat_amount"])
		if !ok || !fits {
			return nil
		}
		gap := new(big.Rat).Sub(flat, new(big.Rat).Mul(amount, big.NewRat(100, 1)))
		return problem(gap.Abs(gap).Cmp(big.NewRat(1, 1)) >= 0, "%s: flat_amount is %v beside an amount of %v", at,
			t["flat_amount"], t["amount"])
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
		{table, "the record has only the fields of the table", found,
			problem(len(others) > 0, "further fields: %s", joined(others)), open},
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

// checkOwner: "unique wallet identifier whose transactions are listed", "required: yes". The service
// refuses a wallet that does not exist, or lists no transactions of it.
func (s *session) checkOwner(l list, first page, found missing) {
	var shared []string
	own := identifiers(l, first.records)
	l.owner = url.Values{"wallet": {"VA-0"}}
	other := s.fetch(l, 0, "")
	for _, id := range identifiers(l, other.records) {
		shared = append(shared, problem(slices.Contains(own, id), "%s is listed for the wallet VA-0 too", id)...)
	}
	s.judge([]check{
		{heading(l.Description), "the records of one wallet are not listed for another", cmp.Or(found, other.missing),
			shared, stated},
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
	total, _ := whole(first.object["total"])
	size, _ := whole(first.object["perPage"])
	last := max(1, total/2+total%2)
	pages := []page{s.fetch(l, 1, "2", listed), s.fetch(l, min(2, last), "2", listed), s.fetch(l, last, "2", listed)}
	past, again := s.fetch(l, last+1, "2", listed), s.request(l, 0, "", listed)
	problems, sound := first.arithmetic(l.pages, total, size),
		cmp.Or(listed, unless(len(first.paging) == 0, NotRun, "needs the fields of the object"))
	for _, p := range pages {
		problems = append(problems, slices.Concat(p.shape, p.arithmetic(l.pages, total, 2))...)
		sound = cmp.Or(sound, p.missing)
	}
	now, counted := whole(again.pagination()["total"])
	sound = cmp.Or(sound, unless(!counted || now == total, NotRun,
		"records were added or removed while the pages were read: run it again"))
	all, parts := identifiers(l, first.records), identifiers(l, append(pages[0].records, pages[1].records...))
	parts = parts[:min(len(all), len(parts))]
	table, end := heading(l.pages.Description), pages[2].object
	checks := []check{
		{table, "the object has the fields of the table, each of its type", listed, first.paging, stated},
		{table, "page, perPage, total, pageCount and the neighbours add up on the first, second and last page", sound,
			problems, stated},
		{heading(l.Description), "pages of 2 contain the first records of the first page, in the same order",
			cmp.Or(sound, unless(len(all) > 2, NotRun, fmt.Sprintf("the list has %d records: make more than 2", len(all))),
				unless(len(parts) > 2, NotRun, "needs the pages")),
			problem(!slices.Equal(all[:len(parts)], parts), "the first page begins with %s, and small ones with %s",
				all[:len(parts)], parts), stated},
	}
	if sound == (missing{}) && total > 0 {
		s.observePast(past, pages[2])
	}
	perPage := "100"
	if most := s.known.List.MaxPerPage; most > 0 && most < 100 {
		perPage = fmt.Sprint(most)
	}
	for _, limit := range [][3]string{{"page", "1", "1"}, {"perPage", "100", perPage}} {
		name, want, got := limit[0], limit[2], numeral(first.object[limit[0]])
		checks = append(checks, check{"Limits", name + " of " + l.path + " is " + limit[1] + " by default", listed,
			problem(got != want, "pagination.%s is %s by default; want %s", name, got, want), stated})
	}
	for _, a := range [][3]string{
		{"pagingCounter", "pagingCounter is the number of the page's first record", fmt.Sprint(last*2 - 1)},
	} {
		if member := l.pages.Properties[a[0]]; member != nil && (a[0] == "pagingCounter" || member.Assumption != "") {
			got := numeral(end[a[0]])
			checks = append(checks, check{table, a[1], sound,
				problem(got != a[2], "%s is %s on the last page with perPage 2; %s was expected", a[0], got, a[2]), open})
		}
	}
	s.judge(checks)
}

// arithmetic compares a page with what follows from the total, the size of the pages, and its number: every page but
// the last is full. Specification: the three pagination objects.
func (p page) arithmetic(object *schema, total, size int64) (problems []string) {
	if total < 0 || size < 1 {
		return []string{fmt.Sprintf("total %d, perPage %d; want at least 0 and 1", total, size)}
	}
	n, count := p.requested, total/size+min(1, total%size)
	none := []any{nil, int64(0)} // null, if the fields allow it, or 0
	want := map[string][]any{
		"total": {total}, "perPage": {size}, "page": {n}, "currentPage": {n}, "pageCount": {count},
		"hasPrevPage": {n > 1}, "prevPage": none, "hasNextPage": {n < count}, "nextPage": none,
	}
	if n > 1 {
		want["prevPage"] = []any{n - 1}
	}
	switch next := object.Properties["nextPage"]; {
	case n < count:
		want["nextPage"] = []any{n + 1}
	case next != nil && next.Assumption != "":
		delete(want, "nextPage")
	}
	if total == 0 {
		want["pageCount"] = []any{int64(0), int64(1)}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, there := p.object[name]
		if value, ok := whole(got); ok {
			got = value
		}
		problems = append(problems, problem(there && object.Properties[name] != nil && !slices.Contains(want[name], got),
			"page %d with perPage %d: %s is %s; want %s", n, size, name, jsonOf(got), jsonOf(want[name][0]))...)
	}
	held, full := int64(len(p.records)), max(0, min(size, total-(n-1)*size))
	return append(problems, problem(held != full, "page %d with perPage %d: %d records; want %d of a total of %d", n, size,
		held, full, total)...)
}
