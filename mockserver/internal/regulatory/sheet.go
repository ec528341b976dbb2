package regulatory

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
)

// Sheet returns the content of a generated document. It is refused with [CodeNotFound] if the request
// has not purchased that document, and with [CodeNotGenerated] before the document is generated.
//
// Specification: "an unauthenticated operation generates a regulatory document PDF".
//
// Assumption: the content of the page, and that a generated document is available even if the
// request has not ended, or failed for another document.
func (d *Service) Sheet(requestID, slug string) (formpdf.Document, error) {
	record, err := d.Get(requestID)
	if err != nil {
		return formpdf.Document{}, err
	}
	doc := record.document(slug)
	if doc == nil {
		return formpdf.Document{}, notFound("purchased document", slug,
			"purchase it first, or use one in documents of the request")
	}
	if doc.Status != DocumentGenerated {
		return formpdf.Document{}, refuse(CodeNotGenerated, "assumption: a PDF is available once its document is generated",
			"%s of request %s is %s: read the request until it is generated", slug, requestID, doc.Status).of(record)
	}
	offer, _ := record.offered(slug)
	items := neededFor(record.LineItems, offer.Reasons)
	sheet := formpdf.Document{
		RequestID: record.RequestID, DocumentType: slug, Title: doc.Name,
		Reference: record.ShipmentID + record.FileURL, Date: doc.GeneratedAt.Time,
		Exporter: record.Addresses.Origin.lines(), Importer: record.Addresses.Destination.lines(),
	}
	sheet.Items, sheet.Totals = printed(items)
	if form, known := d.config.Rules().Form(slug); known {
		sheet.Subtitle = form.Description
	}
	drafted := record.drafted(items)
	for _, field := range offer.ProfileFields {
		label := field.Label
		if field.Required {
			label += " (required)"
		}
		value := cmp.Or(fieldText(record.Profiles[slug][field.Name], field.Type), drafted[field.Name])
		sheet.Fields = append(sheet.Fields, formpdf.Field{Label: label, Value: value})
	}
	return sheet, nil
}

// lines returns the lines of an address that are not empty.
func (a Address) lines() []string {
	place := strings.TrimSpace(strings.Join([]string{a.City, a.State, a.PostalCode}, " "))
	all := []string{a.Company, a.Name, a.Line1, a.Line2, place, a.Country, a.Phone, a.Email}
	return slices.DeleteFunc(all, func(line string) bool { return line == "" })
}

// drafted returns the values that the draft has for fields of forms about these items, by the
// names of the fields in the built-in rules.
//
// Assumption: a form shows such a value if the profile does not have the field. To switch, set the field.
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
		weight = weight.plus(item.Weight, int(item.Quantity))
		value = value.plus(item.UnitPrice, int(item.Quantity))
		inDollars = inDollars && item.Currency == usdCurrency
		if item.OriginCountry != origin {
			origin = "" // several countries: there is no common origin
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

// total is an exact sum. It is unknown if a part of it is unknown.
type total struct {
	sum     shipping.Amount
	unknown bool
}

// plus adds the amount of so many pieces.
func (t total) plus(each shipping.Amount, pieces int) total {
	quantity, err := shipping.NewAmount(int64(pieces), 0)
	part, mulErr := each.Mul(quantity)
	sum, addErr := t.sum.Add(part)
	return total{sum, t.unknown || !each.Known() || errors.Join(err, mulErr, addErr) != nil}
}

// text returns the sum, or nothing if it is not known.
func (t total) text() string {
	if t.unknown {
		return ""
	}
	return t.sum.String()
}

// money returns the sum with at least two decimals, or "" if it is not known.
func (t total) money() string {
	if !t.unknown && t.sum == t.sum.Round(2) {
		return t.sum.StringFixed(2)
	}
	return t.text()
}

// printed returns the items as they are printed on a form, and their sums by currency, in the order in which the
// currencies appear. If the value of an item is not known, its currency has no sum, because a wrong sum on a
// customs form is worse than none.
func printed(lines []LineItem) (items []formpdf.Item, totals []string) {
	var currencies []string
	sums := make(map[string]total)
	for _, line := range lines {
		currency, quantity := strings.ToUpper(line.Currency), int(line.Quantity)
		items = append(items, formpdf.Item{
			Description: line.Description, HSCode: line.HSCode, OriginCountry: line.OriginCountry,
			Quantity: strconv.Itoa(quantity), Currency: currency,
			UnitValue:  cmp.Or(total{}.plus(line.UnitPrice, 1).money(), "-"),
			TotalValue: cmp.Or(total{}.plus(line.UnitPrice, quantity).money(), "-"),
		})
		sum, seen := sums[currency]
		if !seen {
			currencies = append(currencies, currency)
		}
		sums[currency] = sum.plus(line.UnitPrice, quantity)
	}
	for _, currency := range currencies {
		if sum := sums[currency].money(); sum != "" {
			totals = append(totals, strings.TrimSpace(sum+" "+currency))
		}
	}
	return items, totals
}

// neededFor returns the items in reasons, or all if the consignment is a reason.
func neededFor(items []LineItem, reasons []compliance.Reason) []LineItem {
	return slices.DeleteFunc(slices.Clone(items), func(item LineItem) bool {
		about := func(r compliance.Reason) bool { return r.ItemID == "" || r.ItemID == item.ItemID }
		return len(reasons) > 0 && !slices.ContainsFunc(reasons, about)
	})
}

// fieldText formats a profile's value for a form.
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
