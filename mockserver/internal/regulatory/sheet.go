package regulatory

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

// Sheet is what the page of a generated document shows.
type Sheet struct {
	RequestID    string
	DocumentType string
	// Title and Description say what the form is.
	Title, Description string
	// Reference is the shipment id or the invoice URL that the request was analyzed from.
	Reference string
	// GeneratedAt is the date of the document.
	GeneratedAt time.Time
	Addresses   Addresses
	// Shipping is nil in the shipment flow.
	Shipping *Shipping
	// Items are those that the form is needed for: all, where the border is the reason.
	Items []LineItem
	// Fields are all fields of the form, in its order.
	Fields []SheetField
}

// SheetField is a labelled box on the page.
type SheetField struct {
	Label string
	// Value is empty where the profile does not fill the field in.
	Value    string
	Required bool
}

// Sheet returns the page of a generated document. It is refused with [CodeNotFound] where the request
// has not bought that document, and with [CodeNotGenerated] before the document is generated.
//
// Specification: "an unauthenticated operation generates a regulatory document PDF".
//
// Assumption: what the page shows, and that a document can be had when it is generated though the
// request has not ended, or failed for another document. There is no switch.
func (d *Desk) Sheet(requestID, slug string) (Sheet, error) {
	record, refusal := d.find(requestID)
	if refusal != nil {
		return Sheet{}, refusal
	}
	doc := record.document(slug)
	if doc == nil {
		return Sheet{}, notFound("purchased document", slug, "purchase it first, or use one that the request lists in documents")
	}
	if doc.Status != DocumentGenerated {
		return Sheet{}, &Refusal{
			Code: CodeNotGenerated, Rule: "assumption: a PDF is there once its document is generated",
			Message: fmt.Sprintf("%s of request %s is %s: read the request until it is generated", slug, requestID, doc.Status),
			Data:    map[string]any{"request_id": requestID, "status": record.Status},
		}
	}
	offer, _ := record.offered(slug)
	sheet := Sheet{
		RequestID: record.RequestID, DocumentType: slug, Title: doc.Name,
		Reference: record.ShipmentID + record.FileURL, GeneratedAt: doc.GeneratedAt.Time,
		Addresses: record.Addresses, Shipping: record.Shipping, Items: neededFor(record.LineItems, offer.Reasons),
	}
	if form, known := d.config.Rules.Form(slug); known {
		sheet.Description = form.Description
	}
	for _, field := range offer.ProfileFields {
		sheet.Fields = append(sheet.Fields, SheetField{
			Label: field.Label, Required: field.Required, Value: fieldText(record.Profiles[slug][field.Name], field.Type),
		})
	}
	return sheet, nil
}

// neededFor returns the items that are named as reasons, or all if the consignment is one.
func neededFor(items []LineItem, reasons []Reason) []LineItem {
	var needed []LineItem
	for _, item := range items {
		if slices.ContainsFunc(reasons, func(r Reason) bool { return r.ItemID == "" || r.ItemID == item.ItemID }) {
			needed = append(needed, item)
		}
	}
	if len(reasons) == 0 {
		return slices.Clone(items)
	}
	return needed
}

// fieldText writes a profile's value as a form shows it.
func fieldText(value json.RawMessage, fieldType string) string {
	var text string
	switch {
	case len(value) == 0:
		return ""
	case json.Unmarshal(value, &text) == nil:
		return text
	case string(value) == "true":
		return "Yes"
	case string(value) == "false":
		return "No"
	case fieldType == compliance.TypePercent:
		return string(value) + " %"
	default:
		return string(value)
	}
}
