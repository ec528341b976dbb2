package conformance

import (
	"cmp"
	"fmt"
	"math/big"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
)

// list is a list that comes in pages.
type list struct {
	path                        string
	query                       url.Values
	missing                     string // why the list cannot be requested
	recordHeading, pagesHeading string
	id                          string // the member of a record that identifies it
	record, pagination          *schema
	// moreCheck and more are the further rules for a record.
	moreCheck  string
	more       func(records []map[string]any) []string
	neighbours neighbours // nil: the object has none
	owner      string     // the query parameter that names whose records are listed
	counter    bool       // the object has a pagingCounter
	afterLast  any        // the assumed nextPage after the last page; nil: not assumed
}

// heading returns the heading of the operation.
func (l list) heading() string { return "GET " + l.path }

// name returns the name of the member of data that has the records.
func (l list) name() string { return path.Base(l.path) }

// lists returns the lists of the specification.
func (s *session) lists() []list {
	transactions := list{
		path: "/v1/transactions", query: url.Values{"wallet": {s.target.Wallet}}, owner: "wallet",
		recordHeading: headingTransaction, id: "transactionId", record: s.service.record("Transaction"),
		pagesHeading: headingTransPages, pagination: s.service.record("TransactionPagination"), neighbours: transactionNeighbours, afterLast: int64(0),
		moreCheck: "flat_amount is amount times 100", more: flatAmounts,
	}
	if s.target.Wallet == "" {
		transactions.missing = needsWallet
	}
	return []list{
		{
			path: "/v1/rates", recordHeading: headingRate, id: "rate_id", record: s.service.record("Rate"),
			pagesHeading: headingRatePages, pagination: s.service.record("RatePagination"),
		},
		s.webhookList(),
		transactions,
	}
}

func (s *session) webhookList() list {
	return list{
		path: "/v1/webhooks", recordHeading: headingWebhook, id: "webhook_id", record: s.service.record("Webhook"),
		pagesHeading: headingWebhookPages, pagination: s.service.record("WebhookPagination"), neighbours: webhookNeighbours, counter: true,
		moreCheck: "_id and id are equal", more: equalIDs,
	}
}

// checkLists makes the checks that each list has.
//
// Specification: "GET /v1/rates", "GET /v1/webhooks", "GET /v1/transactions", their records and
// pagination objects, and "Limits".
func (s *session) checkLists() {
	for _, l := range s.lists() {
		s.checkList(l)
	}
	s.checkWalletRequired()
}

func (s *session) checkList(l list) {
	if l.missing != "" {
		defer s.suspend(NotRun, l.missing)()
	}
	first := s.fetch(l, nil)
	if !s.judge(l.heading(), fmt.Sprintf("data.%s is an array and data.pagination an object, in the envelope with HTTP status 200", l.name()), first.problems) {
		defer s.suspend(NotRun, "needs the list")()
	}
	if l.name() == "webhooks" {
		s.webhooks = first.records
	}
	if l.owner != "" {
		s.checkOwner(l, first)
	}
	s.checkRecords(l, first)
	s.checkPages(l, first)
}

// listPage is a page of a list, with the problems of its response.
type listPage struct {
	page
	records  []map[string]any
	problems []string
}

// fetch requests a page, with further query values such as "page" and "2".
func (s *session) fetch(l list, edit func(url.Values)) listPage {
	query := url.Values{}
	for name, values := range l.query {
		query[name] = values
	}
	if edit != nil {
		edit(query)
	}
	a := s.get(strings.TrimSuffix(l.path+"?"+query.Encode(), "?"))
	out := listPage{problems: a.problems()}
	if len(out.problems) > 0 {
		return out
	}
	out.problems = object(map[string]*schema{l.name(): array(value("object")), "pagination": value("object")}).problems("data", a.envelope["data"])
	if len(out.problems) > 0 {
		return out
	}
	for _, element := range a.data()[l.name()].([]any) {
		out.records = append(out.records, element.(map[string]any))
	}
	out.page = page{object: a.data()["pagination"].(map[string]any), held: int64(len(out.records)), requested: 1}
	return out
}

// partSize is the size of the pages that are compared with the first page.
const partSize = 2

// part requests a page of partSize records.
func (s *session) part(l list, number int64) listPage {
	out := s.fetch(l, func(q url.Values) {
		q.Set("page", fmt.Sprint(number))
		q.Set("perPage", fmt.Sprint(partSize))
	})
	out.requested = number
	return out
}

// checkRecords checks the records of a page against their table.
func (s *session) checkRecords(l list, first listPage) {
	if len(first.records) == 0 {
		defer s.suspend(NotRun, "the list is empty: make a record")()
	}
	var problems []string
	others := map[string]bool{}
	for i, r := range first.records {
		problems = append(problems, l.record.problems(fmt.Sprintf("%s[%d]", l.name(), i), r)...)
		for _, name := range l.record.others(r) {
			others[name] = true
		}
	}
	s.judge(l.recordHeading, "every record has the fields of the table, each of its type and format", problems)
	if l.more != nil {
		s.judge(l.recordHeading, l.moreCheck, l.more(first.records))
	}
	s.assume(l.recordHeading, "the record has only the fields of the table", len(others) == 0, "further fields: "+joined(others))
}

// checkPages checks the pagination object against its table, and compares pages of several sizes.
func (s *session) checkPages(l list, first listPage) {
	sound := s.judge(l.pagesHeading, "the object has the fields of the table, each of its type", l.pagination.problems("pagination", first.object))
	s.checkDefaults(l, first)
	if !sound {
		defer s.suspend(NotRun, "needs the fields of the object")()
	}
	total, _ := first.value("total")
	last := max(1, (total+partSize-1)/partSize)
	pages := []listPage{first, s.part(l, 1), s.part(l, 2), s.part(l, last)}
	if last == 1 {
		pages = pages[:2]
	}
	differs := ""
	var problems []string
	for _, p := range pages {
		problems = append(problems, p.problems...)
		problems = append(problems, p.arithmetic(l.neighbours)...)
		if now, ok := p.value("total"); ok && now != total {
			differs = fmt.Sprintf("total is %d, and %d on page %d of %d a page", total, now, p.requested, partSize)
		}
	}
	for i, p := range pages[1:] {
		if n, ok := p.value("perPage"); ok && n != partSize {
			problems = append(problems, fmt.Sprintf("perPage is %d on page %d; %d was requested", n, pages[i+1].requested, partSize))
		}
	}
	check := "page, perPage, total, pageCount and the neighbours add up on the first, second and last page"
	overlap := fmt.Sprintf("pages of %d contain the first records of the first page, in the same order", partSize)
	if differs != "" {
		if now, _ := s.fetch(l, nil).value("total"); now != total {
			defer s.suspend(NotRun, "records were added or removed while the pages were read: run it again")()
		}
		problems = append([]string{differs}, problems...)
	}
	s.judge(l.pagesHeading, check, problems)
	switch {
	case len(first.records) <= partSize || len(pages) < 3:
		s.notRun(l.heading(), overlap, fmt.Sprintf("the list has %d records: make more than %d", len(first.records), partSize))
	case len(pages[1].problems)+len(pages[2].problems) > 0:
		s.notRun(l.heading(), overlap, "needs the pages")
	default:
		s.judge(l.heading(), overlap, l.sameBeginning(first.records, slices.Concat(pages[1].records, pages[2].records)))
	}
	s.assumePages(l, pages[len(pages)-1], last)
}

// checkDefaults: "perPage default 100", "page default 1".
func (s *session) checkDefaults(l list, first listPage) {
	for _, d := range []struct {
		name string
		want int64
	}{{"perPage", 100}, {"page", 1}} {
		var problems []string
		if got, ok := first.value(d.name); !ok || got != d.want {
			problems = []string{fmt.Sprintf("pagination.%s is %v by default; want %d", d.name, first.object[d.name], d.want)}
		}
		s.judge(headingLimits, fmt.Sprintf("%s of %s is %d by default", d.name, l.path, d.want), problems)
	}
}

// sameBeginning compares records by their identifiers.
func (l list) sameBeginning(all, parts []map[string]any) []string {
	for i, r := range parts[:min(len(parts), len(all))] {
		if !reflect.DeepEqual(r[l.id], all[i][l.id]) {
			return []string{fmt.Sprintf("record %d is %v on the first page and %v on small ones", i+1, all[i][l.id], r[l.id])}
		}
	}
	return nil
}

// assumePages reports how the service pages at the open points of the specification.
func (s *session) assumePages(l list, end listPage, last int64) {
	past := s.part(l, last+1)
	s.assume(l.pagesHeading, "a page past the end is empty", len(past.problems) == 0 && len(past.records) == 0,
		cmp.Or(summary(past.problems), fmt.Sprintf("page %d of %d holds %d records", last+1, last, len(past.records))))
	odd := s.fetch(l, func(q url.Values) { q.Set("perPage", "many") })
	size, _ := odd.value("perPage")
	s.assume(l.pagesHeading, "a perPage that is not a number counts as the default", size == 100,
		cmp.Or(summary(odd.problems), fmt.Sprintf("perPage is %d", size)))
	if l.counter {
		counter, _ := end.value("pagingCounter")
		want := (end.requested-1)*2 + 1
		s.assume(l.pagesHeading, "pagingCounter is the number of the page's first record", counter == want,
			fmt.Sprintf("pagingCounter is %d on page %d of 2 a page; %d was expected", counter, end.requested, want))
	}
	if l.afterLast != nil {
		next, ok := end.value("nextPage")
		s.assume(l.pagesHeading, fmt.Sprintf("nextPage is %v after the last page", l.afterLast), ok && next == l.afterLast,
			"nextPage is "+jsonOf(end.object["nextPage"]))
	}
}

// checkOwner: "unique wallet identifier whose transactions are listed". A wallet that does not exist is refused, or has
// none.
func (s *session) checkOwner(l list, first listPage) {
	if len(first.records) == 0 {
		defer s.suspend(NotRun, "the list is empty: make a record")()
	}
	l.query = url.Values{l.owner: {"VA-0"}}
	var problems []string
	for _, other := range s.fetch(l, nil).records {
		if slices.ContainsFunc(first.records, func(r map[string]any) bool { return reflect.DeepEqual(r[l.id], other[l.id]) }) {
			problems = append(problems, fmt.Sprintf("%v is listed for the %s VA-0 too", other[l.id], l.owner))
		}
	}
	s.judge(l.heading(), "the records of one "+l.owner+" are not listed for another", problems)
}

// checkWalletRequired: "wallet … required: yes".
func (s *session) checkWalletRequired() {
	a := s.get("/v1/transactions")
	s.judge(headingTransactions, "wallet is required", s.refused("GET /v1/transactions without wallet", a, true))
}

// flatAmounts: "Integer amount in minor units, as it occurs (amount times 100)". How a fraction of a
// minor unit is rounded is left open.
func flatAmounts(transactions []map[string]any) []string {
	var problems []string
	for i, t := range transactions {
		amount, ok := rational(t["amount"])
		flat, fits := rational(t["flat_amount"])
		if !ok || !fits {
			continue
		}
		gap := new(big.Rat).Sub(flat, new(big.Rat).Mul(amount, big.NewRat(100, 1)))
		if gap.Abs(gap).Cmp(big.NewRat(1, 1)) >= 0 {
			problems = append(problems, fmt.Sprintf("transactions[%d].flat_amount is %v beside an amount of %v", i, t["flat_amount"], t["amount"]))
		}
	}
	return problems
}

// equalIDs: "Storage identifiers, equal to each other".
func equalIDs(webhooks []map[string]any) []string {
	var problems []string
	for i, w := range webhooks {
		if !reflect.DeepEqual(w["_id"], w["id"]) {
			problems = append(problems, fmt.Sprintf("webhooks[%d]: _id is %v and id is %v", i, w["_id"], w["id"]))
		}
	}
	return problems
}
