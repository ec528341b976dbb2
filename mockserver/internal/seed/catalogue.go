package seed

import (
	_ "embed"
	"encoding/json"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// catalogueJSON has the contents of seeded worlds. Companies, people, streets and addresses are invented; the goods
// carry real HS codes, so that analysis has realistic results.
//
//go:embed catalogue.json
var catalogueJSON []byte

type catalogue struct {
	Articles map[string]article            `json:"articles"` // by a short name
	Places   map[string]regulatory.Address `json:"places"`   // by a short name
	// Consignments are newest first; the first matches several forms, the last two none.
	Consignments []consignment `json:"consignments"`
	Invoices     []consignment `json:"invoices"`
	Carriers     []carrier     `json:"carriers"`
	Wallets      []walletSeed  `json:"wallets"` // the first has plenty; the last has next to nothing
}

func readCatalogue() (c catalogue, err error) {
	err = json.Unmarshal(catalogueJSON, &c)
	return c, err
}

// article is something that is shipped. Its price is in US dollars and its weight in kilograms a piece.
type article struct {
	Description string `json:"description"`
	HSCode      string `json:"hs_code"` // a few have none, as in life
	Price       string `json:"price"`
	Weight      string `json:"weight"`
	MadeIn      string `json:"made_in"`
}

type order struct {
	Article string `json:"article"`
	Pieces  int    `json:"pieces"`
}

// consignment is a shipment or an invoice to be seeded.
type consignment struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Status string  `json:"status"`
	Hours  int     `json:"hours"` // before the epoch
	Goods  []order `json:"goods"`
}

// carrier is who moves a shipment, and one of its services.
type carrier struct {
	Name      string `json:"name"`
	Slug      string `json:"slug"`
	Service   string `json:"service"`
	LocalCode string `json:"local_code"` // metadata; empty if the carrier has none, like Code
	Code      string `json:"code"`
	Price     string `json:"price"` // US dollars for a first kilogram
	Minutes   int    `json:"minutes"`
	ETA       string `json:"eta"`
	Insured   bool   `json:"insured"`
}

// walletSeed is a wallet to be seeded.
type walletSeed struct {
	Currency  string `json:"currency"`
	Name      string `json:"name"`
	PerDollar string `json:"per_dollar"`
	Opening   string `json:"opening"` // first funding
	Share     int    `json:"share"`   // of a hundred seeded debits
}
