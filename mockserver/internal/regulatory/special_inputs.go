package regulatory

import (
	"math"
	"time"

	"github.com/shipping-go/shipping"
)

type SpecialInput struct {
	// Effect is the short name of the effect.
	Effect string `json:"effect"`
	// ShipmentID and FileURL are the inputs, one for each flow.
	ShipmentID string `json:"shipment_id"`
	FileURL    string `json:"file_url"`
	// Description describes the effect in a sentence.
	Description string `json:"description"`

	script   script
	items    []specialItem
	domestic bool // within the United States, not from China
}

// script is the effect of a special input on a request. The zero value has no effect.
type script struct {
	failAnalysis     string        // the reason why analysis fails
	hangInPurchasing bool          // the request never leaves purchasing
	delay            time.Duration // added to the generation of each document
	failures         int           // number of failing attempts at the first automated document
}

// specialItem is an item from China; its unit price is in cents of a dollar, its weight in grams.
type specialItem struct {
	description, hsCode string
	quantity            int
	cents, grams        int64
}

// SpecialInputs returns the table of special inputs. The caller may change the slice.
func SpecialInputs() []SpecialInput {
	watch := specialItem{"Quartz wristwatch, steel case, leather strap", "910211", 2, 8900, 120}
	powerBank := specialItem{"Power bank, 20,000 mAh", "850760", 5, 2450, 350}
	perfume := specialItem{"Eau de parfum, 50 ml", "330300", 6, 3120, 220}
	book := specialItem{"Paperback novel", "490199", 3, 1299, 300}
	return []SpecialInput{
		{Effect: "fail-analysis", ShipmentID: "SH-MAGICFAILANALYSIS", FileURL: "https://invoices.example/fail-analysis.pdf",
			Description: "Analysis fails; the failed request is stored and can be read.",
			script:      script{failAnalysis: "the goods could not be read"}, items: []specialItem{book}},
		{Effect: "match-customs-only", ShipmentID: "SH-MAGICCUSTOMSONLY",
			FileURL:     "https://invoices.example/match-customs-only.pdf",
			Description: "A border is crossed and no item needs a document: only CUSTOMS is offered.",
			items:       []specialItem{book}},
		{Effect: "match-nothing", ShipmentID: "SH-MAGICMATCHNOTHING", FileURL: "https://invoices.example/match-nothing.pdf",
			Description: "A domestic consignment: the draft offers no documents.",
			items:       []specialItem{watch}, domestic: true},
		{Effect: "generate-slowly", ShipmentID: "SH-MAGICGENERATESLOWLY",
			FileURL:     "https://invoices.example/generate-slowly.pdf",
			Description: "Each document takes ten minutes longer to generate.",
			script:      script{delay: 10 * time.Minute}, items: []specialItem{watch, powerBank}},
		{Effect: "fail-once", ShipmentID: "SH-MAGICFAILONCE", FileURL: "https://invoices.example/fail-once.pdf",
			Description: "The first automated document that is purchased fails once; a retry generates it.",
			script:      script{failures: 1}, items: []specialItem{watch, powerBank}},
		{Effect: "fail-always", ShipmentID: "SH-MAGICFAILALWAYS", FileURL: "https://invoices.example/fail-always.pdf",
			Description: "The first automated document that is purchased fails at every attempt.",
			script:      script{failures: math.MaxInt}, items: []specialItem{watch, powerBank}},
		{Effect: "hang-in-purchasing", ShipmentID: "SH-MAGICHANGINPURCHASING",
			FileURL:     "https://invoices.example/hang-in-purchasing.pdf",
			Description: "The purchase is charged and the request stays in purchasing.",
			script:      script{hangInPurchasing: true}, items: []specialItem{watch, powerBank}},
		{Effect: "need-evidence", ShipmentID: "SH-MAGICNEEDEVIDENCE", FileURL: "https://invoices.example/need-evidence.pdf",
			Description: "A manual document (MSDS) is offered, which waits for evidence before it is generated.",
			items:       []specialItem{perfume}},
	}
}

// specialInput returns the row of the table for an analyze call, or a row without effect and false.
func specialInput(in AnalyzeInput) (SpecialInput, bool) {
	for _, m := range SpecialInputs() {
		if in.ShipmentID == m.ShipmentID || in.FileURL == m.FileURL {
			return m, true
		}
	}
	return SpecialInput{}, false
}

func (m SpecialInput) goods() Consignment {
	shenzhen := Address{
		Name: "Lin Wei", Company: "Harbour Trading Co.", Line1: "18 Keji Road South", City: "Shenzhen", State: "Guangdong",
		PostalCode: "518057", Country: "CN", Phone: "+8675550100", Email: "export@harbour.example",
	}
	newark := Address{
		Name: "Ada Brooks", Company: "Brooks & Daughters", Line1: "240 Market Street", Line2: "Suite 5", City: "Newark",
		State:      "NJ",
		PostalCode: "07102", Country: "US", Phone: "+19735550100", Email: "imports@brooks.example",
	}
	goods := Consignment{
		Addresses: Addresses{Origin: shenzhen, Destination: newark},
		Shipping: Shipping{
			CarrierSlug: "dhl", Service: "Express Worldwide", Incoterm: "DAP", ReasonForExport: "Sale",
			PortOfEntry: "Newark, NJ",
		},
	}
	if m.domestic {
		goods.Addresses.Origin = newark
	}
	for _, item := range m.items {
		price, _ := shipping.NewAmount(item.cents, 2) // a short number always fits
		weight, _ := shipping.NewAmount(item.grams, 3)
		goods.Items = append(goods.Items, LineItem{
			Description: item.description, HSCode: item.hsCode, Quantity: Quantity(item.quantity),
			UnitPrice: price, Currency: usdCurrency, Weight: weight, OriginCountry: "CN",
		})
	}
	return goods
}
