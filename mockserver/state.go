package mockserver

import (
	"maps"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// state is what an account holds: what a fork copies, a snapshot keeps and a reset throws away. What two
// states have in common they share, and copying one costs the same however much it holds.
type state struct {
	user         string        // USER-<digits>
	accountID    string        // storage identifier
	homeKey      func() string // the secret key that follows from the seed; nothing prints what a func value holds
	ids          *ids
	rates        records.List
	webhooks     webhookBook
	transactions map[string]*records.List // by wallet
	ledger       *ledger.Ledger
	exchange     map[string]shipping.Amount // units of a currency for one US dollar
	requestBytes int                        // of the JSON of the regulatory requests, about: what generation adds is not in it

	scratch []byte // for a record on its way into a list, which copies it

	// These never change once they are made.
	past        *pastWallet // nil where nothing is computed
	shipments   map[string]*shipment
	shipmentIDs []string                          // in the order of their making
	invoices    map[string]regulatory.Consignment // by URL; never fetched
	invoiceURLs []string                          // in the order of their making
}

// newState returns the state of an account that has a name and nothing else.
func newState(seed uint64) *state {
	s := &state{
		ids:          newIDs(seed),
		transactions: map[string]*records.List{},
		ledger:       ledger.New(),
		exchange:     map[string]shipping.Amount{},
		shipments:    map[string]*shipment{},
		invoices:     map[string]regulatory.Consignment{},
	}
	key := keyPrefixTest + s.ids.alphanumerics(32)
	s.homeKey = func() string { return key }
	s.user = s.ids.numbered("USER")
	s.accountID = s.ids.storage()
	return s
}

// freeze makes the state ready to be copied by any number of goroutines, as long as it does not change.
func (s *state) freeze() {
	s.ledger.Freeze()
	s.copy()
}

// copy returns a state that starts out equal and goes its own way.
func (s *state) copy() state {
	c := *s
	c.scratch = nil
	c.ids = s.ids.clone()
	c.rates = s.rates.Clone()
	c.webhooks = s.webhooks.clone()
	c.transactions = make(map[string]*records.List, len(s.transactions))
	for wallet, list := range s.transactions {
		own := list.Clone()
		c.transactions[wallet] = &own
	}
	c.ledger = s.ledger.Clone()
	c.exchange = maps.Clone(s.exchange)
	return c
}
