// Package account contains the data of an account: rates, webhooks, transactions, the ledger behind them, and the
// shipments and invoices to analyze. The package uses neither time nor HTTP, and does not lock: a caller that changes
// an account holds the lock of its world.
//
// Rates and transactions have their fields in the order of the specification's tables.
package account

import (
	"encoding/hex"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Account holds the data of a world that a reset replaces.
type Account struct {
	User         string        // USER-<digits>
	AccountID    string        // storage identifier
	HomeKey      func() string // the secret key derived from the seed; a func, so that nothing prints it
	IDs          *IDs
	Lists        map[string]*records.List // by name, such as rates; webhooks and transactions have their own fields
	Webhooks     Webhooks
	Transactions map[string]*records.List // by wallet
	Ledger       *ledger.Ledger
	// ExchangeRates are units of a currency for one US dollar.
	ExchangeRates map[string]shipping.Amount

	Shipments   map[string]*Shipment
	ShipmentIDs []string                          // newest first
	Invoices    map[string]regulatory.Consignment // by URL; never fetched
	InvoiceURLs []string                          // in the order of their making
}

// New returns an account that has a name and nothing else.
func New(seed uint64) *Account {
	s := &Account{
		IDs:           newIDs(seed),
		Lists:         map[string]*records.List{},
		Transactions:  map[string]*records.List{},
		Ledger:        ledger.New(),
		ExchangeRates: map[string]shipping.Amount{},
		Shipments:     map[string]*Shipment{},
		Invoices:      map[string]regulatory.Consignment{},
	}
	key := KeyPrefix + s.IDs.Alphanumerics(32)
	s.HomeKey = func() string { return key }
	s.User = s.IDs.Numbered("USER")
	s.AccountID = s.IDs.Storage()
	return s
}

// Copy returns an account for a world that begins with the contents of s, and does not change s. Any number of
// goroutines may copy an account at once.
func (s *Account) Copy() Account {
	c := *s
	c.IDs = s.IDs.clone()
	c.Lists = cloneLists(s.Lists)
	c.Webhooks = s.Webhooks.clone()
	c.Transactions = cloneLists(s.Transactions)
	c.Ledger = s.Ledger.Clone()
	c.ExchangeRates = maps.Clone(s.ExchangeRates)
	c.Shipments = maps.Clone(s.Shipments)
	c.Invoices = maps.Clone(s.Invoices)
	c.InvoiceURLs = slices.Clip(s.InvoiceURLs)
	return c
}

func cloneLists(lists map[string]*records.List) map[string]*records.List {
	clones := make(map[string]*records.List, len(lists))
	for name, list := range lists {
		clone := list.Clone()
		clones[name] = &clone
	}
	return clones
}

// List returns a list of [Account.Lists], which it adds if there is none of this name.
func (s *Account) List(name string) *records.List { return listIn(s.Lists, name) }

func (s *Account) TransactionsOf(wallet string) *records.List { return listIn(s.Transactions, wallet) }

func listIn(lists map[string]*records.List, name string) *records.List {
	list := lists[name]
	if list == nil {
		list = &records.List{}
		lists[name] = list
	}
	return list
}

const KeyPrefix = "sk_test_"

// IDs makes the identifiers of a world, and its other random choices. The same seed makes the same ones in the same
// order.
type IDs struct {
	Random *rand.Rand
	source *rand.PCG
}

func newIDs(seed uint64) *IDs { return idsFrom(rand.NewPCG(seed, 0x5348_4950)) }

// NewIDsFor is like newIDs for the world of a key, so that worlds of one seed have different identifiers.
func NewIDsFor(seed uint64, key string) *IDs {
	hash := fnv.New64a()
	hash.Write([]byte(key))
	return idsFrom(rand.NewPCG(seed, hash.Sum64()))
}

func idsFrom(source *rand.PCG) *IDs { return &IDs{Random: rand.New(source), source: source} }

// clone returns a copy that makes the same identifiers from here on.
func (g *IDs) clone() *IDs {
	source := *g.source
	return idsFrom(&source)
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (g *IDs) Alphanumerics(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[g.Random.IntN(len(alphabet))]
	}
	return string(text)
}

// Coded returns an identifier such as "TR-7K2M0QX4ZB1D9WPA".
func (g *IDs) Coded(prefix string) string { return prefix + "-" + g.Alphanumerics(16) }

// Numbered returns an identifier such as "RT-4820193756".
func (g *IDs) Numbered(prefix string) string {
	digits := make([]byte, 10)
	digits[0] = '1' + byte(g.Random.IntN(9))
	for i := 1; i < len(digits); i++ {
		digits[i] = '0' + byte(g.Random.IntN(10))
	}
	return prefix + "-" + string(digits)
}

// Storage returns a storage identifier: 24 hexadecimal digits.
func (g *IDs) Storage() string {
	var raw [12]byte
	for i := range raw {
		raw[i] = byte(g.Random.UintN(256))
	}
	return hex.EncodeToString(raw[:])
}
