package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
)

// measured is what the responses of a run show about an open point.
type measured struct {
	value, how string
	missing    missing
}

// decide records the value of a field that responses show: "" for no members, no number, or the default place. Lists
// that differ decide nothing.
func (s *session) decide(field, value, how string) {
	m := measured{value: value, how: how}
	if old, seen := s.measured[field]; seen && strings.HasPrefix(field, "list.") && old.value != value {
		m.missing = cmp.Or(old.missing, missing{Unseen, "the lists of the service differ: " + old.how + ", and " + how})
		m.value = old.value + " or " + value
	}
	s.measured[field] = m
}

// undecided records why nothing shows the values of fields.
func (s *session) undecided(why missing, fields ...string) {
	for _, field := range fields {
		s.measured[field] = measured{missing: why}
	}
}

// checkDialect reports the open points, and compares them with the dialect of the options.
func (s *session) checkDialect() {
	found := s.measuredDialect()
	if s.accepted {
		s.report.Dialect, s.report.Differences = found, s.known.Compare(found)
	}
	if found.Measured["offer.amount"] != "" {
		s.unpriced = nil // its difference is among the others
	}
	reference := dialect.Reference().Fields()
	for i, f := range found.Fields() {
		if f.Observed == "by hand" || f.Observed == "a delivery" {
			continue
		}
		m, seen := s.measured[f.Name]
		row := check{f.Name, f.Open, m.missing, nil, open}
		switch {
		case f.Name == "offer.amount" && len(s.unpriced) > 0:
			row.open, row.missing, row.problems = stated, missing{}, s.unpriced
		case !seen && !s.writes && f.Observed != "lists" && !strings.HasPrefix(f.Observed, "re"):
			row.missing = missing{Skipped, needsWrites}
		case !seen:
			row.missing = missing{Unseen, "no response of this run shows it"}
		case f.Value != reference[i].Value && !strings.HasPrefix(f.Default, f.Value):
			row.problems = problem(true, "%s: %s", f.Value, m.how)
		}
		for _, d := range s.report.Differences {
			if d.Field == f.Name && !d.New && (d.ByHand || !s.update) {
				row.open, row.problems = stated, problem(true, "%s is %q%s, and %q was measured: %s", f.Name, d.Decided,
					map[bool]string{true: ", set by hand"}[d.ByHand], d.Measured, m.how)
			}
		}
		s.judge([]check{row})
	}
	if len(s.unpriced) > 0 {
		s.report.Differences = append(s.report.Differences,
			dialect.Difference{Field: "offer.amount", Decided: s.known.Offer.Amount})
	}
}

// measuredDialect returns a dialect with the measured values. Values that no dialect can have are left out, with the
// reason.
func (s *session) measuredDialect() *dialect.Dialect {
	found := &dialect.Dialect{Version: dialect.Version, Service: s.base}
	for _, f := range found.Fields() {
		m, seen := s.measured[f.Name]
		if !seen || m.missing != (missing{}) {
			continue
		}
		trial := new(dialect.Dialect)
		trial.Overlay(found)
		if err := cmp.Or(trial.Measure(f.Name, m.value, s.printable(m.how)), trial.Check()); err != nil {
			s.undecided(missing{Unseen, "no dialect can have what was measured: " + err.Error()}, f.Name)
			continue
		}
		found = trial
	}
	return found
}

// measureList measures what a page of a list shows.
func (s *session) measureList(l list, first page) {
	if n := len(first.records); n > 1 {
		newest, _ := first.records[0]["created_at"].(string)
		oldest, _ := first.records[n-1]["created_at"].(string)
		if order := cmp.Compare(newest, oldest); order != 0 {
			s.decide("list.order", map[int]string{1: "newest first", -1: "oldest first"}[order],
				fmt.Sprintf("the first record of %s is of %s, and the last of %s", l.path, newest, oldest))
		}
	}
	for _, r := range first.records {
		switch breakdown := r["breakdown"].(type) {
		case []any:
			s.decide("list.breakdown", "empty list", "as in "+l.path)
		case map[string]any:
			s.decide("list.breakdown", "object", fmt.Sprintf("as in %s: %d members", l.path, len(breakdown)))
		}
	}
	s.measureEmpty(first)
	if l.pages == nil || l.owner != nil || s.measured["list.max_per_page"] != (measured{}) {
		return
	}
	const most = 10_000
	large := s.request(l, 1, fmt.Sprint(most))
	if size, ok := whole(large.pagination()["perPage"]); ok {
		value := ""
		if size < most {
			value = fmt.Sprint(size)
		}
		s.decide("list.max_per_page", value, fmt.Sprintf("perPage of %s is %d for %d", l.path, size, most))
	}
	further := s.send(l.operation, request{query: url.Values{"perPage": {"1"}, "no_such_parameter": {"1"}}}, large.missing)
	s.decideRefused("list.unknown_parameter", further, "ignored")
}

// measureEmpty measures the pages of a list without records.
func (s *session) measureEmpty(p page) {
	total, counted := whole(p.object["total"])
	if pages, ok := whole(p.object["pageCount"]); ok && counted && total == 0 && p.succeeded() {
		s.decide("list.empty_pages", fmt.Sprint(pages), "pageCount of "+p.to+" is "+fmt.Sprint(pages))
	}
}

// decideRefused decides between "refused" and what a success shows.
func (s *session) decideRefused(field string, a response, otherwise string) {
	switch {
	case a.missing != missing{} || a.lost != nil:
	case a.succeeded():
		s.decide(field, otherwise, fmt.Sprintf("%s gets HTTP status %d", a.to, a.status))
	case a.status/100 == 4:
		s.decide(field, "refused", fmt.Sprintf("%s gets HTTP status %d", a.to, a.status))
	}
}

// measurePast measures a page past the end.
func (s *session) measurePast(past page, last page) {
	switch {
	case past.missing != missing{} || past.lost != nil:
	case !past.succeeded():
		s.decideRefused("list.past_end", past.response, "")
	case len(past.records) == 0:
		s.decide("list.past_end", "empty", past.to+" is empty")
	case jsonOf(past.records) == jsonOf(last.records):
		s.decide("list.past_end", "last page", past.to+" has the records of the last page")
	}
}

// errorCode matches texts such as NOT_FOUND.
var errorCode = regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)

// measureRefusals measures the refusals of a run.
func (s *session) measureRefusals() {
	formats, statuses := map[string]int{}, map[string]int{}
	var reasons, codes []string
	complete := slices.DeleteFunc(slices.Clone(s.refusals), func(a response) bool { return a.envelope == nil })
	for i, a := range complete {
		formats[a.format()]++
		text := named(a.envelope, isReason)
		code := named(a.envelope, func(name string, v any) bool {
			t, _ := v.(string)
			return errorCode.MatchString(t) || strings.Contains(strings.ToLower(name), "code") && t != "" &&
				!strings.Contains(t, " ")
		})
		if i == 0 {
			reasons, codes = text, code
		}
		absent := func(from []string) func(string) bool {
			return func(at string) bool { return !slices.Contains(from, at) }
		}
		reasons, codes = slices.DeleteFunc(reasons, absent(text)), slices.DeleteFunc(codes, absent(code))
	}
	for _, a := range s.refusals {
		if a.rule && a.status != s.keyStatus {
			statuses[fmt.Sprint(a.status)]++
		}
	}
	how, reason := fmt.Sprintf("as in %d refusals", len(complete)), preferred(reasons, "message", "detail")
	for field, value := range map[string]string{
		"refusal.message": reason,
		"refusal.code":    preferred(codes, "data.error_code", "error_code", "data.code", "error.code", "code"),
	} {
		if value != "" {
			s.decide(field, value, how)
		}
	}
	isOther := func(a response) bool { return !a.refusesInObject(reason) }
	switch only := slices.Sorted(maps.Keys(formats)); {
	case len(only) == 1 && only[0] != "object":
		s.decide("refusal.format", only[0], how)
	case len(only) > 0 && reason != "" && !slices.ContainsFunc(s.refusals, isOther):
		s.decide("refusal.format", "object", fmt.Sprintf("%s, which show a text at %s", how, reason))
	}
	if only := slices.Sorted(maps.Keys(statuses)); len(only) == 1 {
		s.decide("refusal.rule", only[0], fmt.Sprintf("%d of %[1]d incomplete requests", statuses[only[0]]))
	}
}

// format returns the form of a refusal that is an object.
func (a response) format() string {
	switch {
	case a.envelope["status"] == false:
		return "envelope"
	case a.problem:
		return "problem"
	}
	return "object"
}

// refusesInObject reports whether a response can only be a refusal if refusals are objects with a text in this place.
func (a response) refusesInObject(reason string) bool {
	mayRefuse := a.status/100 == 4 && a.status != http.StatusRequestTimeout && a.status != http.StatusTooEarly
	return mayRefuse && a.envelope["status"] != true && slices.Contains(named(a.envelope, isReason), reason)
}

// isReason reports whether a member of a refusal can be its reason: a text of several words, or the usual member.
func isReason(name string, v any) bool {
	text, _ := v.(string)
	return name != "title" && strings.Contains(text, " ") ||
		(name == "message" || name == "detail") && strings.TrimSpace(text) != ""
}

// named returns the paths of the members of an object that a condition holds for, sorted. A path has at most two names.
func named(object map[string]any, is func(name string, v any) bool) (paths []string) {
	for name, v := range object {
		if is(name, v) {
			paths = append(paths, name)
		}
		inner, _ := v.(map[string]any)
		for second, v := range inner {
			if is(second, v) {
				paths = append(paths, name+"."+second)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// preferred returns the first of usual names that is among paths, or the first path.
func preferred(paths []string, usual ...string) string {
	for _, name := range usual {
		if slices.Contains(paths, name) {
			return name
		}
	}
	return append(paths, "")[0]
}

// measureStates measures the statuses that the specification does not list.
func (s *session) measureStates() {
	var pairs []string
	for _, state := range slices.Sorted(maps.Keys(s.unlisted)) {
		pairs = append(pairs, state+"="+s.unlisted[state])
	}
	if len(pairs) > 0 || s.proof.final != nil {
		s.decide("record.states", strings.Join(pairs, ","), "statuses after the analysis and the purchase")
	}
}

// measureStrictness sends analyses that a strict service refuses. Each creates a draft at most.
func (s *session) measureStrictness(shipment draft) {
	body := map[string]any{"shipment_id": s.target.Shipment, "no_such_member": true}
	s.decideRefused("request.unknown_fields", s.call("regulatory.analyze", request{body: body}, shipment.missing),
		"ignored")
	delete(body, "no_such_member")
	plain := s.call("regulatory.analyze", request{body: body, lacks: "Content-Type"}, shipment.missing)
	s.decideRefused("request.content_type", plain, "optional")
	if s.measured["request.content_type"].value == "refused" {
		s.decide("request.content_type", "required", fmt.Sprintf("%s gets HTTP status %d", plain.to, plain.status))
	}
}

// measureGiven measures what the request and the failing shipment of the target show.
func (s *session) measureGiven() {
	id := s.target.Request
	shown := s.call("regulatory.get", request{id: id},
		unless(id != "", Unseen, "needs a request: -request, or Target.Request in Go"))
	record := recordOf(shown)
	isShown := shown.succeeded() && record["request_id"] == id
	if isShown {
		s.measureRecord(record, shown)
	}
	s.judge([]check{{headingRegulatory, "GET /request/:request_id returns the request of the target", shown.missing,
		problem(!isShown, "%s gets HTTP status %d, and not the record of %s", shown.to, shown.status, id), stated}})
	if s.target.Failing == "" || !s.writes {
		return
	}
	a := s.call("regulatory.analyze", request{body: map[string]any{"shipment_id": s.target.Failing}})
	if a.missing == (missing{}) && recordOf(a)["status"] == "failed" {
		s.decide("refusal.analysis", fmt.Sprint(a.status), fmt.Sprintf("%s gets HTTP status %d", a.to, a.status))
	}
}

// measureDraft measures what an analysis and a reading of the draft show.
func (s *session) measureDraft(d draft, analyzed response) {
	s.decide("purchase.analyze_status", fmt.Sprint(analyzed.status), "as in "+analyzed.to)
	s.measureRecord(d.record, analyzed)
}

// measureRecord measures the names and the place of a record in a response.
func (s *session) measureRecord(record map[string]any, a response) {
	_, at := placed(a)
	s.decide("record.at", at, "as in "+a.to)
	is := func(text string) func(string, any) bool { return func(_ string, v any) bool { return v == any(text) } }
	if wallet := preferred(named(record, is(s.target.Wallet)), "wallet"); wallet != "" && s.target.Wallet != "" {
		s.decide("record.wallet", wallet, "holds the id of the wallet")
	}
	var lists []string
	for name, v := range record {
		isItem := func(o map[string]any) bool { return o["description"] != nil || o["quantity"] != nil }
		if items := objects(v); name != "available_documents" && len(items) > 0 && isItem(items[0]) {
			lists = append(lists, name)
		}
	}
	if slices.Sort(lists); len(lists) > 0 {
		s.decide("record.line_items", preferred(lists, "line_items"), "its objects have a description or a quantity")
	}
	var slugs, modes []string
	offers := objects(record["available_documents"])
	s.comparePrice(offers)
	for i, o := range offers {
		slug := named(o, s.isSlug)
		mode := named(o, func(_ string, v any) bool { return v == "manual" || v == "automated" })
		if i == 0 {
			slugs, modes = slug, mode
		}
		slugs = slices.DeleteFunc(slugs, func(at string) bool { return !slices.Contains(slug, at) })
		modes = slices.DeleteFunc(modes, func(at string) bool { return !slices.Contains(mode, at) })
		for name := range o {
			s.offerMembers[name] = true
		}
	}
	for field, value := range map[string]string{
		"offer.document_type": preferred(slugs, "document_type"), "offer.mode": preferred(modes, "mode"),
	} {
		if value != "" {
			s.decide(field, value, fmt.Sprintf("as in %d offers", len(offers)))
		}
	}
}

// comparePrice reports the price that the dialect names as a problem if no offer shows it as a number.
func (s *session) comparePrice(offers []map[string]any) {
	var shown []string
	for _, document := range offers {
		o := s.offered(document)
		for _, v := range o.shown {
			shown = append(shown, problem(v.Number && v.Path != "", "%s", v.Path)...)
		}
		if o.price != nil {
			return
		}
	}
	s.unpriced = problem(s.priceName() != "" && len(offers) > 0,
		"offer.amount is %q, and no offer shows it as a number; the offers show %s: measure it with -most (WithMost)",
		s.known.Offer.Amount, joined(shown))
}

// isSlug reports whether a value is a type of documents.
func (s *session) isSlug(_ string, v any) bool {
	text, _ := v.(string)
	return slices.Contains(s.service.record("DocumentType").Enum, text)
}

// onlyIn holds the members of a request that only drafts of one source have: "shipping (invoice flow only)".
var onlyIn = map[string]string{"shipment_id": "shipment", "file_url": "invoice", "shipping": "invoice"}

// measureAbsent measures which usual members no response has shown. A member of another name is not absent. For a
// member that this run cannot compare, the dialect stays as it is.
func (s *session) measureAbsent() {
	c := dialect.Contrary()
	for _, of := range []struct {
		field, prefix string
		usual, known  []string
		seen          map[string]bool
	}{
		{"record.absent", "record.", c.Record.Absent, s.known.Record.Absent, s.recordMembers},
		{"offer.absent", "offer.", c.Offer.Absent, s.known.Offer.Absent, s.offerMembers},
	} {
		if len(of.seen) == 0 {
			continue
		}
		var absent []string
		for _, name := range of.usual {
			isShown := of.seen[name] || s.measured[of.prefix+name].value != ""
			if !isShown && (s.compares(of.prefix+name) || slices.Contains(of.known, name)) {
				absent = append(absent, name)
			}
		}
		s.decide(of.field, strings.Join(absent, ","), "as in all records")
	}
}

// compares reports whether this run shows a member if the service has it, and so did the run that measured the dialect,
// which need not have had a purchase.
func (s *session) compares(member string) bool {
	switch name := strings.TrimPrefix(member, "record."); name {
	case "failure_reason":
		return false
	case "shipment_id", "file_url", "shipping":
		return s.drafts[onlyIn[name]]
	case "documents", "charged_amount", "transaction_id", "currency":
		without := s.known.Measured["record.absent"] != "" && s.known.Measured["purchase.quoted"] == ""
		return s.proof.debit != nil && (s.update || !without)
	}
	return true
}

// placed returns the record of a regulatory request in a response, and its place in data.
func placed(a response) (record map[string]any, at string) {
	data := a.data()
	if list, _ := a.envelope["data"].([]any); len(list) == 1 {
		if data, _ = list[0].(map[string]any); data["request_id"] != nil {
			return data, "[0]"
		}
	}
	if data["request_id"] != nil {
		return data, ""
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if inner, _ := data[name].(map[string]any); inner["request_id"] != nil {
			return inner, name
		}
	}
	if inner, wrapped := data["request"].(map[string]any); wrapped {
		return inner, "request"
	}
	return data, ""
}
