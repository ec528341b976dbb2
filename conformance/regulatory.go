package conformance

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const regulatoryPath = "/v1/regulatory-documents"

func requestPath(id string) string { return regulatoryPath + "/request/" + url.PathEscape(id) }

// checkRegulatory checks the workflow of a regulatory request: analyze in both flows, look up, purchase, poll.
func (s *session) checkRegulatory() {
	var draft map[string]any
	for _, flow := range []struct{ source, field, value, needs string }{
		{"shipment", "shipment_id", s.target.Shipment, "name a shipment"},
		{"invoice", "file_url", s.target.Invoice, "name an invoice"},
	} {
		check := fmt.Sprintf("analyze with %s returns a draft: request_id, available_documents", flow.field)
		switch {
		case !s.writes:
			s.skip(headingRegulatory, check, "needs WithWrites (-write)")
			continue
		case flow.value == "":
			s.notRun(headingRegulatory, check, flow.needs)
			continue
		}
		a := s.post(regulatoryPath+"/analyze", map[string]any{flow.field: flow.value})
		problems := a.problemsOfSuccess()
		if len(problems) == 0 {
			problems = record(analyzedFields())(a.record())
		}
		if !s.judge(headingRegulatory, check, problems) {
			continue
		}
		s.checkDraft(flow.source, a.request())
		if draft == nil {
			draft = a.request()
		}
	}
	check := "purchase succeeds, in the envelope, for document types of the draft"
	switch {
	case !s.writes:
		s.skip(headingRegulatory, check, "needs WithWrites (-write)")
		return
	case draft == nil:
		s.notRun(headingRegulatory, check, "needs a draft")
		return
	}
	id, _ := draft["request_id"].(string)
	without := s.send(http.MethodGet, requestPath(id), nil, key)
	s.judge(headingAccess, "a request that exists is not shown without Authorization", s.refused("GET /request/"+id+" without Authorization", without, false))
	best, err := cheapest(draft)
	if err != nil {
		s.notRun(headingRegulatory, check, "nothing was bought: "+err.Error())
		return
	}
	s.checkPurchase(check, draft, best)
}

// checkDraft checks a draft, as analyzed and as looked up, against the table of the draft record.
func (s *session) checkDraft(source string, draft map[string]any) {
	id, _ := draft["request_id"].(string)
	looked := s.get(requestPath(id))
	problems := looked.problems()
	if len(problems) == 0 {
		place, value := looked.record()
		problems = record(draftFields(oneOf(requestStates()...)))(place, value)
		if got := looked.request()["request_id"]; got != id {
			problems = append(problems, fmt.Sprintf("%s.request_id is %v; want %s", place, got, id))
		}
	}
	s.judge(headingRegulatory, "GET /request/:request_id returns the "+source+"'s record, with HTTP status 200", problems)

	problems = nil
	for _, shown := range []map[string]any{draft, looked.request()} {
		if value, there := shown["source"]; there && value != source {
			problems = []string{fmt.Sprintf("source is %v", value)}
		}
	}
	s.judge(headingDraft, fmt.Sprintf("source is %q", source), problems)
	s.assume(headingDraft, "the line items of the "+source+" are called line_items", len(listOf(record(nil))("", draft["line_items"])) == 0,
		"line_items is "+jsonOf(draft["line_items"]))

	var slugs, others []string
	for i, offered := range documents(draft) {
		at := fmt.Sprintf("available_documents[%d]", i)
		if slug, named := offered["document_type"]; named {
			slugs = append(slugs, oneOf(documentTypes()...)(at+".document_type", slug)...)
		}
		others = append(others, record(fields{{name: "document_type", is: text}, {name: "amount", is: number}, {name: "currency", is: text}})(at, offered)...)
	}
	s.judge(headingDraft, "document types of the "+source+" are slugs of the list, exactly", slugs)
	s.assume(headingDraft, "documents offered for the "+source+" carry document_type, amount and currency", len(others) == 0, summary(others))
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
func (s *session) checkPurchase(check string, draft map[string]any, bought offer) {
	id, _ := draft["request_id"].(string)
	wallet, ok := draft["wallet"].(string)
	if !ok {
		wallet = s.target.Wallet
	}
	before, known := s.charges(wallet)
	if !s.judge(headingRegulatory, check, s.purchase(id, bought).problemsOfSuccess()) {
		return
	}
	state := s.state(id)
	var problems []string
	if !slices.Contains([]string{"purchasing", "processing", "completed", "failed"}, state) {
		problems = []string{fmt.Sprintf("status is %q", state)}
	}
	s.judge(headingStates, "a purchased request is not a draft", problems)
	s.checkEnd(id, state)

	const charged, once = "the wallet is charged the stored amount", "a purchase that is sent again charges nothing more"
	if !s.secondPurchase {
		s.skip(headingStates, once, "needs a second purchase, which a service that fails the check charges again")
	}
	if !known {
		s.notRun(headingFlow, charged, "needs a wallet whose transactions can be listed")
		if s.secondPurchase {
			s.notRun(headingStates, once, "needs a wallet whose transactions can be listed")
		}
		return
	}
	after, _ := s.charges(wallet)
	s.judge(headingFlow, charged, before.charged(after, bought.price, 1))
	if !s.secondPurchase {
		return
	}
	again := s.purchase(id, bought)
	final, _ := s.charges(wallet)
	s.judge(headingStates, once, after.charged(final, bought.price, 0))
	s.assume(headingStates, "the purchase of a purchased request is refused", !again.succeeded(), fmt.Sprintf("HTTP status %d", again.status))
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
	check := "a purchased request ends in completed or failed, by way of purchasing and processing only"
	for wait := 50 * time.Millisecond; state != "completed" && state != "failed"; wait = min(2*wait, 2*time.Second) {
		if state != "purchasing" && state != "processing" {
			s.judge(headingStates, check, []string{fmt.Sprintf("status is %q after the purchase", state)})
			return
		}
		if !pause(ctx, wait) {
			s.notRun(headingStates, check, fmt.Sprintf("still %s after %s: raise the limit (WithPatience, -patience)", state, s.patience))
			return
		}
		state = s.state(id)
	}
	s.judge(headingStates, check, nil)
}

// charges are transactions of a wallet by their identifiers: those of the first page and of the last two, because
// the specification does not name the order of the list.
type charges map[string]map[string]any

func (s *session) charges(wallet string) (charges, bool) {
	if wallet == "" {
		return nil, false
	}
	out := charges{}
	first := s.get("/v1/transactions?" + url.Values{"wallet": {wallet}}.Encode())
	if !out.add(first) {
		return nil, false
	}
	pagination, _ := first.data()["pagination"].(map[string]any)
	last, _ := whole(pagination["pageCount"])
	for page := max(2, last-1); page <= last; page++ {
		if !out.add(s.get("/v1/transactions?" + url.Values{"wallet": {wallet}, "page": {fmt.Sprint(page)}}.Encode())) {
			return nil, false
		}
	}
	return out, true
}

// add adds the transactions of a page; false if it has none to read.
func (c charges) add(a answer) bool {
	elements, ok := a.data()["transactions"].([]any)
	for _, element := range elements {
		if t, ok := element.(map[string]any); ok {
			if id, ok := t["transactionId"].(string); ok {
				c[id] = t
			}
		}
	}
	return ok
}

// latest returns when the newest of the transactions was created.
func (c charges) latest() (newest time.Time) {
	for _, t := range c {
		if at := created(t); at.After(newest) {
			newest = at
		}
	}
	return newest
}

// created returns when a transaction was created; zero if that cannot be read.
func created(t map[string]any) time.Time {
	text, _ := t["created_at"].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// charged returns a problem unless, since before, a wallet was charged an amount exactly so many times. A transaction
// that is older than one seen before was on a page that was not read.
func (before charges) charged(after charges, amount *big.Rat, times int) []string {
	var amounts []string
	found, newest := 0, before.latest()
	for id, t := range after {
		at := created(t)
		if _, old := before[id]; old || t["flow"] != "out" || !at.IsZero() && at.Before(newest) {
			continue
		}
		amounts = append(amounts, jsonOf(t["amount"]))
		if charged, ok := rational(t["amount"]); ok && charged.Cmp(amount) == 0 {
			found++
		}
	}
	if found == times {
		return nil
	}
	return []string{fmt.Sprintf("%d new transactions of %s with flow out; want %d (new ones: %v)", found, amount.FloatString(2), times, amounts)}
}
