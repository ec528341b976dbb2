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
// Assumption: the bodies below, that each response has the whole record, and that an edit replaces
// a field as a whole. To switch, change this file.

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
	specEdits        = "Endpoints: editing the draft covers items, addresses, shipping (invoice flow only) and per-form regulatory profiles"
	specShippingFlow = "Typical regulatory workflow: update items, addresses, shipping (invoice flow only)"
)

// UpdateItems replaces the items of a draft and determines which documents they require. A document
// that is no longer required is removed with its profile; one that stays keeps its
// stored amount; a new one is priced at the exchange rate of analyze time.
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
			return &Refusal{
				Code: CodeShipmentFlow, Rule: specShippingFlow,
				Message: fmt.Sprintf("request %s was analyzed from shipment %s: shipping can be edited in the invoice flow only", next.RequestID, next.ShipmentID),
			}
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
				return &Refusal{Code: CodeNotOffered, Rule: specEdits,
					Message: fmt.Sprintf("request %s does not offer %s; it offers %s", next.RequestID, slug, next.offers())}
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
			return refuseProblems(CodeInvalidProfile, specEdits, []Problem{{Field: slug, Reason: "must be an object of JSON values: " + err.Error()}})
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
	next := record.draft()
	if err := change(next); err != nil {
		return nil, err
	}
	d.fire(next, TriggerEdit)
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
