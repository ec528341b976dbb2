package regulatory

import (
	"math"
	"time"

	"github.com/shipping-go/shipping"
)

// Magic is an input that makes the desk behave in one special way, without any set-up.
type Magic struct {
	// Effect is the short name of what happens.
	Effect string `json:"effect"`
	// ShipmentID and FileURL are what to analyze, in either flow.
	ShipmentID string `json:"shipment_id"`
	FileURL    string `json:"file_url"`
	// Description says in a sentence what happens.
	Description string `json:"description"`

	script   script
	items    []magicItem
	domestic bool // within the United States instead of from China
}

// script is how a request goes on that began with a magic input. In its zero value nothing is special.
type script struct {
	failAnalysis     string        // why analysis fails
	hangInPurchasing bool          // it never leaves purchasing
	delay            time.Duration // added to the generation of each document
	failures         int           // attempts at the first automated document that fail
}

// magicItem is an item from China; its unit price is in cents of a dollar, its weight in grams.
type magicItem struct {
	description, hsCode string
	quantity            int
	cents, grams        int64
}

// Magics returns the table of magic inputs. The slice is the caller's own.
func Magics() []Magic {
	watch := magicItem{"Quartz wristwatch, steel case, leather strap", "910211", 2, 8900, 120}
	powerBank := magicItem{"Power bank, 20,000 mAh", "850760", 5, 2450, 350}
	perfume := magicItem{"Eau de parfum, 50 ml", "330300", 6, 3120, 220}
	book := magicItem{"Paperback novel", "490199", 3, 1299, 300}
	return []Magic{
		{Effect: "fail-analysis", ShipmentID: "SH-MAGICFAILANALYSIS", FileURL: "https://invoices.example/fail-analysis.pdf",
			Description: "Analysis fails; the failed request is stored and can be read.",
			script:      script{failAnalysis: "the goods could not be read"}, items: []magicItem{book}},
		{Effect: "match-customs-only", ShipmentID: "SH-MAGICCUSTOMSONLY", FileURL: "https://invoices.example/customs-only.pdf",
			Description: "A border is crossed and no item needs a form: CUSTOMS is all that is offered.", items: []magicItem{book}},
		{Effect: "match-nothing", ShipmentID: "SH-MAGICMATCHNOTHING", FileURL: "https://invoices.example/match-nothing.pdf",
			Description: "A domestic consignment: the draft offers no documents.",
			items:       []magicItem{watch}, domestic: true},
		{Effect: "generate-slowly", ShipmentID: "SH-MAGICGENERATESLOWLY", FileURL: "https://invoices.example/generate-slowly.pdf",
			Description: "Each document takes ten minutes longer to generate.",
			script:      script{delay: 10 * time.Minute}, items: []magicItem{watch, powerBank}},
		{Effect: "fail-once", ShipmentID: "SH-MAGICFAILONCE", FileURL: "https://invoices.example/fail-once.pdf",
			Description: "The first automated document that is purchased fails once; a retry generates it.",
			script:      script{failures: 1}, items: []magicItem{watch, powerBank}},
		{Effect: "fail-always", ShipmentID: "SH-MAGICFAILALWAYS", FileURL: "https://invoices.example/fail-always.pdf",
			Description: "The first automated document that is purchased fails, and fails again at every retry.",
			script:      script{failures: math.MaxInt}, items: []magicItem{watch, powerBank}},
		{Effect: "hang-in-purchasing", ShipmentID: "SH-MAGICHANGINPURCHASING", FileURL: "https://invoices.example/hang-in-purchasing.pdf",
			Description: "The purchase is charged and the request stays in purchasing for good.",
			script:      script{hangInPurchasing: true}, items: []magicItem{watch, powerBank}},
		{Effect: "need-evidence", ShipmentID: "SH-MAGICNEEDEVIDENCE", FileURL: "https://invoices.example/need-evidence.pdf",
			Description: "A manual document (MSDS) is offered, which waits for evidence before it is generated.",
			items:       []magicItem{perfume}},
	}
}

// magicFor returns the row of the table that an analyze call names, or one without effect and false.
func magicFor(in AnalyzeInput) (Magic, bool) {
	for _, m := range Magics() {
		if in.ShipmentID == m.ShipmentID || in.FileURL == m.FileURL {
			return m, true
		}
	}
	return Magic{}, false
}

// goods returns what a magic shipment or invoice holds.
func (m Magic) goods() Consignment {
	shenzhen := Address{
		Name: "Lin Wei", Company: "Harbour Trading Co.", Line1: "18 Keji Road South", City: "Shenzhen", State: "Guangdong",
		PostalCode: "518057", Country: "CN", Phone: "+8675550100", Email: "export@harbour.example",
	}
	newark := Address{
		Name: "Ada Brooks", Company: "Brooks & Daughters", Line1: "240 Market Street", Line2: "Suite 5", City: "Newark", State: "NJ",
		PostalCode: "07102", Country: "US", Phone: "+19735550100", Email: "imports@brooks.example",
	}
	goods := Consignment{
		Addresses: Addresses{Origin: shenzhen, Destination: newark},
		Shipping: Shipping{
			CarrierSlug: "dhl", Service: "Express Worldwide", Incoterm: "DAP", ReasonForExport: "Sale", PortOfEntry: "Newark, NJ",
		},
	}
	if m.domestic {
		goods.Addresses.Origin = newark
	}
	for _, item := range m.items {
		price, _ := shipping.NewAmount(item.cents, 2) // a few digits always fit
		weight, _ := shipping.NewAmount(item.grams, 3)
		goods.Items = append(goods.Items, LineItem{
			Description: item.description, HSCode: item.hsCode, Quantity: Quantity(item.quantity),
			UnitPrice: price, Currency: usdCurrency, Weight: weight, OriginCountry: "CN",
		})
	}
	return goods
}
