package conformance

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/evidence"
)

// purchase sends a purchase, unless something is missing that it needs. The report lists those that are sent.
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
	bought, unknown := cheapest(d, s.priceName())
	if s.most != "" {
		bought, unknown = provable(d, s.priceName(), s.most)
	}
	need := cmp.Or(d.missing, unknown)
	order := Purchase{RequestID: d.id, DocumentType: bought.slug,
		Price: cmp.Or(bought.price, new(big.Rat)).FloatString(2), Currency: bought.currency, AtMost: s.most != ""}
	before := s.readWallet(s.walletOf(d), need)
	first := s.purchase(order, []string{bought.slug}, "", need)
	done := cmp.Or(first.missing, unless(len(first.problems()) == 0, NotRun, "needs a purchase"))
	states, final, unread := s.follow(d.id, done)
	after := s.readWallet(before.id, done)
	s.proof = proof{missing: cmp.Or(done, unread), offer: bought, draft: d, confirmed: first.data(), final: final,
		before: before, after: after, ended: stages[states[len(states)-1]] == 4}
	if done == (missing{}) {
		s.measurePurchase(first, states)
	}
	if debit, _, problem := s.proof.paid(after); s.most != "" && problem == "" {
		bought.price, _ = rational(debit["amount"])
		s.report.Purchases[0].Paid = bought.price.FloatString(2)
	}
	once := before.charged(after, bought.price, d)

	need = cmp.Or(done, unless(s.secondPurchase, Skipped, needsSecondPurchase),
		unless(once.missing == (missing{}) && len(once.problems) == 0, NotRun,
			"needs the charge of the first purchase among the transactions: without it nothing shows a second charge"))
	again := s.purchase(order, []string{bought.slug}, "", need)
	twice := once.after.charged(s.readWallet(before.id, need), nil, d)

	end, known := states[len(states)-2], cmp.Or(unread, unless(states[0] != "", NotRun, "needs the status of the request"))
	s.judge([]check{
		{headingRegulatory, "purchase succeeds, in the envelope, for document types of the draft", first.missing,
			first.problems(), stated},
		{headingStates, "a purchased request is not a draft", unread,
			problem(stages[states[0]] < 2 && s.known.Record.States[states[0]] != "generating", "status is %q", states[0]),
			stated},
		{headingStates, "a purchased request ends in completed or failed, by way of purchasing and processing only",
			cmp.Or(known, unless(!generating(end), NotRun,
				fmt.Sprintf("still %s after %s: raise the limit with -patience, or WithPatience in Go", end, s.patience))),
			problem(stages[end] != 4, "status is %q after the purchase", end), stated},
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

// stages is the order of the states of a request.
var stages = map[string]int{"draft": 1, "purchasing": 2, "processing": 3, "completed": 4, "failed": 4}

// generating reports whether a purchased request is not at its end: "Poll until status is completed or failed." A state
// that the specification does not list is one before its end.
func generating(state string) bool { return state != "" && stages[state] != 1 && stages[state] != 4 }

// follow returns the states of a purchased request until its end, the one that it has when it is read again, and that
// record.
func (s *session) follow(id string, need missing) (states []string, final map[string]any, unread missing) {
	read := func() string {
		a := s.call("regulatory.get", request{id: id}, need)
		final = recordOf(a)
		for name := range final {
			s.recordMembers[name] = true
		}
		state, _ := final["status"].(string)
		states, need = append(states, state), a.missing
		return state
	}
	s.poll(func() bool { return generating(read()) })
	read()
	return states, final, need
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
		problems = append(problems,
			problem(to > 0 && (to < from || to == from && state != seen[i]), "status is %q, and %q later", seen[i], state)...)
	}
	return problems
}

// offer is a document that can be bought.
type offer struct {
	slug     string
	price    *big.Rat // nil: not known
	currency string
	manual   bool // it needs evidence from a person
	shown    []evidence.Shown
}

// largest returns the largest number of an offer, and how many different ones it has outside lists, where a price can
// be. It is not readable if something in it can be an amount and cannot be read, or is negative.
func (o offer) largest() (most decimal.Number, different int, readable bool) {
	numbers := map[decimal.Number]bool{}
	readable = o.slug != "" && !o.manual
	for _, v := range o.shown {
		readable = readable && !v.Unreadable() && (!v.Number || v.Plain.Sign() >= 0)
		if !v.Number {
			continue
		}
		if v.Path != "" {
			numbers[v.Plain] = true
		}
		if v.Most.Cmp(most) > 0 {
			most = v.Most
		}
	}
	return most, len(numbers), readable && len(numbers) > 0
}

// currencyCode matches texts such as NGN.
var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// currencies returns the texts of an offer that can be currencies.
func (o offer) currencies() (codes []string) {
	for _, v := range o.shown {
		if v.Currency || currencyCode.MatchString(v.Text) && v.Text != o.slug {
			codes = append(codes, v.Text)
		}
	}
	return codes
}

// in reports whether an offer shows no currency but that of a code.
func (o offer) in(code string) bool {
	differs := func(other string) bool { return !evidence.SameCurrency(other, code) }
	return code == "" || !slices.ContainsFunc(o.currencies(), differs)
}

// provable returns the cheapest document of those whose debit shows the most about their offer, and whose numbers are
// at most an amount, such as "2000.00 NGN". If the dialect names the price, the cheapest with that price.
func provable(d draft, named, most string) (best offer, unknown missing) {
	amount, code, _ := strings.Cut(most, " ")
	limit, err := decimal.Parse(amount)
	count, least, cheapest := 0, new(big.Rat), decimal.Number{}
	unreadable := "no document that a machine generates has an offer with readable amounts " + code
	for i, o := range d.offers {
		largest, different, readable := o.largest()
		again := slices.ContainsFunc(d.offers[i+1:], func(other offer) bool { return other.slug == o.slug })
		if err != nil || !readable || again || !o.in(code) {
			continue
		}
		cost := fraction(largest)
		if named != "" && o.price != nil {
			different, cost = math.MaxInt, o.price
		}
		if o.price = fraction(largest); cheapest.Sign() == 0 || largest.Cmp(cheapest) < 0 {
			cheapest = largest
			unreadable = fmt.Sprintf("the offer with the smallest numbers is %s, with up to %s, and -most is %s", o.slug,
				strings.TrimSpace(o.price.FloatString(2)+" "+o.currency), most)
		}
		if largest.Cmp(limit) <= 0 && (different > count || different == count && cost.Cmp(least) < 0) {
			best, count, least = o, different, cost
		}
	}
	return best, unless(best.slug != "", NotRun, "nothing was bought: "+unreadable)
}

// fraction returns a decimal number.
func fraction(n decimal.Number) *big.Rat {
	exact, _ := new(big.Rat).SetString(string(n.Append(nil, n.Scale)))
	return exact
}

// cheapest returns the document that a purchase costs least for, of those that need no evidence from a person, or why
// it is not known what that would cost. The dialect may name the price.
func cheapest(d draft, named string) (best offer, unknown missing) {
	offers := map[string]offer{}
	for _, o := range d.offers {
		if _, twice := offers[o.slug]; twice {
			o.price = nil
		}
		if o.slug != "" && !o.manual {
			offers[o.slug] = o
		}
	}
	var currencies []string
	for _, o := range offers {
		if o.price != nil {
			currencies = append(currencies, o.currency)
		}
		if o.price != nil && (best.price == nil || cmp.Or(o.price.Cmp(best.price), cmp.Compare(o.slug, best.slug)) < 0) {
			best = o
		}
	}
	several := joined(currencies)
	return best, cmp.Or(
		unless(len(offers) > 0, NotRun,
			"nothing was bought: the draft offers no document that a machine generates: name other goods"),
		unless(best.price != nil, NotRun, "nothing was bought: no price on the draft can be relied on: each document "+
			"needs one, as a number in "+cmp.Or(named, "amount or price")+"; or state the most that the purchase may cost: "+
			"-most (WithMost)"),
		unless(several == best.currency, NotRun,
			"nothing was bought: the prices on the draft are in several currencies: "+several))
}

// memberAt returns the member of an object at a path of at most two names.
func memberAt(object map[string]any, path string) any {
	outer, inner, nested := strings.Cut(path, ".")
	if value, _ := object[outer].(map[string]any); nested {
		return value[inner]
	}
	return object[outer]
}

// priceName returns the name of the price in the dialect, or "".
func (s *session) priceName() string { return strings.TrimPrefix(s.known.Offer.Amount, "-") }

// offered reads a document of a draft. The specification names neither its members nor that of its price, so that
// every member with "amount" or "price" in its name counts, unless the dialect names one. Its price is known if these
// are numbers and agree.
func (s *session) offered(document map[string]any) offer {
	o := offer{shown: evidence.ShownIn(jsonOf(document))}
	o.manual = len(named(document, func(_ string, v any) bool { return v == "manual" })) > 0
	if at := named(document, s.isSlug); len(at) > 0 {
		o.slug, _ = memberAt(document, preferred(at, "document_type")).(string)
	}
	for _, name := range []string{"type", "slug", "document_type"} {
		if slug, _ := document[name].(string); slug != "" {
			o.slug = slug
		}
	}
	o.currency, _ = memberAt(document, cmp.Or(s.known.Offer.Currency, "currency")).(string)
	o.currency = cmp.Or(o.currency, append(o.currencies(), "")[0])
	known, named := true, s.priceName()
	if named != "" {
		document = map[string]any{"price": memberAt(document, named)}
	}
	for name, value := range document {
		if name = strings.ToLower(name); !strings.Contains(name, "amount") && !strings.Contains(name, "price") {
			continue
		}
		if text, ok := value.(string); ok {
			value = json.Number(text)
		}
		price, ok := rational(value)
		known = known && ok && price.Sign() >= 0 && (o.price == nil || price.Cmp(o.price) == 0)
		o.price = price
	}
	if !known {
		o.price = nil
	}
	return o
}
