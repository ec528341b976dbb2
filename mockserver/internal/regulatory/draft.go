package regulatory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// The edits of a draft are named in the specification ("Editing the draft covers items, addresses,
// shipping (invoice flow only) and per-form regulatory profiles") without paths or bodies.
//
// Assumption: the bodies below, that each answers with the whole record, and that an edit replaces
// what it names as a whole. There is no switch.

// ItemsUpdate replaces the line items of a draft.
type ItemsUpdate struct {
	// LineItems are all the items; one that is not listed is removed. An item keeps the item_id that
	// it brings, which must have the form of one, and is given one if it brings none.
	LineItems []LineItem `json:"line_items"`
}

// AddressesUpdate replaces one or both addresses of a draft.
type AddressesUpdate struct {
	// Origin and Destination are left as they are where nil.
	Origin      *Address `json:"origin"`
	Destination *Address `json:"destination"`
}

// What an edit may be refused by.
const (
	specEdits        = "Endpoints: editing the draft covers items, addresses, shipping (invoice flow only) and per-form regulatory profiles"
	specShippingFlow = "Typical regulatory workflow: update items, addresses, shipping (invoice flow only)"
)

// UpdateItems replaces the items of a draft and works out anew which documents they need. A document
// that nothing needs any more leaves the draft and takes its profile along; one that stays keeps its
// stored amount; a new one is priced at the exchange rate of analyze time.
func (d *Desk) UpdateItems(requestID string, in ItemsUpdate) (*Record, error) {
	return d.edit(requestID, checkItems(in.LineItems), func(next *Record) *Refusal {
		next.LineItems = d.identified(in.LineItems)
		return d.match(next)
	})
}

// UpdateAddresses replaces the addresses that are given and works out anew which documents the
// consignment needs, as [Desk.UpdateItems] does.
func (d *Desk) UpdateAddresses(requestID string, in AddressesUpdate) (*Record, error) {
	problems := append(checkAddress("origin", in.Origin), checkAddress("destination", in.Destination)...)
	if in.Origin == nil && in.Destination == nil {
		problems = []Problem{{"origin", "or destination is required; send one or both"}}
	}
	return d.edit(requestID, problems, func(next *Record) *Refusal {
		if in.Origin != nil {
			next.Addresses.Origin = *in.Origin
		}
		if in.Destination != nil {
			next.Addresses.Destination = *in.Destination
		}
		return d.match(next)
	})
}

// UpdateShipping replaces how the goods travel. It is refused with [CodeShipmentFlow] unless the
// request was analyzed from an invoice.
func (d *Desk) UpdateShipping(requestID string, in Shipping) (*Record, error) {
	return d.edit(requestID, checkShipping(in), func(next *Record) *Refusal {
		if next.Source != FlowInvoice {
			return &Refusal{
				Code: CodeShipmentFlow, Rule: specShippingFlow,
				Message: fmt.Sprintf("request %s was analyzed from shipment %s, whose shipping is known: shipping is edited in the invoice flow only", next.RequestID, next.ShipmentID),
			}
		}
		next.Shipping = &in
		return nil
	})
}

// UpdateProfile replaces what was filled in for one form. A profile may be partly filled; it is
// refused with [CodeInvalidProfile], every problem named, where a field is unknown or a value is of
// another type, and with [CodeNotOffered] where the draft does not offer the form.
//
// Assumption: the profile of a form that no goods call for (OTHER) puts that form on the draft. To
// switch, set [Settings.NoOther].
func (d *Desk) UpdateProfile(requestID, slug string, profile Profile) (*Record, error) {
	return d.edit(requestID, nil, func(next *Record) *Refusal {
		form, known := d.config.Rules().Form(slug)
		if !known {
			return notFound("document type", slug, "use one that the request offers in available_documents")
		}
		if _, offered := next.offered(slug); !offered {
			if d.config.Settings.NoOther || !onRequest(form) {
				return &Refusal{Code: CodeNotOffered, Rule: specEdits,
					Message: fmt.Sprintf("request %s does not offer %s; it offers %s", next.RequestID, slug, next.offers())}
			}
			offer, refusal := d.offer(next, form)
			if refusal != nil {
				return refusal
			}
			next.AvailableDocuments = append(slices.Clip(next.AvailableDocuments), offer)
		}
		var problems []Problem
		for _, p := range form.Check(profile, false) {
			problems = append(problems, Problem(p))
		}
		if len(problems) > 0 {
			return refuseProblems(CodeInvalidProfile, specEdits, problems)
		}
		compact, err := profile.compacted()
		if err != nil {
			return refuseProblems(CodeInvalidProfile, specEdits, []Problem{{slug, "must be an object of JSON values: " + err.Error()}})
		}
		next.Profiles[slug] = compact
		return nil
	})
}

// edit changes a draft, or returns why not and changes nothing. What is wrong with the state of the
// request is told before what is wrong with the edit.
func (d *Desk) edit(requestID string, problems []Problem, change func(next *Record) *Refusal) (*Record, error) {
	record, refusal := d.find(requestID)
	if refusal != nil {
		return nil, refusal
	}
	if _, refusal := d.allow(record, TriggerEdit); refusal != nil {
		return nil, refusal
	}
	if len(problems) > 0 {
		return nil, refuseProblems(CodeInvalidRequest, specEdits, problems)
	}
	next := record.draft()
	if refusal := change(next); refusal != nil {
		return nil, refusal
	}
	d.fire(next, TriggerEdit)
	return d.store(next), nil
}

// compacted returns the profile's own copy, without the white space and the fields that are null.
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
