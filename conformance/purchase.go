package conformance

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
)

// purchase sends a purchase, unless something that it needs is missing. The report lists the purchases that are sent.
func (s *session) purchase(p Purchase, types []string, lacks string, need missing) response {
	r := request{body: map[string]any{"request_id": p.RequestID}, lacks: lacks}
	if types != nil {
		r.body["document_types"] = types
	}
	if need == (missing{}) {
		p.RequestID, p.DocumentType, p.Currency = s.printable(p.RequestID), s.printable(p.DocumentType),
			s.printable(p.Currency)
		s.report.Purchases = append(s.report.Purchases, p)
	}
	return s.call("regulatory.purchase", r, need)
}

// checkPurchase buys one document: "The user's wallet is charged and document generation starts"; "Purchase charges the
// amounts already stored on the draft". Every purchase that the service may charge for is sent here, once each.
func (s *session) checkPurchase(d draft) {
	bought, unpriced := s.chosen(d)
	need := cmp.Or(d.missing, unless(s.most != "", Skipped, needsPurchase), unpriced)
	order := Purchase{RequestID: d.id, DocumentType: s.document, Cost: decimals(bought.most), Currency: bought.currency}
	before := s.readWallet(s.walletOf(d), need)
	first := s.purchase(order, []string{s.document}, "", need)
	done := cmp.Or(first.missing, unless(len(first.problems()) == 0, NotRun, "needs a purchase"))
	states, record, unread := s.follow(d.id, done)
	if data := first.data(); done == (missing{}) && data != nil {
		s.decide("purchase.confirmation", map[bool]string{true: "receipt", false: "empty"}[len(data) > 0], "as in "+first.to)
	}
	once := before.charged(s.readWallet(before.id, done), &bought, d)
	if n := len(s.report.Purchases); n > 0 && once.paid != nil {
		s.report.Purchases[n-1].Paid = decimals(once.paid)
		s.observePurchase(d.record, record, once)
	}

	need = cmp.Or(done, unless(s.secondPurchase, Skipped, needsSecondPurchase),
		unless(once.missing == (missing{}) && len(once.problems) == 0, NotRun,
			"needs the charge of the first purchase among the transactions: without it nothing shows a second charge"))
	again := s.purchase(order, []string{s.document}, "", need)
	twice := once.after.charged(s.readWallet(before.id, need), nil, d)
	if need == (missing{}) && twice.missing == (missing{}) && len(twice.problems) == 0 {
		s.report.Purchases[len(s.report.Purchases)-1].Paid = "0.00"
	}

	end, known := states[len(states)-2], cmp.Or(unread, unless(states[0] != "", NotRun, "needs the status of the request"))
	s.judge([]check{
		{headingRegulatory, "purchase succeeds, in the envelope, for document types of the draft", first.missing,
			first.problems(), stated},
		{headingStates, "a purchased request is not a draft", unread,
			problem(states[0] == "" || states[0] == "draft", "status is %q", states[0]), stated},
		{headingStates, "a purchased request ends in completed or failed, by way of purchasing and processing only",
			cmp.Or(known, unless(!s.generating(end) || s.isUnlisted(end), NotRun,
				fmt.Sprintf("still %s after %s: raise the limit with -patience, or WithPatience in Go", end, s.patience))),
			slices.Concat(s.statesOf(states), problem(stages[end] != stages["completed"], "status is %q after the purchase", end)), stated},
		{headingStates, "a request does not go back from processing to purchasing, nor from its end", known,
			backwards(states), stated},
		{headingFlow, "the wallet is charged the stored amount", cmp.Or(done, once.missing), once.problems, stated},
		{headingStates, "a purchase that is sent again charges nothing more", cmp.Or(again.missing, twice.missing),
			twice.problems, stated},
		{headingStates, "the purchase of a purchased request is refused", again.missing,
			problem(again.succeeded(), "HTTP status %d", again.status), open},
	})
}

// checkRefusedPurchases sends purchases that charge nothing: "Purchase: Request id and document types supplied"; it
// "charges the amounts already stored on the draft".
func (s *session) checkRefusedPurchases(d draft) {
	need := cmp.Or(unless(s.refusedPurchases, Skipped, needsRefusedPurchases), d.missing)
	before := s.readWallet(s.walletOf(d), need)
	unoffered := slices.DeleteFunc(slices.Clone(s.service.record("DocumentType").Enum),
		func(slug string) bool { return slices.Contains(d.slugs, slug) })
	slug := append(unoffered, "NO-SUCH-DOCUMENT")[0]
	for _, p := range []struct {
		heading, what, id string
		types             []string
	}{
		{headingStates, "a purchase without document_types charges nothing", d.id, nil},
		{headingFlow, "a purchase of a document that the draft does not offer charges nothing", d.id, []string{slug}},
		{headingStates, "a purchase of a request that does not exist charges nothing", "RD-0", []string{slug}},
	} {
		need = cmp.Or(need, before.missing)
		order := Purchase{RequestID: p.id, DocumentType: strings.Join(p.types, ""), MustFail: true}
		sent := s.purchase(order, p.types, "", need)
		charge := s.confirmed(before.charged(s.readWallet(before.id, need), nil, d),
			func() { s.purchase(order, p.types, "", need) }, d)
		s.judge([]check{{p.heading, p.what, cmp.Or(sent.missing, charge.missing), charge.problems, stated}})
		if before = charge.after; p.types == nil {
			shown := s.call("regulatory.get", request{id: d.id}, sent.missing)
			state := recordOf(shown)["status"]
			s.judge([]check{{p.heading, "a request stays a draft after a purchase without document_types", shown.missing,
				problem(state != "draft", "status is %s", jsonOf(state)), stated}})
		}
	}
}

// stages is the order of the states of a request. States of one stage can follow each other, but
// nothing follows an end.
var stages = map[string]int{"draft": 10, "purchasing": 20, "processing": 30, "completed": 90, "failed": 90}

// generating reports whether a purchased request has not ended: "Poll until status is completed or failed." A state
// that the specification does not list may precede the end.
func (s *session) generating(state string) bool {
	return state != "" && stages[state] != stages["draft"] && stages[state] != stages["completed"]
}

// isUnlisted reports whether neither the specification nor the dialect lists a state.
func (s *session) isUnlisted(state string) bool {
	return state != "" && stages[state] == 0 && s.known.Record.States[state] == ""
}

// statesOf returns the unlisted states of a purchased request as problems. The last one can be final, which no dialect
// can declare.
func (s *session) statesOf(states []string) (problems []string) {
	for _, state := range slices.Compact(slices.Clone(states)) {
		if !s.isUnlisted(state) || s.unlisted[state] != "" {
			continue
		}
		problems = append(problems, wrong("status", state, "one of purchasing, processing, completed, failed")...)
		if state != states[len(states)-1] {
			s.unlisted[state] = "generating"
		}
	}
	return problems
}

// follow returns the states of a purchased request until its end, and the state and the record that it has when it is
// read again.
func (s *session) follow(id string, need missing) (states []string, record map[string]any, unread missing) {
	read := func() string {
		a := s.call("regulatory.get", request{id: id}, need)
		record = recordOf(a)
		state, _ := record["status"].(string)
		states, need = append(states, state), a.missing
		return state
	}
	s.poll(func() bool { return s.generating(read()) })
	read()
	return states, record, need
}

// poll calls a function until it returns false or the patience ends.
func (s *session) poll(again func() bool) {
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	for wait := 50 * time.Millisecond; again() && ctx.Err() == nil; wait = min(2*wait, 2*time.Second) {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// backwards returns the steps between states that no trigger of the specification makes.
func backwards(seen []string) (problems []string) {
	for i, state := range seen[1:] {
		from, to := stages[seen[i]], stages[state]
		isWrong := to > 0 && state != seen[i] && (to < from || from == stages["completed"])
		problems = append(problems, problem(isWrong, "status is %q, and %q later", seen[i], state)...)
	}
	return problems
}

// cost is the cost of a document: the price, and the most that a purchase can charge.
type cost struct {
	least, most *big.Rat // nil: not known
	currency    string
}

// notBought begins the reason why the document of [WithPurchase] is not purchased.
const notBought = "nothing was bought: "

// chosen returns what the document of [WithPurchase] costs, or why it is not purchased. The budget of the client decides
// this, and its error prints the lines of the dialect.
func (s *session) chosen(d draft) (c cost, unknown missing) {
	budget, err := shipping.ParseBudget(s.most)
	if err != nil {
		return c, s.notBought(d, err)
	}
	if !slices.Contains(d.slugs, s.document) {
		return c, missing{NotRun, fmt.Sprintf("%sthe draft does not offer %s (-purchase, WithPurchase)%s", notBought,
			s.document, spelling.Suggestion(s.document, d.slugs))}
	}
	if s.known.Offer.DefaultCurrency == "wallet" {
		known := *s.known
		known.Offer.DefaultCurrency = budget.Currency
		d.request.Dialect = &known
	}
	needed, currency, err := d.request.Cost(shipping.DocumentType(s.document))
	if err == nil && currency != budget.Currency {
		return c, s.notBought(d, fmt.Errorf("it costs up to %s: set a limit in that currency",
			shipping.Budget{Amount: needed, Currency: currency}))
	}
	most, err := budget.Check(d.request, shipping.DocumentType(s.document))
	if err != nil {
		return c, s.notBought(d, err)
	}
	price, currency, err := d.request.Price(shipping.DocumentType(s.document))
	if err != nil {
		return c, s.notBought(d, err)
	}
	return cost{exact(price), exact(most), currency}, unknown
}

// notBought returns the reason why nothing is purchased.
func (s *session) notBought(d draft, err error) missing {
	reason := strings.NewReplacer("shipping: ", "", "; nothing was purchased", "", "over budget: ", "",
		"raise the budget or select fewer documents", "raise the limit").Replace(err.Error())
	return missing{NotRun, fmt.Sprintf("%s%s for at most %s (-most, WithPurchase): %s; the draft offers %s", notBought,
		s.document, s.most, reason, joined(slices.Clone(d.slugs)))}
}

// exact returns an amount of a draft.
func exact(a shipping.Amount) *big.Rat {
	n, _ := new(big.Rat).SetString(a.String()) // a known amount
	return n
}

// decimals writes a number with two decimals.
func decimals(n *big.Rat) string {
	if n == nil {
		return ""
	}
	return n.FloatString(2)
}
