package regulatory

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
)

// AnalyzeInput is the body of an analyze call.
//
// Specification: "Regulatory documents": POST /analyze takes shipment_id or file_url.
type AnalyzeInput struct {
	ShipmentID string `json:"shipment_id"`
	FileURL    string `json:"file_url"`
	// Wallet is charged by a later purchase. Assumption: the specification only mentions "the user's
	// wallet"; the default is the account's first.
	Wallet string `json:"wallet"`
}

const (
	specAnalyze      = "POST /analyze: shipment_id (shipment flow) or file_url (invoice flow)"
	specAnalyzeFails = "States and transitions: analysis fails, the request is failed"
	specPricing      = "Pricing rules: amounts are converted into the user's wallet currency at analyze time"
	usdCurrency      = "USD" // of the rules' prices
	priceDecimals    = 2
)

// InWorld is the end of advice to use a record that the world has. It does not contain the name of the world, which is
// a part of its key: clients withhold a text with a part of the key.
const InWorld = "GET /_mock/worlds/NAME lists (NAME: home, or SCENARIO_NAME of the key; in Go: World.Shipments)"

// Analyze opens a request: a draft with the documents that the goods require, priced in the wallet's
// currency at the current exchange rate. Exactly one of shipment id and file URL is required.
//
// If the analysis fails, Analyze stores a failed record; the [*Refusal] has [CodeAnalysisFailed] and the request id in
// its data. An unknown shipment or wallet is [CodeNotFound], and a malformed body [CodeInvalidRequest]; both store
// nothing.
//
// Assumption: each price is the form's price in US dollars times the rate, rounded half up to two
// decimals. To switch, use other rules or rates.
func (d *Service) Analyze(in AnalyzeInput) (*Record, error) {
	if problems := in.check(); len(problems) > 0 {
		return nil, refuseProblems(CodeInvalidRequest, specAnalyze, problems)
	}
	wallets := d.config.Ledger.Wallets()
	i := slices.IndexFunc(wallets, func(w ledger.Wallet) bool { return in.Wallet == "" || w.Reference == in.Wallet })
	if i < 0 {
		return nil, notFound("wallet", in.Wallet, "use the account_reference of a transaction, or leave the wallet out")
	}
	special, isSpecial := specialInput(in)
	goods, known := special.goods(), true
	if !isSpecial {
		goods, known = d.config.Goods(in)
	}
	if in.ShipmentID != "" && !known {
		advice := "use one that " + InWorld + ", or send file_url"
		if strings.HasPrefix(in.ShipmentID, "RD-") {
			advice = "that is the id of a regulatory request, which was analyzed already; " + advice
		}
		return nil, notFound("shipment", in.ShipmentID, advice)
	}
	next := &Record{
		RequestID: d.config.NewID("RD"), Source: FlowShipment, ShipmentID: in.ShipmentID,
		Wallet: wallets[i].Reference, Currency: wallets[i].Currency,
		LineItems: []LineItem{}, AvailableDocuments: []AvailableDocument{}, Profiles: map[string]Profile{},
		script: special.script,
	}
	if in.FileURL != "" {
		next.Source, next.FileURL = FlowInvoice, in.FileURL
	}
	if reason := d.fill(next, goods, known); reason != "" {
		return nil, d.failAnalysis(next, reason)
	}
	d.fire(next, triggerAnalyzed)
	return d.store(next), nil
}

func (in AnalyzeInput) check() []Problem {
	switch {
	case in.ShipmentID == "" && in.FileURL == "":
		return []Problem{{Field: "shipment_id", Reason: "or file_url is required; send one of them"}}
	case in.ShipmentID != "" && in.FileURL != "":
		return []Problem{{Field: "shipment_id", Reason: "and file_url cannot be sent together; send one"}}
	case in.FileURL == "":
		return nil
	}
	if u, err := url.Parse(in.FileURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return []Problem{{Field: "file_url", Reason: "must be an absolute http or https URL, such as " +
			"https://invoices.example/1001.pdf"}}
	}
	return nil
}

// noInvoice is the reason for an address without an invoice; the address follows.
const noInvoice = "no invoice could be read at "

// fill sets the goods and their priced documents on the record, or returns why the analysis fails.
func (d *Service) fill(next *Record, goods Consignment, known bool) (failure string) {
	switch {
	case next.script.failAnalysis != "":
		return next.script.failAnalysis
	case !known:
		return noInvoice + shorten(next.FileURL)
	}
	if problems := checkItems(goods.Items); len(problems) > 0 {
		return problems[0].Field + " " + problems[0].Reason
	}
	next.exchangeRate = d.config.ExchangeRates[next.Currency]
	if next.exchangeRate.Sign() <= 0 {
		return fmt.Sprintf("no exchange rate from %s to %s: set one above zero with SetExchangeRate", usdCurrency,
			next.Currency)
	}
	next.LineItems = d.identified(goods.Items)
	next.Addresses = goods.Addresses
	if next.Source == FlowInvoice {
		next.Shipping = &goods.Shipping
	}
	if next.chosen = goods.Offers != nil; next.chosen {
		next.AvailableDocuments = slices.Clone(goods.Offers)
		for i := range next.AvailableDocuments {
			next.AvailableDocuments[i].Currency = next.Currency
		}
	}
	if err := d.match(next); err != nil {
		return err.Error()
	}
	return ""
}

func (d *Service) failAnalysis(next *Record, reason string) *Refusal {
	next.FailureReason = "Analysis failed: " + reason
	d.fire(next, triggerAnalysisFailed)
	stored := d.store(next)
	correct := "correct the input and analyze again"
	if strings.HasPrefix(reason, noInvoice) {
		correct = "add it with POST /_mock/invoices and the same Authorization (in Go: World.AddInvoice) and analyze " +
			"again, or use one that " + InWorld
	}
	return refuse(CodeAnalysisFailed, specAnalyzeFails,
		"%s: %s (request %s)",
		reason, correct, stored.RequestID).of(stored)
}

// identified returns a copy of items, each with an id and its HS code in digits.
func (d *Service) identified(items []LineItem) []LineItem {
	items = slices.Clone(items)
	for i := range items {
		if items[i].ItemID == "" {
			items[i].ItemID = d.config.NewID("IT")
		}
		items[i].HSCode = hsDigits(items[i].HSCode)
	}
	return items
}

// match determines which documents the goods on next require, and removes the profiles of documents
// that are no longer required.
//
// A document that was on the draft before keeps its stored amount; a new one is priced at the rate of analyze time,
// which the record stores. A draft is therefore never re-priced
// (specification: "Amounts are converted into the user's wallet currency at analyze time").
func (d *Service) match(next *Record) error {
	if next.chosen {
		return nil
	}
	var items []compliance.Item
	for _, item := range next.LineItems {
		items = append(items, compliance.Item{ID: item.ItemID, Description: item.Description, HSCode: item.HSCode})
	}
	matches := d.config.Rules().Match(next.Addresses.Origin.Country, next.Addresses.Destination.Country, items)
	offers := make([]AvailableDocument, 0, len(matches))
	for _, m := range matches {
		offer, err := d.offer(next, m.Form)
		if err != nil {
			return err
		}
		offer.Reasons = m.Reasons
		offers = append(offers, offer)
	}
	for _, earlier := range next.AvailableDocuments {
		if form, known := d.config.Rules().Form(earlier.DocumentType); known && form.OnRequest() {
			offers = append(offers, earlier)
		}
	}
	next.AvailableDocuments = offers
	for slug := range next.Profiles {
		if _, offered := next.offered(slug); !offered {
			delete(next.Profiles, slug)
		}
	}
	return nil
}

// offer returns the offer for a form, at its previous amount or at its price.
func (d *Service) offer(next *Record, form *compliance.Form) (AvailableDocument, error) {
	if earlier, offered := next.offered(form.Slug); offered {
		return earlier, nil
	}
	price, err := form.PriceUSD.Mul(next.exchangeRate)
	if err != nil {
		return AvailableDocument{}, refuse(CodeNotPriced, specPricing,
			"cannot convert the price of %s to %s: %v; use another wallet", form.Slug, next.Currency, err)
	}
	return AvailableDocument{
		DocumentType: form.Slug, Name: form.Title, Mode: form.Mode, Amount: price.Round(priceDecimals),
		Currency: next.Currency,
		Reasons:  []compliance.Reason{}, ProfileFields: form.ProfileFields(),
	}, nil
}
