package regulatory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
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
	// Value is what the profile fills in, else what the draft knows, else empty.
	Value    string
	Required bool
	// Choices are all the values that there are to choose from, in their order; nil for any value.
	Choices []string
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
	choices := map[string][]string{}
	if form, known := d.config.Rules().Form(slug); known {
		sheet.Description = form.Description
		for _, field := range form.Fields {
			choices[field.Name] = field.Values
		}
	}
	drafted := record.drafted(sheet.Items)
	for _, field := range offer.ProfileFields {
		shown := SheetField{
			Label: field.Label, Required: field.Required, Choices: choices[field.Name],
			Value: cmp.Or(fieldText(record.Profiles[slug][field.Name], field.Type), drafted[field.Name]),
		}
		if field.Type == compliance.TypeBoolean {
			shown.Choices = []string{yes, no}
		}
		sheet.Fields = append(sheet.Fields, shown)
	}
	return sheet, nil
}

// drafted returns what the draft itself knows of the fields that forms ask about these items, by the
// names that the fields have in the built-in rules.
//
// Assumption: a form shows it where the profile leaves the field out. To switch, fill the field in.
func (r *Record) drafted(items []LineItem) map[string]string {
	known := map[string]string{}
	if r.Shipping != nil {
		known["incoterm"] = r.Shipping.Incoterm
		known["reason_for_export"] = r.Shipping.ReasonForExport
		known["arrival_port"], known["port_of_clearance"] = r.Shipping.PortOfEntry, r.Shipping.PortOfEntry
		known["arrival_date"], _, _ = strings.Cut(r.Shipping.EstimatedArrival, "T")
	}
	if len(items) == 0 {
		return known
	}
	var names []string
	pieces, origin, inDollars := 0, items[0].OriginCountry, true
	var weight, value total
	for _, item := range items {
		if !slices.Contains(names, item.Description) {
			names = append(names, item.Description)
		}
		pieces += int(item.Quantity)
		weight.add(item.Weight, int(item.Quantity))
		value.add(item.UnitPrice, int(item.Quantity))
		inDollars = inDollars && item.Currency == usdCurrency
		if item.OriginCountry != origin {
			origin = "" // of several countries none is the goods'
		}
	}
	known["common_name"] = strings.Join(names, "; ")
	known["quantity"], known["quantity_unit"] = strconv.Itoa(pieces), "pieces"
	known["species_origin_country"], known["harvest_country"] = origin, origin
	known["weight_kg"] = weight.text()
	if inDollars {
		known["value_usd"] = value.text()
	}
	return known
}

// total is an exact sum that is not known any more once a part of it is not.
type total struct {
	sum     shipping.Amount
	unknown bool
}

func (t *total) add(each shipping.Amount, pieces int) {
	quantity, err := shipping.NewAmount(int64(pieces), 0)
	part, mulErr := each.Mul(quantity)
	sum, addErr := t.sum.Add(part)
	t.sum, t.unknown = sum, t.unknown || !each.Known() || errors.Join(err, mulErr, addErr) != nil
}

func (t *total) text() string {
	if t.unknown {
		return ""
	}
	return t.sum.String()
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

// How a form prints true and false.
const yes, no = "Yes", "No"

// fieldText writes a profile's value as a form shows it.
func fieldText(value json.RawMessage, fieldType string) string {
	var text string
	switch {
	case len(value) == 0:
		return ""
	case json.Unmarshal(value, &text) == nil:
		return text
	case string(value) == "true":
		return yes
	case string(value) == "false":
		return no
	case fieldType == compliance.TypePercent:
		return string(value) + " %"
	default:
		return string(value)
	}
}
