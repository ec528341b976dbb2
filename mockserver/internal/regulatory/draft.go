package regulatory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
)

// The edits of a draft are named in the specification ("Editing the draft covers items, addresses,
// shipping (invoice flow only) and per-form regulatory profiles") without paths or bodies.
//
// Assumption: the bodies below, that each response has the whole record, and that an edit replaces
// a field as a whole.

// ItemsUpdate replaces the line items of a draft.
type ItemsUpdate struct {
	// LineItems are all the items; items that are not listed are removed. An item keeps its item_id,
	// which must be well-formed; an item without one gets a new one.
	LineItems []LineItem `json:"line_items"`
}

// AddressesUpdate replaces one or both addresses of a draft.
type AddressesUpdate struct {
	// Origin and Destination are unchanged if nil.
	Origin      *Address `json:"origin"`
	Destination *Address `json:"destination"`
}

// Rules for edits.
const (
	specEdits = "Endpoints: editing the draft covers items, addresses, shipping (invoice flow only) and " +
		"per-form regulatory profiles"
	specShippingFlow = "Typical regulatory workflow: update items, addresses, shipping (invoice flow only)"
)

// UpdateItems replaces the items of a draft and determines which documents they require. A document
// that is no longer required is removed with its profile; one that stays keeps its
// stored amount; a new one is priced at the exchange rate of the analysis.
func (d *Service) UpdateItems(requestID string, in ItemsUpdate) (*Record, error) {
	return d.edit(requestID, checkItems(in.LineItems), func(next *Record) error {
		next.LineItems = d.identified(in.LineItems)
		return d.match(next)
	})
}

// UpdateAddresses replaces the addresses in the body and determines which documents the
// consignment requires, as [Service.UpdateItems] does.
func (d *Service) UpdateAddresses(requestID string, in AddressesUpdate) (*Record, error) {
	problems := append(checkAddress("origin", in.Origin), checkAddress("destination", in.Destination)...)
	if in.Origin == nil && in.Destination == nil {
		problems = []Problem{{Field: "origin", Reason: "or destination is required; send one or both"}}
	}
	return d.edit(requestID, problems, func(next *Record) error {
		if in.Origin != nil {
			next.Addresses.Origin = *in.Origin
		}
		if in.Destination != nil {
			next.Addresses.Destination = *in.Destination
		}
		return d.match(next)
	})
}

// UpdateShipping replaces the shipping details. It is refused with [CodeShipmentFlow] unless the
// request was analyzed from an invoice.
func (d *Service) UpdateShipping(requestID string, in Shipping) (*Record, error) {
	return d.edit(requestID, checkShipping(in), func(next *Record) error {
		if next.Source != FlowInvoice {
			return refuse(CodeShipmentFlow, specShippingFlow,
				"request %s was analyzed from shipment %s: shipping can be edited in the invoice flow "+
					"only", next.RequestID, next.ShipmentID)
		}
		next.Shipping = &in
		return nil
	})
}

// UpdateProfile replaces the profile of a form. A profile may be incomplete. It is
// refused with [CodeInvalidProfile], which lists all problems, if a field is unknown or a value has
// the wrong type, and with [CodeNotOffered] if the draft does not offer the form.
//
// Assumption: the profile of a form that no goods require (OTHER) adds that form to the draft.
func (d *Service) UpdateProfile(requestID, slug string, profile Profile) (*Record, error) {
	return d.edit(requestID, nil, func(next *Record) error {
		form, known := d.config.Rules().Form(slug)
		if !known {
			return notFound("document type", slug, "use one in available_documents of the request")
		}
		if _, offered := next.offered(slug); !offered {
			if !form.OnRequest() {
				return refuse(CodeNotOffered, specEdits, "request %s does not offer %s; it offers %s", next.RequestID, slug,
					next.offers())
			}
			offer, err := d.offer(next, form)
			if err != nil {
				return err
			}
			next.AvailableDocuments = append(slices.Clip(next.AvailableDocuments), offer)
		}
		if problems := form.Check(profile); len(problems) > 0 {
			return refuseProblems(CodeInvalidProfile, specEdits, problems)
		}
		compact, err := profile.compacted()
		if err != nil {
			return refuseProblems(CodeInvalidProfile, specEdits,
				[]Problem{{Field: slug, Reason: "must be an object of JSON values: " + err.Error()}})
		}
		next.Profiles[slug] = compact
		return nil
	})
}

// edit changes a draft, or changes nothing and returns the refusal. A refusal for the state of the
// request takes precedence over one for the edit.
func (d *Service) edit(requestID string, problems []Problem, change func(next *Record) error) (*Record, error) {
	record, err := d.open(requestID, TriggerEdit)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, refuseProblems(CodeInvalidRequest, specEdits, problems)
	}
	next := record.clone()
	if err := change(next); err != nil {
		return nil, err
	}
	return d.store(next), nil
}

// compacted returns a copy without white space and without null fields.
func (p Profile) compacted() (Profile, error) {
	compact := make(Profile, len(p))
	for name, value := range p {
		var buffer bytes.Buffer
		if err := json.Compact(&buffer, value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if buffer.String() != "null" {
			compact[name] = buffer.Bytes()
		}
	}
	return compact, nil
}

const incoterms = "EXW FCA FAS FOB CFR CIF CPT CIP DAP DPU DDP"

func checkItems(items []LineItem) []Problem {
	if len(items) == 0 {
		return []Problem{{Field: "line_items", Reason: "must hold at least one item"}}
	}
	var problems []Problem
	seen := make(map[string]int)
	for i, item := range items {
		first, repeated := seen[item.ItemID]
		if item.ItemID != "" {
			seen[item.ItemID] = i
		}
		for _, rule := range []struct {
			broken        bool
			field, reason string
		}{
			{repeated, "item_id", fmt.Sprintf("must not be that of line_items[%d]; leave it out for a new item", first)},
			{item.ItemID != "" && !isItemID(item.ItemID), "item_id",
				"must be IT- and letters and digits; leave it out for a new item"},
			{strings.TrimSpace(item.Description) == "", "description", "must describe the item"},
			{item.HSCode != "" && hsDigits(item.HSCode) == "", "hs_code",
				"must have 2, 4, 6, 8, 10 or 12 digits (spreadsheets drop a leading zero)" + not(item.HSCode) +
					"; leave it out if unknown"},
			{item.Quantity < 1, "quantity", "must be at least 1, as a whole number"},
			{!item.UnitPrice.Known() || item.UnitPrice.Sign() < 0, "unit_price",
				"must be a number that is not negative, of at most 18 digits"},
			{!isCurrency(item.Currency), "currency", "must be a three-letter code such as USD" + not(item.Currency)},
			{isUnreadable(item.Weight) || item.Weight.Sign() < 0, "weight",
				"must be a number of kilograms that is not negative, of at most 18 digits"},
			{item.OriginCountry != "" && !isCountry(item.OriginCountry), "origin_country",
				"must be a two-letter code such as CN, or left out" + not(item.OriginCountry)},
		} {
			if rule.broken {
				problems = append(problems, Problem{Field: fmt.Sprintf("line_items[%d].%s", i, rule.field), Reason: rule.reason})
			}
		}
	}
	return problems
}

// not completes the reason of a problem with the value that was sent, if any.
func not(value string) string {
	if value == "" {
		return ""
	}
	return ", not " + spelling.Quote(value)
}

// checkAddress checks the country, on which documents depend. The other fields are free text.
func checkAddress(end string, address *Address) []Problem {
	if address == nil || isCountry(address.Country) {
		return nil
	}
	return []Problem{{Field: end + ".country", Reason: "must be a two-letter code such as US" + not(address.Country)}}
}

func checkShipping(s Shipping) []Problem {
	var problems []Problem
	if s.Incoterm != "" && !slices.Contains(strings.Fields(incoterms), s.Incoterm) {
		problems = append(problems, Problem{Field: "incoterm", Reason: "must be one of " + incoterms + not(s.Incoterm)})
	}
	if s.EstimatedArrival != "" && !isTime(s.EstimatedArrival) {
		problems = append(problems, Problem{Field: "estimated_arrival",
			Reason: "must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00.000Z" +
				not(s.EstimatedArrival)})
	}
	return problems
}

func isUnreadable(number shipping.Amount) bool {
	_, err := number.MarshalJSON()
	return err != nil
}

func isTime(text string) bool {
	_, dateErr := time.Parse(time.DateOnly, text)
	_, timeErr := time.Parse(time.RFC3339, text)
	return dateErr == nil || timeErr == nil
}

var (
	isItemID   = regexp.MustCompile(`^IT-[0-9A-Za-z]+$`).MatchString
	isCountry  = regexp.MustCompile(`^[A-Z]{2}$`).MatchString
	isCurrency = regexp.MustCompile(`^[A-Z]{3}$`).MatchString
	isHSCode   = regexp.MustCompile(`^([0-9]{2}){1,6}$`).MatchString
)

// hsDigits returns an HS code without dots, spaces and hyphens, or ""
// if the text is not an HS code.
func hsDigits(code string) string {
	digits := strings.NewReplacer(".", "", " ", "", "-", "").Replace(code)
	if !isHSCode(digits) {
		return ""
	}
	return digits
}

// Quantity is a number of pieces. In JSON it is a whole number in any notation: 2, 2.0 and 2e0 are equal.
type Quantity int

// UnmarshalJSON implements [json.Unmarshaler]. A value that is not a whole number leaves 0, without an error, so that
// the rest of the body is read; 0 is refused together with the other problems.
func (q *Quantity) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return nil
	}
	number, _ := shipping.ParseAmount(string(text))          // unknown if it is not a number
	if n, err := strconv.Atoi(number.String()); err == nil { // without decimals if it is whole
		*q = Quantity(n)
	}
	return nil
}
