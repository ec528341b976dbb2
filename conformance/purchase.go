package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// purchase sends a purchase of one document. Every purchase that a service may charge is sent here, at most as
// often as [WithWrites] and [WithSecondPurchase] allow.
func (s *session) purchase(id string, bought offer) response {
	if s.suspended != nil {
		return response{lost: errors.New(s.suspended.reason)}
	}
	allowed := 0
	if s.writes {
		allowed++
	}
	if s.secondPurchase {
		allowed++
	}
	if s.charged >= allowed {
		return response{lost: fmt.Errorf("not sent: only %d purchases are allowed", allowed)}
	}
	s.charged++
	s.sent(Purchase{RequestID: id, DocumentType: bought.slug, Price: bought.price.FloatString(2), Currency: bought.currency})
	return s.post(purchasePath, map[string]any{"request_id": id, "document_types": []string{bought.slug}})
}

// sent records a purchase, before it is sent.
func (s *session) sent(p Purchase) {
	p.RequestID, p.DocumentType, p.Currency = printable(p.RequestID), printable(p.DocumentType), printable(p.Currency)
	s.report.Purchases = append(s.report.Purchases, p)
}

// offer is a document that can be bought.
type offer struct {
	slug     string
	price    *big.Rat // nil: not known
	currency string
}

// cheapest returns the document that a purchase costs least for, of those that need no evidence from a person. It
// fails if what that would cost is not known.
func cheapest(draft map[string]any) (best offer, err error) {
	offers := map[string]offer{}
	for _, document := range documents(draft) {
		o := offered(document)
		if o.slug == "" || document["mode"] == "manual" {
			continue
		}
		if _, twice := offers[o.slug]; twice {
			o.price = nil
		}
		offers[o.slug] = o
	}
	currencies := map[string]bool{}
	for _, o := range offers {
		if o.price == nil {
			continue
		}
		currencies[o.currency] = true
		if best.price == nil || o.price.Cmp(best.price) < 0 || o.price.Cmp(best.price) == 0 && o.slug < best.slug {
			best = o
		}
	}
	switch {
	case len(offers) == 0:
		return best, errors.New("the draft offers no document that a machine generates: name other goods")
	case best.price == nil:
		return best, errors.New("no price on the draft can be relied on: each document needs one, as a number in amount or price")
	case len(currencies) > 1:
		return best, fmt.Errorf("the prices on the draft are in several currencies: %s", joined(currencies))
	}
	return best, nil
}

// offered reads a document of a draft. The specification names neither its members nor that of its price, so that
// every member with "amount" or "price" in its name counts. Its price is known if these are numbers and agree.
func offered(document map[string]any) offer {
	var o offer
	for _, name := range []string{"document_type", "slug", "type"} {
		if slug, ok := document[name].(string); ok && o.slug == "" {
			o.slug = slug
		}
	}
	o.currency, _ = document["currency"].(string)
	known := true
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
