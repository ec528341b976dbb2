package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// draft is a regulatory request as its analysis returns it.
type draft struct {
	missing missing
	id      string
	record  map[string]any
	offers  []offer
}

// slugs returns the types of the documents that a draft offers.
func (d draft) slugs() (slugs []string) {
	for _, o := range d.offers {
		slugs = append(slugs, o.slug)
	}
	return slugs
}

// recordOf returns the record of a regulatory request and its place: data itself or, because the specification does not
// show where in data the record is, data.request.
func recordOf(a response) (place string, record map[string]any) {
	if inner, wrapped := a.data()["request"].(map[string]any); wrapped && a.data()["request_id"] == nil {
		return "data.request", inner
	}
	return "data", a.data()
}

// problemsOfRecord checks the members of the record of a request that the specification names, of which some are required.
func (s *session) problemsOfRecord(a response, required ...string) (problems []string, record map[string]any) {
	place, record := recordOf(a)
	table := s.service.record("RegulatoryRequest").members("request_id", "status", "available_documents", "source")
	table.Required = required
	if problems = a.problems(); len(problems) == 0 {
		problems = table.problems(place, record)
	}
	return problems, record
}

// checkRegulatory checks the workflow of a regulatory request: analyze in both flows, look up, purchase, poll. It returns the
// drafts of a shipment and of an invoice.
func (s *session) checkRegulatory() (shipment, invoice draft) {
	unknown := s.call("regulatory.get", request{id: "RD-0"})
	_, shown := recordOf(unknown)
	s.judge([]check{{headingRegulatory, "GET /request/:request_id of an unknown request returns no record", unknown.missing,
		problem(unknown.succeeded() && len(shown) > 0, "GET /request/RD-0 returns a record: %s", unknown.excerpt()), stated}})

	before := s.readWallet(s.target.Wallet, option(s.writes, needsWrites))
	shipment = s.analyze("shipment", "shipment_id", s.target.Shipment, needsShipment)
	invoice = s.analyze("invoice", "file_url", s.target.Invoice, needsInvoice)
	bought, refused := shipment, invoice
	if shipment.missing != (missing{}) && invoice.missing == (missing{}) { // it is purchased, and is no draft any more
		bought, refused = invoice, draft{missing: missing{NotRun, "needs the draft of an invoice, and another one that is purchased"}}
	}
	charge := before.charged(s.readWallet(before.id, bought.missing), nil, shipment, invoice)
	s.judge([]check{
		{headingFlow, "an analysis charges nothing", charge.missing, charge.problems, stated},
		{headingDraft, "two analyses have two request_ids", cmp.Or(shipment.missing, invoice.missing),
			problem(shipment.id == invoice.id, "both have the request_id %s", invoice.id), stated},
	})
	s.checkPurchase(bought)
	s.checkRefusedPurchases(refused)
	return shipment, refused
}

// analyze analyzes in one flow, looks the draft up, and checks both against the table of the draft record: "A draft: request_id,
// available_documents, line items."
func (s *session) analyze(source, field, value, needs string) (d draft) {
	analyzed := s.call("regulatory.analyze", request{body: map[string]any{field: value}}, option(s.writes, needsWrites), unless(value != "", needs))
	problems, record := s.problemsOfRecord(analyzed, "request_id", "available_documents") // the others may be left out there
	if status, there := record["status"]; there && status != "draft" {
		problems = append(problems, wrong("status", status, "one of draft")...)
	}
	if len(problems) == 0 && !holdsItems(analyzed.data()) { // the specification leaves open their name
		problems = []string{"no member but available_documents is an array, so that there are no line items"}
	}
	d.record, d.missing = record, cmp.Or(analyzed.missing, unless(len(problems) == 0, "needs a draft"))
	d.id, _ = record["request_id"].(string)
	looked := s.call("regulatory.get", request{id: d.id}, d.missing)
	unlike, seen := s.problemsOfRecord(looked, "request_id", "status", "available_documents", "source")
	unlike = append(unlike, problem(len(unlike) == 0 && seen["request_id"] != d.id, "data.request_id is %v; want %s", seen["request_id"], d.id)...)

	var sources, slugs, prices, others []string
	for _, shown := range []map[string]any{record, seen} {
		value, there := shown["source"]
		sources = append(sources, problem(there && value != source, "source is %v", value)...)
	}
	for i, document := range objects(record["available_documents"]) {
		d.offers = append(d.offers, offered(document))
		at := fmt.Sprintf("available_documents[%d]", i)
		if slug, named := document["document_type"]; named {
			slugs = append(slugs, s.service.record("DocumentType").problems(at+".document_type", slug)...)
		}
		prices = append(prices, problem(!holdsNumber(document), "%s carries no number, and so no price: %s", at, jsonOf(document))...)
		others = append(others, s.service.record("AvailableDocument").members("document_type", "amount", "currency").problems(at, document)...)
	}
	s.judge([]check{
		{headingRegulatory, "analyze with " + field + " returns a draft: request_id, available_documents, line items", analyzed.missing, problems, stated},
		{headingRegulatory, "GET /request/:request_id returns the " + source + "'s record", looked.missing, unlike, stated},
		{headingDraft, fmt.Sprintf("source is %q", source), looked.missing, sources, stated},
		{headingDraft, "the line items of the " + source + " are called line_items", d.missing,
			problem(!isOf("array", record["line_items"]), "line_items is %s", jsonOf(record["line_items"])), open},
		{headingDraft, "document types of the " + source + " are slugs of the list, exactly", d.missing, slugs, stated},
		{headingDraft, "each document offered for the " + source + " carries its price", d.missing, prices, stated},
		{headingDraft, "documents offered for the " + source + " carry document_type, amount and currency", d.missing, others, open},
	})
	return d
}

// holdsItems reports whether a value has an array that can be the line items.
func holdsItems(value any) bool {
	object, _ := value.(map[string]any)
	for name, member := range object {
		if isOf("array", member) && name != "available_documents" || holdsItems(member) {
			return true
		}
	}
	return false
}

// holdsNumber reports whether a value is a number or a text that is one, or has a member that is.
func holdsNumber(value any) bool {
	switch value := value.(type) {
	case json.Number:
		return true
	case string:
		return number.MatchString(value)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), holdsNumber)
	case []any:
		return slices.ContainsFunc(value, holdsNumber)
	}
	return false
}
