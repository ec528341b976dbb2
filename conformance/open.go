package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	price "github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// observed is the evidence of a run about an open point.
type observed struct {
	value, how string
	missing    missing
}

// decide records the value that responses show for a field; "" means no members, no number, or the default place. Lists
// that differ decide nothing.
func (s *session) decide(field, value, how string) {
	seen := observed{value: value, how: how}
	if old, again := s.observed[field]; again && strings.HasPrefix(field, "list.") && old.value != value {
		seen.missing = cmp.Or(old.missing,
			missing{Unseen, "the lists of the service differ: " + old.how + ", and " + how})
		seen.value = old.value + " or " + value
	}
	s.observed[field] = seen
}

// checkOpen reports the open points that the responses show. A point that the dialect declares is checked. At any other
// point, another value than the reference server's is reported, with the line that declares it.
func (s *session) checkOpen() {
	declared := s.known.Fields()
	for i, f := range s.known.Resolved().Fields() {
		if f.Observed == "by hand" {
			continue
		}
		seen, isSeen := s.observed[f.Name]
		row := check{f.Name, f.Open, seen.missing, nil, open}
		switch {
		case !isSeen && !s.writes && f.Observed == "analysis":
			row.missing = missing{Skipped, needsWrites}
		case !isSeen:
			row.missing = missing{Unseen, "no response of this run shows it"}
		case seen.value == f.Value || seen.missing != missing{}:
		case declared[i].Set:
			row.open = stated
			row.problems = append(problem(true, "the dialect declares %q, and the service shows %q: %s", f.Value, seen.value,
				seen.how), s.declare(f.Name, seen.value)...)
		default:
			row.problems = append(problem(true, "%s: %s", seen.value, seen.how), s.declare(f.Name, seen.value)...)
		}
		s.judge([]check{row})
	}
}

// declare adds the line that declares a value, or returns why no dialect can have it.
func (s *session) declare(field, value string) []string {
	line := dialect.Line{Field: field, Value: value}
	if _, err := s.known.With(line); err != nil {
		return []string{"no dialect can declare it: " + err.Error()}
	}
	s.report.Lines = append(s.report.Lines, s.printable(line.String()))
	return nil
}

// observeList records the choices that a page of a list shows.
func (s *session) observeList(l list, first page) {
	if n := len(first.records); n > 1 {
		newest, _ := first.records[0]["created_at"].(string)
		oldest, _ := first.records[n-1]["created_at"].(string)
		if order := cmp.Compare(newest, oldest); order != 0 {
			s.decide("list.order", map[int]string{1: "newest first", -1: "oldest first"}[order],
				fmt.Sprintf("the first record of %s is of %s, and the last of %s", l.path, newest, oldest))
		}
	}
	if l.pages == nil || l.owner != nil || s.observed["list.max_per_page"] != (observed{}) {
		return
	}
	const most = 10_000 // the largest page of the reference server
	large := s.request(l, 1, fmt.Sprint(most))
	if size, ok := whole(large.pagination()["perPage"]); ok {
		s.decide("list.max_per_page", fmt.Sprint(size), fmt.Sprintf("%s returns %d for perPage=%d", l.path, size, most))
	}
}

// observeRefused decides between "refused" and the choice that a success shows.
func (s *session) observeRefused(field string, a response, otherwise string) {
	value := otherwise
	switch {
	case a.missing != missing{} || a.lost != nil:
		return
	case a.status/100 == 4:
		value = "refused"
	case !a.succeeded():
		return
	}
	s.decide(field, value, fmt.Sprintf("%s gets HTTP status %d", a.to, a.status))
}

// observePast records the choice that a page past the end shows.
func (s *session) observePast(past page, last page) {
	switch {
	case past.missing != missing{} || past.lost != nil:
	case !past.succeeded():
		s.observeRefused("list.past_end", past.response, "")
	case len(past.records) == 0:
		s.decide("list.past_end", "empty", past.to+" is empty")
	case jsonOf(past.records) == jsonOf(last.records):
		s.decide("list.past_end", "last page", past.to+" has the records of the last page")
	}
}

// errorCode matches texts such as NOT_FOUND.
var errorCode = regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)

// isCode reports whether a member of a refusal can be its error code.
func isCode(name string, v any) bool {
	text, _ := v.(string)
	return errorCode.MatchString(text) ||
		strings.Contains(strings.ToLower(name), "code") && text != "" && !strings.Contains(text, " ")
}

// observeRefusals records what the refusals of a run have in common.
func (s *session) observeRefusals() {
	var reasons, codes []string
	formats := map[string]bool{}
	complete := slices.DeleteFunc(slices.Clone(s.refusals), func(a response) bool { return a.envelope == nil })
	for i, a := range complete {
		formats[a.format()] = true
		reasons = common(i == 0, reasons, named(a.envelope, isReason))
		codes = common(i == 0, codes, named(a.envelope, isCode))
	}
	how, reason := fmt.Sprintf("as in %d refusals", len(complete)), preferred(reasons, "message", "detail")
	if reason != "" {
		s.decide("refusal.message", reason, how)
	}
	if code := preferred(codes, "data.error_code", "error_code", "data.code", "error.code", "code"); code != "" {
		s.decide("refusal.code", code, how)
	}
	isOther := func(a response) bool { return !a.refusesInObject(reason) }
	switch only := slices.Sorted(maps.Keys(formats)); {
	case len(only) == 1 && only[0] != "object":
		s.decide("refusal.format", only[0], how)
	case len(only) > 0 && reason != "" && !slices.ContainsFunc(s.refusals, isOther):
		s.decide("refusal.format", "object", fmt.Sprintf("%s, which show a text at %s", how, reason))
	}
}

// common returns the paths that are in both lists; the later ones if there is no earlier list.
func common(first bool, earlier, later []string) []string {
	if first {
		return later
	}
	return slices.DeleteFunc(earlier, func(at string) bool { return !slices.Contains(later, at) })
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

// refusesInObject reports whether a response is a refusal only in a dialect whose refusals are objects with a text in
// this place.
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

// observeStrictness sends analyses that a strict service refuses. Each creates a draft at most.
func (s *session) observeStrictness(shipment draft) {
	body := map[string]any{"shipment_id": s.target.Shipment, "no_such_member": true}
	s.observeRefused("request.unknown_fields", s.call("regulatory.analyze", request{body: body}, shipment.missing),
		"ignored")
}

// observeDraft records the names and the place of a draft in a response.
func (s *session) observeDraft(record map[string]any, a response) {
	_, at := placed(a)
	s.decide("record.at", at, "as in "+a.to)
	is := func(text string) func(string, any) bool { return func(_ string, v any) bool { return v == any(text) } }
	if wallet := preferred(named(record, is(s.target.Wallet)), "wallet"); wallet != "" && s.target.Wallet != "" {
		s.decide("record.wallet", wallet, "it contains the identifier of the wallet")
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
	for i, o := range offers {
		slugs = common(i == 0, slugs, named(o, s.isSlug))
		modes = common(i == 0, modes, named(o, func(_ string, v any) bool { return v == "manual" || v == "automated" }))
	}
	how := fmt.Sprintf("as in %d offers", len(offers))
	if slug := preferred(slugs, "document_type"); slug != "" {
		s.decide("offer.document_type", slug, how)
	}
	if mode := preferred(modes, "mode"); mode != "" {
		s.decide("offer.mode", mode, how)
	}
	charge := s.known.Resolved().Record.ChargedAmount
	if n := amountOf(memberAt(record, charge)); n != nil && n.Sign() > 0 {
		s.decide("purchase.quoted", "true", "a draft has the "+charge+" "+jsonOf(memberAt(record, charge)))
	}
}

// observePurchase records the members of a purchased request that show its only payment and its document, and that the
// draft does not show.
func (s *session) observePurchase(draft, purchased map[string]any, paid charge) {
	for field, is := range map[string]func(string, any) bool{
		"record.charged_amount": func(_ string, v any) bool {
			n := amountOf(v)
			return n != nil && n.Cmp(paid.paid) == 0
		},
		"record.transaction_id": func(_ string, v any) bool { return jsonOf(v) == paid.id },
		"record.documents": func(name string, v any) bool {
			return name != "available_documents" && s.typeIn(v) != ""
		},
	} {
		isOld := func(path string) bool { return jsonOf(memberAt(draft, path)) == jsonOf(memberAt(purchased, path)) }
		usual := field[len("record."):]
		if name := preferred(slices.DeleteFunc(named(purchased, is), isOld), usual); name != "" {
			s.decide(field, name, "it shows the purchase")
		}
	}
	if list := s.observed["record.documents"]; list.value != "" {
		s.decide("document.document_type", s.typeIn(memberAt(purchased, list.value)), "as in "+list.value)
	}
}

// typeIn returns the name under which a list shows the purchased document, "-" if it is a list of texts; "" if it does
// not show it.
func (s *session) typeIn(list any) string {
	is := func(_ string, v any) bool { return v == any(s.document) }
	elements, _ := list.([]any)
	for _, element := range elements {
		object, _ := element.(map[string]any)
		if name := preferred(named(object, is), "document_type"); name != "" || is("", element) {
			return cmp.Or(name, "-")
		}
	}
	return ""
}

// amountOf returns a charge as the client reads it, which can be a text with a currency; nil if the value is not a
// charge.
func amountOf(v any) *big.Rat {
	n, _, read := price.Charge(jsonread.Parse(jsonOf(v)))
	amount, _ := new(big.Rat).SetString(string(n.Append(nil, n.Scale)))
	if !read {
		return nil
	}
	return amount
}

// isSlug reports whether a value is a type of documents.
func (s *session) isSlug(_ string, v any) bool {
	text, _ := v.(string)
	return slices.Contains(s.service.record("DocumentType").Enum, text)
}

// checkStates reports the statuses that neither the specification nor the dialect lists.
func (s *session) checkStates() {
	var problems []string
	for _, state := range slices.Sorted(maps.Keys(s.unlisted)) {
		problems = append(append(problems, state), s.declare("record.states", state+"="+s.unlisted[state])...)
	}
	s.judge([]check{{"record.states", "statuses that the specification does not list",
		unless(s.writes, Skipped, needsWrites), problems, open}})
}

// memberAt returns the member of an object at a path of at most two names.
func memberAt(object map[string]any, path string) any {
	outer, inner, nested := strings.Cut(path, ".")
	if value, _ := object[outer].(map[string]any); nested {
		return value[inner]
	}
	return object[outer]
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
		return data, "data"
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if inner, _ := data[name].(map[string]any); inner["request_id"] != nil {
			return inner, name
		}
	}
	if inner, wrapped := data["request"].(map[string]any); wrapped {
		return inner, "request"
	}
	return data, "data"
}
