package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// draft is a regulatory request as its analysis and a look-up return it.
type draft struct {
	missing          missing
	id               string
	record           map[string]any
	analyzed, looked response
}

// slugs returns the document types that a draft offers.
func (d draft) slugs() (slugs []string) {
	for _, document := range d.documents() {
		slugs = append(slugs, offered(document).slug)
	}
	return slugs
}

// documents returns the documents that a draft offers.
func (d draft) documents() []map[string]any { return objects(d.record["available_documents"]) }

// recordOf returns the record of a regulatory request and its place: data itself or, because the specification does not
// show where in data the record is, data.request.
func recordOf(a response) (place string, record map[string]any) {
	if inner, wrapped := a.data()["request"].(map[string]any); wrapped && a.data()["request_id"] == nil {
		return "data.request", inner
	}
	return "data", a.data()
}

// checkRegulatory checks the workflow of a regulatory request: analyze in both flows, look up, purchase, poll. It returns the
// drafts of a shipment and of an invoice.
func (s *session) checkRegulatory() (shipment, invoice draft) {
	unknown := s.call("regulatory.get", request{id: "RD-0"})
	_, shown := recordOf(unknown)
	before := s.readWallet(s.target.Wallet, option(s.writes, needsWrites))
	shipment = s.analyze("shipment_id", s.target.Shipment, needsShipment)
	invoice = s.analyze("file_url", s.target.Invoice, needsInvoice)
	analyzed := shipment.missing
	if invoice.missing == (missing{}) {
		analyzed = missing{}
	}
	charge := before.charged(s.readWallet(before.id, analyzed), nil, shipment, invoice)
	s.judge([]check{{headingRegulatory, "GET /request/:request_id of an unknown request returns no record", unknown.missing,
		problem(unknown.succeeded() && len(shown) > 0, "GET /request/RD-0 returns a record: %s", unknown.excerpt()), stated}})
	s.checkDraft("shipment", "shipment_id", shipment)
	s.checkDraft("invoice", "file_url", invoice)
	s.judge([]check{
		{headingFlow, "an analysis charges nothing", charge.missing, charge.problems, stated},
		{headingDraft, "two analyses have two request_ids", cmp.Or(shipment.missing, invoice.missing),
			problem(shipment.id == invoice.id, "both have the request_id %s", invoice.id), stated},
	})
	bought := shipment
	if shipment.missing != (missing{}) && invoice.missing == (missing{}) { // it is purchased, and is no draft any more
		bought, invoice = invoice, draft{missing: missing{NotRun, "needs the draft of an invoice, and another one that is purchased"}}
	}
	s.checkPurchase(bought)
	s.checkRefusedPurchases(invoice)
	return shipment, invoice
}

// analyze analyzes in one flow, and looks the draft up.
func (s *session) analyze(field, value, needs string) (d draft) {
	d.analyzed = s.call("regulatory.analyze", request{body: body{field: value}},
		option(s.writes, needsWrites), unless(value != "", needs))
	_, d.record = recordOf(d.analyzed)
	d.id, _ = d.record["request_id"].(string)
	d.missing = cmp.Or(d.analyzed.missing, unless(len(s.problemsOfDraft(d.analyzed)) == 0, "needs a draft"))
	d.looked = s.call("regulatory.get", request{id: d.id}, d.missing)
	return d
}

// named returns the schema of the members of the record of a request that the specification names. It leaves the name of the line items open.
func (s *session) named(required ...string) *schema {
	return s.service.record("RegulatoryRequest").members([]string{"request_id", "status", "available_documents", "source"}, required...)
}

// problemsOfDraft checks what an analysis returns: "A draft: request_id, available_documents, line items." The other members
// may be left out there.
func (s *session) problemsOfDraft(a response) []string {
	place, record := recordOf(a)
	table := s.named("request_id", "available_documents")
	table.Properties["status"] = &schema{Type: types{"string"}, Enum: []string{"draft"}}
	problems := a.problems()
	if len(problems) == 0 {
		problems = table.problems(place, record)
	}
	return append(problems, problem(len(problems) == 0 && !holdsItems(a.data()), "no member but available_documents is an array, so that there are no line items")...)
}

// holdsItems reports whether a value has an array that can be the line items, whose name the specification leaves open.
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
		for _, member := range value {
			if holdsNumber(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, holdsNumber)
	}
	return false
}

// checkDraft checks a draft, as analyzed and as looked up, against the table of the draft record.
func (s *session) checkDraft(source, field string, d draft) {
	place, record := recordOf(d.looked)
	looked := d.looked.problems()
	if len(looked) == 0 {
		looked = append(s.named("request_id", "status", "available_documents", "source").problems(place, record),
			problem(record["request_id"] != d.id, "%s.request_id is %v; want %s", place, record["request_id"], d.id)...)
	}
	var sources, slugs, prices, others []string
	for _, shown := range []map[string]any{d.record, record} {
		value, there := shown["source"]
		sources = append(sources, problem(there && value != source, "source is %v", value)...)
	}
	members := []string{"document_type", "amount", "currency"}
	for i, document := range d.documents() {
		at := fmt.Sprintf("available_documents[%d]", i)
		if slug, named := document["document_type"]; named {
			slugs = append(slugs, s.service.record("DocumentType").problems(at+".document_type", slug)...)
		}
		prices = append(prices, problem(!holdsNumber(document), "%s carries no number, and so no price: %s", at, jsonOf(document))...)
		others = append(others, s.service.record("AvailableDocument").members(members, members...).problems(at, document)...)
	}
	s.judge([]check{
		{headingRegulatory, "analyze with " + field + " returns a draft: request_id, available_documents, line items", d.analyzed.missing, s.problemsOfDraft(d.analyzed), stated},
		{headingRegulatory, "GET /request/:request_id returns the " + source + "'s record", d.looked.missing, looked, stated},
		{headingDraft, fmt.Sprintf("source is %q", source), d.looked.missing, sources, stated},
		{headingDraft, "the line items of the " + source + " are called line_items", d.missing,
			problem(!isOf("array", d.record["line_items"]), "line_items is %s", jsonOf(d.record["line_items"])), open},
		{headingDraft, "document types of the " + source + " are slugs of the list, exactly", d.missing, slugs, stated},
		{headingDraft, "each document offered for the " + source + " carries its price", d.missing, prices, stated},
		{headingDraft, "documents offered for the " + source + " carry document_type, amount and currency", d.missing, others, open},
	})
}
