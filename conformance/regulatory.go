package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
)

// draft is a regulatory request as its analysis returns it.
type draft struct {
	missing  missing
	id       string
	shipment string
	record   map[string]any
	request  *shipping.RegulatoryRequest // the record, with the cost of its offers
	slugs    []string                    // of the offers
	prices   []*big.Rat                  // of the offers, as far as they are known
}

// recordOf returns the record of a regulatory request. The specification does not show where in data it is.
func recordOf(a response) map[string]any {
	record, _ := placed(a)
	return record
}

// problemsOfRecord checks the specified members of a request's record, some of which are required.
func (s *session) problemsOfRecord(a response, required ...string) []string {
	if problems := a.problems(); len(problems) > 0 {
		return problems
	}
	table := s.service.record("RegulatoryRequest").members("request_id", "status", "available_documents", "source")
	table.Required = required
	return table.problems("data", recordOf(a))
}

// checkRegulatory checks the workflow of a regulatory request: analyze in both flows, look up, purchase, poll. It
// returns the drafts of a shipment and of an invoice.
func (s *session) checkRegulatory() (shipment, invoice draft) {
	unknown := s.call("regulatory.get", request{id: "RD-0"})
	s.judge([]check{{headingRegulatory, "GET /request/:request_id of an unknown request returns no record",
		unknown.missing,
		problem(unknown.succeeded() && len(recordOf(unknown)) > 0, "GET /request/RD-0 returns a record: %s",
			unknown.excerpt()), stated}})

	before := s.readWallet(s.target.Wallet, unless(s.writes, Skipped, needsWrites))
	shipment = s.analyze("shipment", "shipment_id", s.target.Shipment, needsShipment)
	invoice = s.analyze("invoice", "file_url", s.target.Invoice, needsInvoice)
	bought, refused := shipment, invoice
	if shipment.missing != (missing{}) && invoice.missing == (missing{}) {
		refused = draft{missing: missing{NotRun, "needs the draft of an invoice, and another draft to purchase"}}
		if s.target.Shipment == "" || shipment.id != "" { // it was purchased, and is not a draft
			bought = invoice
		}
	}
	charge := s.confirmed(before.charged(s.readWallet(before.id, bought.missing), nil, shipment, invoice), func() {
		s.call("regulatory.analyze", request{body: map[string]any{"shipment_id": s.target.Shipment}}, shipment.missing)
		s.call("regulatory.analyze", request{body: map[string]any{"file_url": s.target.Invoice}}, invoice.missing)
	}, shipment, invoice)
	s.judge([]check{
		{headingFlow, "an analysis charges nothing", charge.missing, charge.problems, stated},
		{headingDraft, "two analyses have two request_ids", cmp.Or(shipment.missing, invoice.missing),
			problem(shipment.id == invoice.id, "both have the request_id %s", invoice.id), stated},
	})
	s.observeStrictness(shipment)
	unlisted := unless(!before.refused, NotRun, "nothing was bought: the service refuses to list the transactions of "+
		s.target.Wallet+" (-wallet, Target.Wallet)")
	bought.missing, refused.missing = cmp.Or(unlisted, bought.missing), cmp.Or(unlisted, refused.missing)
	s.checkPurchase(bought)
	s.checkRefusedPurchases(refused)
	return shipment, refused
}

// analyze analyzes in one flow, looks the draft up, and checks both against the table of the draft record: "A draft:
// request_id, available_documents, line items."
func (s *session) analyze(source, field, value, needs string) (d draft) {
	analyzed, early := s.untilDraft(s.call("regulatory.analyze", request{body: map[string]any{field: value}},
		unless(s.writes, Skipped, needsWrites), unless(value != "", NotRun, needs)))
	// an analysis may leave out the other members
	record, problems := recordOf(analyzed), s.problemsOfRecord(analyzed, "request_id", "available_documents")
	if status, there := record["status"]; there && status != "draft" {
		problems = append(problems, wrong("status", status, "one of draft")...)
	}
	isItems := func(at string, v any) bool { return isOf("array", v) && !strings.Contains(at, "available_documents") }
	// The specification does not show the name of the line items.
	if len(problems) == 0 && !find("", record, isItems) && !find("", analyzed.data(), isItems) {
		problems = []string{"no line items: no member but available_documents is an array"}
	}
	d.record, d.missing = record, cmp.Or(analyzed.missing, unless(len(problems) == 0, NotRun,
		"needs a draft, and the analysis of "+value+" returned none"))
	d.id, _ = record["request_id"].(string)
	if d.shipment, _ = record["shipment_id"].(string); field == "shipment_id" {
		d.shipment = value
	}
	looked := s.call("regulatory.get", request{id: d.id}, d.missing)
	seen, unlike := recordOf(looked), s.problemsOfRecord(looked, "request_id", "status", "available_documents", "source")
	unlike = append(unlike, problem(len(unlike) == 0 && seen["request_id"] != d.id, "data.request_id is %v; want %s",
		seen["request_id"], d.id)...)

	if d.missing == (missing{}) {
		s.observeDraft(record, analyzed)
	}
	var sources, slugs, prices []string
	for _, shown := range []map[string]any{record, seen} {
		value, there := shown["source"]
		sources = append(sources, problem(there && value != source, "source is %v", value)...)
	}
	d.request = s.requestOf(record)
	elements, _ := record["available_documents"].([]any)
	for i, element := range elements {
		document, _ := element.(map[string]any)
		slug := s.slugOf(document)
		d.slugs = append(d.slugs, slug)
		if price, _, err := d.request.Price(shipping.DocumentType(slug)); err == nil {
			d.prices = append(d.prices, exact(price))
		}
		at := fmt.Sprintf("available_documents[%d]", i)
		if slug, named := document["document_type"]; named {
			slugs = append(slugs, s.service.record("DocumentType").problems(at+".document_type", slug)...)
		}
		prices = append(prices, problem(!find("", element, isAmount), "%s carries no number, and so no price: %s", at,
			jsonOf(element))...)
	}
	prices = append(prices, s.unshown(record)...)
	s.judge([]check{
		{headingRegulatory, "analyze with " + field + " returns a draft: request_id, available_documents, line items",
			analyzed.missing, append(early, problems...), stated},
		{headingRegulatory, "GET /request/:request_id returns the " + source + "'s record", looked.missing, unlike, stated},
		{headingDraft, fmt.Sprintf("source is %q", source), looked.missing, sources, stated},
		{headingDraft, "document types of the " + source + " are slugs of the list, exactly", d.missing, slugs, stated},
		{headingDraft, "each document offered for the " + source + " carries its price", d.missing, prices, stated},
	})
	return d
}

// unshown returns the lines of the dialect that name a price or a currency which a draft does not have.
func (s *session) unshown(draft map[string]any) (problems []string) {
	offers := objects(draft["available_documents"])
	places := map[string][]map[string]any{"offer.amount": offers, "offer.currency": offers, "record.currency": {draft}}
	for _, f := range s.known.Fields() {
		isShown := func(object map[string]any) bool { return memberAt(object, f.Value) != nil }
		in := places[f.Name]
		problems = append(problems, problem(f.Set && len(in) > 0 && !slices.ContainsFunc(in, isShown),
			"the draft has no %q: correct or remove the line %s = %s", f.Value, f.Name, f.Value)...)
	}
	return problems
}

// requestOf returns the record of a draft as the client reads it, with the cost of its documents.
func (s *session) requestOf(record map[string]any) *shipping.RegulatoryRequest {
	request := new(shipping.RegulatoryRequest)
	_ = json.Unmarshal([]byte(jsonOf(record)), request) // what cannot be read has no price
	request.Dialect = s.known
	return request
}

// slugOf returns the type of a document of a draft. The specification does not name its member.
func (s *session) slugOf(document map[string]any) string {
	at := append(named(document, s.isSlug), "document_type", "slug", "type")
	for _, name := range at {
		if slug, _ := memberAt(document, name).(string); slug != "" {
			return slug
		}
	}
	return ""
}

// isAmount reports whether a value is a number, or a text that has one, such as "12.50 NGN".
func isAmount(_ string, v any) bool {
	text, _ := v.(string)
	_, isNumber := v.(json.Number)
	return isNumber || strings.ContainsAny(text, "0123456789")
}

// untilDraft reads a request until it has a status that the specification lists, and returns that response. An earlier
// status is a problem unless the dialect declares it.
func (s *session) untilDraft(a response) (draft response, problems []string) {
	id, _ := recordOf(a)["request_id"].(string)
	s.poll(func() bool {
		state, _ := recordOf(a)["status"].(string)
		if a.missing != (missing{}) || len(a.problems()) > 0 || id == "" || state == "" || stages[state] > 0 {
			return false
		}
		if s.isUnlisted(state) && s.unlisted[state] == "" {
			s.unlisted[state] = "analyzing"
			problems = wrong("status", state, "one of draft")
		}
		first := a
		a = s.call("regulatory.get", request{id: id})
		a.status, a.to = cmp.Or(first.status, a.status), first.to
		return true
	})
	return a, problems
}

// find reports whether a condition holds for a value or a value inside it. The place of a value has the names of the
// members around it.
func find(at string, value any, is func(at string, v any) bool) bool {
	found := is(at, value)
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			found = found || find(at+"."+name, member, is)
		}
	case []any:
		found = found || slices.ContainsFunc(v, func(element any) bool { return find(at, element, is) })
	}
	return found
}
