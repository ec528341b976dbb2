package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const (
	regulatoryPath = "/v1/regulatory-documents"
	purchasePath   = regulatoryPath + "/purchase"
)

func requestPath(id string) string { return regulatoryPath + "/request/" + url.PathEscape(id) }

// idOf returns the identifier of a request; "" if it has none.
func idOf(request map[string]any) string {
	id, _ := request["request_id"].(string)
	return id
}

// checkRegulatory checks the workflow of a regulatory request: analyze in both flows, look up, purchase, poll.
func (s *session) checkRegulatory() {
	unknown := s.get(requestPath("RD-0"))
	var problems []string
	if unknown.succeeded() && len(unknown.request()) > 0 {
		problems = []string{"GET /request/RD-0 returns a record: " + unknown.excerpt()}
	}
	s.judge(headingRegulatory, "GET /request/:request_id of an unknown request returns no record", problems)
	if !s.writes {
		s.checkUnproven(nil, nil)
		defer s.suspend(Skipped, needsWrites)()
	}
	before := s.readWallet(s.target.Wallet)
	shipment := s.checkAnalyze("shipment", "shipment_id", s.target.Shipment, needsShipment)
	invoice := s.checkAnalyze("invoice", "file_url", s.target.Invoice, needsInvoice)
	s.checkDrafts(before, shipment, invoice)
	s.checkShown(shipment)
	if s.writes {
		s.checkUnproven(shipment, invoice)
	}
	if shipment != nil {
		s.checkPurchase(shipment)
	} else {
		s.checkPurchase(invoice)
		invoice = nil // it is no draft any more
	}
	s.checkRefusedPurchases(invoice)
}

// checkAnalyze analyzes in one flow, checks the draft, and returns it; nil if there is none.
func (s *session) checkAnalyze(source, field, value, needs string) map[string]any {
	if value == "" {
		defer s.suspend(NotRun, needs)()
	}
	a := s.post(regulatoryPath+"/analyze", map[string]any{field: value})
	problems := a.problemsOfSuccess()
	if len(problems) == 0 {
		problems = s.analyzed().problems(a.record())
	}
	if len(problems) == 0 && !holdsItems(a.envelope["data"]) {
		problems = []string{"no member but available_documents is an array, so that there are no line items"}
	}
	draft := a.request()
	if !s.judge(headingRegulatory, "analyze with "+field+" returns a draft: request_id, available_documents, line items", problems) {
		defer s.suspend(NotRun, "needs a draft")()
		draft = nil
	}
	s.checkDraft(source, draft)
	return draft
}

// regulatoryRequest is what the specification names of the record of a request. It leaves the name of the line items open.
func (s *session) regulatoryRequest(required ...string) *schema {
	named := s.service.record("RegulatoryRequest").members("request_id", "status", "available_documents", "source")
	named.Required = required
	return named
}

// analyzed is the record that POST /analyze returns: "A draft: request_id, available_documents, line items." The others
// may be left out there.
func (s *session) analyzed() *schema {
	named := s.regulatoryRequest("request_id", "available_documents")
	named.Properties["status"] = &schema{Type: types{"string"}, Enum: []string{"draft"}}
	return named
}

// holdsItems reports whether a value has an array that can be the line items, whose name the specification leaves open.
func holdsItems(value any) bool {
	object, _ := value.(map[string]any)
	for name, member := range object {
		if _, array := member.([]any); array && name != "available_documents" || holdsItems(member) {
			return true
		}
	}
	return false
}

// checkDraft checks a draft, as analyzed and as looked up, against the table of the draft record.
func (s *session) checkDraft(source string, draft map[string]any) {
	looked := s.get(requestPath(idOf(draft)))
	problems := looked.problemsOfSuccess()
	if len(problems) == 0 {
		place, value := looked.record()
		problems = s.regulatoryRequest("request_id", "status", "available_documents", "source").problems(place, value)
		if got := idOf(looked.request()); got != idOf(draft) {
			problems = append(problems, fmt.Sprintf("%s.request_id is %v; want %s", place, got, idOf(draft)))
		}
	}
	s.judge(headingRegulatory, "GET /request/:request_id returns the "+source+"'s record", problems)

	problems = nil
	for _, shown := range []map[string]any{draft, looked.request()} {
		if value, there := shown["source"]; there && value != source {
			problems = []string{fmt.Sprintf("source is %v", value)}
		}
	}
	s.judge(headingDraft, fmt.Sprintf("source is %q", source), problems)
	s.assume(headingDraft, "the line items of the "+source+" are called line_items", len(array(value("object")).problems("", draft["line_items"])) == 0,
		"line_items is "+jsonOf(draft["line_items"]))

	var slugs, prices, others []string
	for i, offered := range documents(draft) {
		at := fmt.Sprintf("available_documents[%d]", i)
		if slug, named := offered["document_type"]; named {
			slugs = append(slugs, s.service.record("DocumentType").problems(at+".document_type", slug)...)
		}
		if !holdsNumber(offered) {
			prices = append(prices, at+" carries no number, and so no price: "+jsonOf(offered))
		}
		others = append(others, s.service.record("AvailableDocument").members("document_type", "amount", "currency").problems(at, offered)...)
	}
	s.judge(headingDraft, "document types of the "+source+" are slugs of the list, exactly", slugs)
	s.judge(headingDraft, "each document offered for the "+source+" carries its price", prices)
	s.assume(headingDraft, "documents offered for the "+source+" carry document_type, amount and currency", len(others) == 0, summary(others))
}

// holdsNumber reports whether a value is a number or a text that is one, or has a member that is.
func holdsNumber(value any) bool {
	switch value := value.(type) {
	case json.Number:
		return true
	case string:
		_, ok := decimal(json.Number(value))
		return ok
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

// checkShown: "Every regulatory documents endpoint requires Authorization".
func (s *session) checkShown(draft map[string]any) {
	if draft == nil {
		defer s.suspend(NotRun, "needs the draft of a shipment")()
	}
	without := s.send(http.MethodGet, requestPath(idOf(draft)), nil, key)
	s.judge(headingAccess, "a request that exists is not shown without Authorization", s.refused("GET /request/"+idOf(draft)+" without Authorization", without, false))
}

// checkDrafts checks what both analyses did. before is the wallet before them.
func (s *session) checkDrafts(before wallet, shipment, invoice map[string]any) {
	resume := func() {}
	if shipment == nil && invoice == nil {
		resume = s.suspend(NotRun, "needs a draft")
	}
	s.judgeSpent(headingFlow, "an analysis charges nothing", before, nil, shipment, invoice)
	resume()

	if shipment == nil || invoice == nil {
		defer s.suspend(NotRun, "needs the drafts of a shipment and of an invoice")()
	}
	var problems []string
	if idOf(shipment) == idOf(invoice) {
		problems = []string{"both have the request_id " + idOf(invoice)}
	}
	s.judge(headingDraft, "two analyses have two request_ids", problems)
}

// documents returns the documents that a draft offers.
func documents(draft map[string]any) []map[string]any {
	var out []map[string]any
	elements, _ := draft["available_documents"].([]any)
	for _, element := range elements {
		if object, ok := element.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

// checkPurchase buys one document: "The user's wallet is charged and document generation starts";
// "Purchase charges the amounts already stored on the draft".
func (s *session) checkPurchase(draft map[string]any) {
	bought, err := cheapest(draft)
	switch {
	case draft == nil:
		defer s.suspend(NotRun, "needs a draft")()
	case err != nil:
		defer s.suspend(NotRun, "nothing was bought: "+err.Error())()
	}
	before := s.readWallet(s.walletOf(draft))
	if !s.judge(headingRegulatory, "purchase succeeds, in the envelope, for document types of the draft", s.purchase(idOf(draft), bought).problemsOfSuccess()) {
		defer s.suspend(NotRun, "needs a purchase")()
	}
	state := s.state(idOf(draft))
	var problems []string
	if !slices.Contains([]string{"purchasing", "processing", "completed", "failed"}, state) {
		problems = []string{fmt.Sprintf("status is %q", state)}
	}
	s.judge(headingStates, "a purchased request is not a draft", problems)
	s.checkEnd(idOf(draft), state)

	after, seen := s.judgeSpent(headingFlow, "the wallet is charged the stored amount", before, bought.price, draft)
	switch {
	case !s.secondPurchase:
		defer s.suspend(Skipped, needsSecondPurchase)()
	case !seen:
		defer s.suspend(NotRun, "needs the charge of the first purchase among the transactions: without it nothing shows a second charge")()
	}
	again := s.purchase(idOf(draft), bought)
	s.judgeSpent(headingStates, "a purchase that is sent again charges nothing more", after, nil, draft)
	s.assume(headingStates, "the purchase of a purchased request is refused", !again.succeeded(), fmt.Sprintf("HTTP status %d", again.status))
}

// checkRefusedPurchases sends purchases that charge nothing: "Purchase: Request id and document types supplied"; it
// "charges the amounts already stored on the draft".
func (s *session) checkRefusedPurchases(draft map[string]any) {
	switch {
	case !s.refusedPurchases:
		defer s.suspend(Skipped, needsRefusedPurchases)()
	case draft == nil:
		defer s.suspend(NotRun, "needs the draft of an invoice, and another one that is purchased")()
	}
	before := s.readWallet(s.walletOf(draft))
	slug := s.notOffered(draft)
	for _, p := range []struct {
		heading, check string
		body           map[string]any
		id, slug       string
	}{
		{headingStates, "a purchase without document_types charges nothing, and the request stays a draft",
			map[string]any{"request_id": idOf(draft)}, idOf(draft), ""},
		{headingFlow, "a purchase of a document that the draft does not offer charges nothing",
			map[string]any{"request_id": idOf(draft), "document_types": []string{slug}}, idOf(draft), slug},
		{headingStates, "a purchase of a request that does not exist charges nothing",
			map[string]any{"request_id": "RD-0", "document_types": []string{slug}}, "RD-0", slug},
	} {
		if before.unread != "" {
			defer s.suspend(NotRun, before.unread)()
		}
		if s.suspended == nil {
			s.sent(Purchase{RequestID: p.id, DocumentType: p.slug, MustFail: true})
		}
		s.post(purchasePath, p.body)
		before = s.checkRefusedPurchase(p.heading, p.check, before, draft, p.slug == "")
	}
}

// checkRefusedPurchase checks that a purchase charged nothing and, perhaps, that its request is still a draft.
func (s *session) checkRefusedPurchase(heading, check string, before wallet, draft map[string]any, stays bool) wallet {
	after := s.readWallet(before.id)
	problems, unknown := spent(before, after, nil, draft)
	if state := s.state(idOf(draft)); stays && state != "draft" {
		problems = append(problems, fmt.Sprintf("status is %q", state))
	}
	s.judgeKnown(heading, check, problems, unknown)
	return after
}

// slugs returns the documents that a draft offers.
func slugs(draft map[string]any) []string {
	var out []string
	for _, document := range documents(draft) {
		out = append(out, offered(document).slug)
	}
	return out
}

// notOffered returns a document type that a draft does not offer.
func (s *session) notOffered(draft map[string]any) string {
	for _, slug := range s.service.record("DocumentType").Enum {
		if !slices.Contains(slugs(draft), slug) {
			return slug
		}
	}
	return "NO-SUCH-DOCUMENT"
}

// state returns the status of a request as it is now.
func (s *session) state(id string) string {
	state, _ := s.get(requestPath(id)).request()["status"].(string)
	return state
}

// checkEnd: "Poll until status is completed or failed."
func (s *session) checkEnd(id, state string) {
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	const check, order = "a purchased request ends in completed or failed, by way of purchasing and processing only",
		"a request does not go back from processing to purchasing, nor from its end"
	seen := []string{state}
	if state == "" {
		defer s.suspend(NotRun, "needs the status of the request")()
	}
	for wait := 50 * time.Millisecond; state == "purchasing" || state == "processing"; wait = min(2*wait, 2*time.Second) {
		if !pause(ctx, wait) {
			break
		}
		state = s.state(id)
		seen = append(seen, state)
	}
	switch state {
	case "completed", "failed":
		s.judge(headingStates, check, nil)
	case "purchasing", "processing":
		defer s.suspend(NotRun, fmt.Sprintf("still %s after %s: raise the limit with -patience, or WithPatience in Go", state, s.patience))()
		s.judge(headingStates, check, nil)
	default:
		s.judge(headingStates, check, []string{fmt.Sprintf("status is %q after the purchase", state)})
	}
	seen = append(seen, s.state(id))
	s.judge(headingStates, order, backwards(seen))
}

// backwards returns the steps between states that no trigger of the specification makes.
func backwards(seen []string) []string {
	order := map[string]int{"draft": 1, "purchasing": 2, "processing": 3, "completed": 4, "failed": 4}
	var problems []string
	for i, state := range seen[1:] {
		before := seen[i]
		if from, to := order[before], order[state]; to > 0 && (to < from || to == from && state != before) {
			problems = append(problems, fmt.Sprintf("status is %q, and %q later", before, state))
		}
	}
	return problems
}
