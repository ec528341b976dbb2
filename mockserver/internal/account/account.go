// Package account contains the data of an account: rates, webhooks, transactions, the ledger behind them, and the shipments
// and invoices to analyze. Copies share unchanged data, so copying an account is cheap. The package uses neither time nor
// HTTP, and does not lock: a caller that changes an account holds the lock of its world.
//
// Rates and transactions have their fields in the order of the specification's tables.
package account

import (
	"encoding/json"
	"maps"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Account holds the data that a fork copies, a snapshot stores and a reset replaces.
type Account struct {
	User         string        // USER-<digits>
	AccountID    string        // storage identifier
	HomeKey      func() string `json:"-"` // the secret key derived from the seed; a func, so that nothing prints it
	IDs          *IDs
	Lists        map[string]*records.List // by name, such as rates; webhooks and transactions have their own fields
	Webhooks     Webhooks
	Transactions map[string]*records.List // by wallet
	Ledger       *ledger.Ledger
	Exchange     map[string]shipping.Amount // units of a currency for one US dollar
	RequestBytes int                        // of the JSON of the regulatory requests, about: what generation adds is not in it

	// These never change once they are made.
	Computed    *ComputedScope // nil if nothing is computed
	Shipments   map[string]*Shipment
	ShipmentIDs []string                          // in the order of their making
	Invoices    map[string]regulatory.Consignment // by URL; never fetched
	InvoiceURLs []string                          // in the order of their making
}

// New returns the state of an account that has a name and nothing else.
func New(seed uint64) *Account {
	s := &Account{
		IDs:          newIDs(seed),
		Lists:        map[string]*records.List{},
		Transactions: map[string]*records.List{},
		Ledger:       ledger.New(),
		Exchange:     map[string]shipping.Amount{},
		Shipments:    map[string]*Shipment{},
		Invoices:     map[string]regulatory.Consignment{},
	}
	key := KeyPrefix + s.IDs.Alphanumerics(32)
	s.HomeKey = func() string { return key }
	s.User = s.IDs.Numbered("USER")
	s.AccountID = s.IDs.Storage()
	return s
}

// UnmarshalJSON reads the JSON of an account, and computes what is not stored.
func (s *Account) UnmarshalJSON(text []byte) error {
	type stored Account
	if err := json.Unmarshal(text, (*stored)(s)); err != nil {
		return err
	}
	if s.Computed != nil {
		s.Compute(*s.Computed)
	}
	return nil
}

// Copy returns a state that starts out equal and goes its own way. Any number of goroutines may copy a state that does not
// change.
func (s *Account) Copy() Account {
	c := *s
	c.IDs = s.IDs.clone()
	c.Lists = cloneLists(s.Lists)
	c.Webhooks = s.Webhooks.clone()
	c.Transactions = cloneLists(s.Transactions)
	c.Ledger = s.Ledger.Clone()
	c.Exchange = maps.Clone(s.Exchange)
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

// List returns a list of [Account.Lists] to read. One that has no record is empty.
func (s *Account) List(name string) *records.List {
	if list := s.Lists[name]; list != nil {
		return list
	}
	return &records.List{}
}

// Add puts a record at the head of a list of [Account.Lists].
func (s *Account) Add(name string, record []byte) { listIn(s.Lists, name).Prepend(record) }

// TransactionsOf returns the list of a wallet's transactions.
func (s *Account) TransactionsOf(wallet string) *records.List { return listIn(s.Transactions, wallet) }

// listIn returns a list, which is empty at first.
func listIn(lists map[string]*records.List, name string) *records.List {
	list := lists[name]
	if list == nil {
		list = &records.List{}
		lists[name] = list
	}
	return list
}

// Memory is what the requests and webhooks of a state take, about.
func (s *Account) Memory() int64 { return BytesPerJSON * int64(s.RequestBytes+s.Webhooks.Bytes) }

// BytesPerJSON is how much memory a record takes for each byte of its JSON, which is kept too. Drafts of thousands of
// items take two.
const BytesPerJSON = 3

// KeyPrefix begins every key of the server.
const KeyPrefix = "sk_test_"
