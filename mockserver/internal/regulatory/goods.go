package regulatory

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

var isShipmentID = regexp.MustCompile(`^SH-[0-9A-Za-z]{1,64}$`).MatchString

type Consignment struct {
	// Items may have no ids; the service then adds them.
	Items     []LineItem
	Addresses Addresses
	// Shipping is used for invoices only.
	Shipping Shipping
	// Offers are the documents that an analysis offers, without currency; nil selects them by the rules.
	Offers []AvailableDocument
}

// Check returns an error that lists the problems of the goods.
func (c *Consignment) Check() error {
	problems := slices.Concat(checkItems(c.Items),
		checkAddress("from", &c.Addresses.Origin), checkAddress("to", &c.Addresses.Destination))
	if len(problems) == 0 {
		return nil
	}
	return errors.New(refuseProblems(CodeInvalidRequest, "", problems).Message)
}

// Addable returns an error if no consignment can be added for an input: it is special, or its URL is invalid.
func (in AnalyzeInput) Addable() error {
	if _, special := specialInput(in); special {
		return fmt.Errorf("%s%s is a special input, with its own effect: choose another", in.ShipmentID,
			in.FileURL)
	}
	if in.ShipmentID != "" && !isShipmentID(in.ShipmentID) {
		return errors.New("shipment_id must be SH- followed by at most 64 letters and digits")
	}
	if problems := in.check(); len(problems) > 0 {
		return errors.New(problems[0].Field + " " + problems[0].Reason)
	}
	return nil
}

// Offers returns the offers of documents whose prices a test chooses.
func (d *Service) Offers(documents []goods.Document) ([]AvailableDocument, error) {
	offers := []AvailableDocument{}
	for i, document := range documents {
		slug := string(document.DocumentType)
		form, known := d.config.Rules().Form(slug)
		switch {
		case !known:
			return nil, fmt.Errorf("documents[%d]: unknown document type %q%s", i, slug,
				spelling.Suggestion(slug, compliance.Slugs()))
		case slices.ContainsFunc(offers, func(o AvailableDocument) bool { return o.DocumentType == slug }):
			return nil, fmt.Errorf("documents[%d]: %s is listed twice", i, slug)
		case !document.Amount.Known() || document.Amount.Sign() < 0:
			return nil, fmt.Errorf("documents[%d]: the amount of %s must be a number that is not negative", i, slug)
		case document.Mode != "" && document.Mode != compliance.ModeAutomated && document.Mode != compliance.ModeManual:
			return nil, fmt.Errorf("documents[%d]: the mode is automated or manual, not %q", i, document.Mode)
		}
		for name, amount := range document.Beside {
			member, err := jsontext.Encode(map[string]int{name: 0})
			if _, free := jsonread.UnknownMember(member, new(AvailableDocument)); err != nil || !free || !amount.Known() {
				return nil, fmt.Errorf("documents[%d]: beside has %q: use a number, and a name that an offer does not have",
					i, name)
			}
		}
		offer := AvailableDocument{
			DocumentType: slug, Name: form.Title, Mode: form.Mode, Amount: document.Amount,
			Reasons: []compliance.Reason{}, ProfileFields: form.ProfileFields(), beside: document.Beside,
		}
		if document.Mode != "" {
			offer.Mode = document.Mode
		}
		offers = append(offers, offer)
	}
	return offers, nil
}
