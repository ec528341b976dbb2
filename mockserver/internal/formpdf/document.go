// Package formpdf prints regulatory documents as PDF: forms with numbered boxes, the parties, the
// goods and a line to sign on. They look like real documents, so that a program can store, show, print and attach them in
// a test, and are marked as specimens on every page.
// The package computes nothing: amounts and totals are printed as they are given.
//
// The same document always gives the same bytes.
//
// Specification: "Regulatory documents" names an operation that generates a PDF and shows nothing of
// it; the layout is an *Assumption*, and without a switch since nobody should read a PDF by position.
//
// Text is set in Liberation Sans, which is embedded: Latin with all its accents (É, Ł, ṣ), Greek and
// Cyrillic and most currency signs (₦, €) are drawn; a character of another script shows as an empty
// box, though it stays in the text that can be searched and copied.
package formpdf

import "time"

// Document is one form, filled in. Every text may be empty.
type Document struct {
	// RequestID is the request that the form belongs to, "RD-…".
	RequestID string
	// DocumentType is the slug, such as "FISH-WILDLIFE"; it stands where a form number does.
	DocumentType string
	// Title and Subtitle name the form and describe its purpose.
	Title, Subtitle string
	// Reference is the shipment ("SH-…") or the address of the invoice.
	Reference string
	// Date is when the document was generated. It is printed as a day, in UTC, and is the creation
	// date of the file.
	Date time.Time
	// Exporter and Importer are the parties.
	Exporter, Importer Address
	// Fields are what this form asks beyond parties and goods.
	Fields []Field
	// Items are the goods.
	Items []Item
	// Totals are the values of all goods, such as "59.97 USD": one a currency.
	Totals []string
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
	// Choices, if any, are printed as tick boxes with the one ticked that equals Value. Any other
	// Value is printed as a further box.
	Choices []string
}

// Item is a line of the goods table.
type Item struct {
	Description string
	// HSCode is the tariff code.
	HSCode string
	// OriginCountry is a country code, such as "CN".
	OriginCountry string
	Quantity      string
	Currency      string
	// UnitValue is the price of one, TotalValue that of all; "-" for a value that is not known.
	UnitValue, TotalValue string
}
