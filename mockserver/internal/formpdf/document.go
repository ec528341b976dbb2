// Package formpdf prints regulatory documents as PDF: forms with numbered boxes, the parties, the
// goods and a line to sign on. They look like the real thing so that what a program does with them
// (store, show, print, attach) can be tested, and say on every page that they are specimens.
//
// The same documents always give the same bytes.
//
// Specification: "Regulatory documents" names an operation that generates a PDF and shows nothing of
// it; the layout is an *Assumption*, and without a switch since nobody should read a PDF by position.
//
// Text is set in Liberation Sans, which is embedded: Latin with all its accents (É, Ł, ṣ), Greek and
// Cyrillic and most currency signs (₦, €) are drawn; a character of another script shows as an empty
// box, though it stays in the text that can be searched and copied.
package formpdf

import (
	"cmp"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// Document is one form, filled in. Every text may be empty.
type Document struct {
	// RequestID is the request that the form belongs to, "RD-…".
	RequestID string
	// DocumentType is the slug, such as "FISH-WILDLIFE"; it stands where a form number does.
	DocumentType string
	// Title and Subtitle name the form and say what it is for.
	Title, Subtitle string
	// Reference is the shipment ("SH-…") or the address of the invoice.
	Reference string
	// Date is when the document was generated. It is printed as a day, in UTC, and that of the first
	// document is the creation date of the file.
	Date time.Time
	// Exporter and Importer are the parties.
	Exporter, Importer Address
	// Fields are what this form asks beyond parties and goods.
	Fields []Field
	// Items are the goods.
	Items []Item
	// Notice is a paragraph above the signature, in place of the usual declaration.
	Notice string
}

// Address is a party to the consignment.
type Address struct {
	Name, Company, Line1, Line2, City, State, PostalCode, Country, Phone, Email string
}

// Field is a labelled box.
type Field struct {
	Label, Value string
	// Required puts a star behind the label.
	Required bool
	// Choices, where given, are printed as tick boxes with the one ticked that equals Value.
	Choices []string
}

// Item is a line of the goods table.
type Item struct {
	Description string
	// HSCode is the tariff code as it is to be printed.
	HSCode string
	// OriginCountry is a country code, such as "CN".
	OriginCountry string
	Quantity      int
	// UnitPrice is the price of one in major units of Currency; line totals are worked out from it.
	UnitPrice shipping.Amount
	Currency  string
}

// lines returns the address as it goes on an envelope.
func (a Address) lines() []string {
	place := joined(" ", joined(", ", a.City, a.State), a.PostalCode)
	var lines []string
	for _, line := range []string{a.Company, a.Name, a.Line1, a.Line2, place, a.Country, prefixed("Tel. ", a.Phone), a.Email} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// joined joins the texts that aren't empty.
func joined(separator, a, b string) string {
	if a == "" || b == "" {
		return cmp.Or(a, b)
	}
	return a + separator + b
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// value returns the line's total as it is printed, and exactly; ok is false where it can't be told.
func (i Item) value() (total shipping.Amount, ok bool) {
	quantity, err := shipping.NewAmount(int64(i.Quantity), 0)
	if err != nil || !i.UnitPrice.Known() {
		return shipping.Amount{}, false
	}
	total, err = i.UnitPrice.Mul(quantity)
	return total, err == nil
}

// total is the sum of the goods in one currency.
type total struct {
	currency string
	amount   shipping.Amount
}

// totals sums the goods by currency, in the order in which the currencies turn up. A currency with a
// line whose value can't be told has no total: a wrong sum on a customs form is worse than none.
func totals(items []Item) []total {
	var sums []total
	untold := make(map[string]bool)
	at := make(map[string]int)
	for _, item := range items {
		currency := strings.ToUpper(item.Currency)
		i, seen := at[currency]
		if !seen {
			i = len(sums)
			at[currency] = i
			sums = append(sums, total{currency: currency})
		}
		value, ok := item.value()
		sum, err := sums[i].amount.Add(value)
		if !ok || err != nil {
			untold[currency] = true
			continue
		}
		sums[i].amount = sum
	}
	kept := sums[:0]
	for _, sum := range sums {
		if !untold[sum.currency] {
			kept = append(kept, sum)
		}
	}
	return kept
}

// money prints an amount with two decimals at least.
func money(a shipping.Amount) string {
	if a == a.Round(2) {
		return a.StringFixed(2)
	}
	return a.String()
}
