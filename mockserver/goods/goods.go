// Package goods describes the shipments and invoices that a test adds to a world of the reference server.
// World.AddShipment and World.AddInvoice of package mockserver use them.
package goods

import "github.com/shipping-go/shipping"

// Shipment is a shipment that can be analyzed, and about which webhooks can be notified. The zero value is a shipment
// of cotton shirts from Lagos to New York.
type Shipment struct {
	// ID is its shipment_id. Default: a new one.
	ID string `json:"shipment_id,omitempty" doc:"SH- and letters and digits. Default: a new one."`
	// Items select the documents that an analysis offers. Default: one item.
	Items []Item `json:"line_items,omitempty" doc:"The goods, which select the documents that an analysis offers. Default: cotton shirts."`
	// From and To need only a country. Default: Lagos and New York.
	From shipping.Address `json:"from,omitzero" doc:"Only the country is needed. Default: Lagos."`
	To   shipping.Address `json:"to,omitzero" doc:"Only the country is needed. Default: New York."`
	// Documents are what an analysis offers, whatever the items are. Default: the documents that the items need.
	Documents []Document `json:"documents,omitempty" doc:"What an analysis offers, whatever the goods are. Default: the documents that the goods need."`
}

// Invoice is a commercial invoice that can be analyzed. The server does not fetch it. The zero value is an invoice
// for cotton shirts from Lagos to New York.
type Invoice struct {
	// URL is its file_url. Default: a new one.
	URL string `json:"file_url,omitempty" doc:"An http or https URL, which the server does not fetch. Default: a new one."`
	// The other fields are those of a [Shipment].
	Items     []Item           `json:"line_items,omitempty" doc:"As of a shipment."`
	From      shipping.Address `json:"from,omitzero" doc:"As of a shipment."`
	To        shipping.Address `json:"to,omitzero" doc:"As of a shipment."`
	Documents []Document       `json:"documents,omitempty" doc:"As of a shipment."`
}

// Item is one kind of goods. It needs an HS code, or a description with a keyword, such as "cotton shirt".
type Item struct {
	Description string `json:"description,omitempty" doc:"Selects the documents, if it has a keyword such as cotton shirt. An item needs it or hs_code."`
	HSCode      string `json:"hs_code,omitempty" doc:"2 to 12 digits in pairs; dots, spaces or hyphens may separate them."`
	// Quantity is the number of pieces. Default: 1.
	Quantity int `json:"quantity,omitempty" doc:"Number of pieces. Default: 1."`
	// UnitPrice is the price of a piece, in Currency. Default: 10, and USD.
	UnitPrice shipping.Amount `json:"unit_price,omitzero" doc:"Price of a piece. Default: 10."`
	Currency  string          `json:"currency,omitempty" doc:"Of the price. Default: USD."`
	// OriginCountry is a two-letter country code.
	OriginCountry string `json:"origin_country,omitempty" doc:"Two-letter code."`
}

// Document is a document that an analysis offers.
type Document struct {
	DocumentType shipping.DocumentType `json:"document_type" doc:"Such as CUSTOMS."`
	// Amount is the price, in the currency of the wallet.
	Amount shipping.Amount `json:"amount" doc:"Price, in the currency of the wallet."`
	// Mode is "automated" or "manual". Default: the usual mode of the document.
	Mode string `json:"mode,omitempty" enum:"automated manual" doc:"Default: that of the document."`
	// Beside are further amounts that the offer shows, by their names, such as tax. A purchase does not charge them.
	Beside map[string]shipping.Amount `json:"beside,omitempty" doc:"Further amounts that the offer shows, by their names, such as tax. A purchase does not charge them."`
}
