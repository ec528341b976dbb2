package api

import (
	"fmt"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// handler serves an operation in a world. It takes the world's lock itself, so that nothing slow,
// such as reading a body, happens under the lock.
type handler func(w *world.World, c *wire.Call) wire.Reply

// handlers returns the handlers by operation.
func (s *API) handlers() map[string]handler {
	return map[string]handler{
		shipping.OpListRates:        s.listRates,
		shipping.OpListCountries:    s.listCountries,
		shipping.OpListWebhooks:     s.listWebhooks,
		shipping.OpReplayWebhook:    replayWebhook,
		shipping.OpListTransactions: s.listTransactions,
		shipping.OpAnalyze:          analyze,
		shipping.OpPurchase:         purchase,
		shipping.OpGetRequest:       getRequest,
		shipping.OpUpdateItems:      updateItems,
		shipping.OpUpdateAddresses:  updateAddresses,
		shipping.OpUpdateShipping:   updateShipping,
		shipping.OpUpdateProfile:    updateProfile,
		shipping.OpRetryRequest:     retryRequest,
		shipping.OpDocumentPDF:      DocumentPDF,
	}
}

// listRates serves GET /v1/rates.
func (s *API) listRates(w *world.World, c *wire.Call) wire.Reply {
	p := pagingOf(&w.Assume, c.Query())
	w.Lock()
	defer w.Unlock()
	return s.pages.answer(pageKey{edition: w.Account.Rates.Edition(), Paging: p, oldestFirst: w.Assume.OldestFirst}, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Rates retrieved successfully"), `{"rates":`...)
		body = appendRecords(w, &w.Account.Rates, body, p)
		return append(p.AppendRates(append(body, `,"pagination":`...), w.Account.Rates.Len()), "}}"...)
	})
}

// listCountries serves GET /v1/countries, whose response is immutable.
func (s *API) listCountries(*world.World, *wire.Call) wire.Reply {
	return s.Countries.Reply()
}

// listWebhooks serves GET /v1/webhooks.
func (s *API) listWebhooks(w *world.World, c *wire.Call) wire.Reply {
	p := pagingOf(&w.Assume, c.Query())
	w.Lock()
	defer w.Unlock()
	list := &w.Account.Webhooks.Encoded
	return s.pages.answer(pageKey{edition: list.Edition(), Paging: p, oldestFirst: w.Assume.OldestFirst}, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Webhooks retrieved successfully"), `{"webhooks":`...)
		body = appendRecords(w, list, body, p)
		return append(p.appendWebhooks(append(body, `,"pagination":`...), list.Len()), "}}"...)
	})
}

// listTransactions serves GET /v1/transactions. Unknown parameters are
// ignored.
func (s *API) listTransactions(w *world.World, c *wire.Call) wire.Reply {
	query := c.Query()
	wallet := query.Get("wallet")
	if wallet == "" {
		return ruleBroken(w, "the query parameter wallet is required: name the wallet, such as ?wallet=VA-1000000001")
	}
	p := pagingOf(&w.Assume, query)
	w.Lock()
	defer w.Unlock()
	list, known := w.Account.Transactions[wallet]
	if !known && !w.Assume.UnknownWalletIsEmpty {
		return wire.Refused(404, wire.CodeNotFound, fmt.Sprintf("no wallet %q in this account: use a wallet that the server printed on start", wallet))
	}
	if list == nil {
		list = &records.List{}
	}
	key := pageKey{edition: list.Edition(), Paging: p, lastPageNull: w.Assume.LastPageNull, oldestFirst: w.Assume.OldestFirst}
	return s.pages.answer(key, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Transactions retrieved successfully"), `{"transactions":`...)
		body = appendRecords(w, list, body, p)
		body = p.appendTransactions(append(body, `,"pagination":`...), list.Len(), key.lastPageNull)
		return append(body, "}}"...)
	})
}

// appendRecords appends the records of a page, in the order that the world lists them in.
//
// Assumption: newest first; see [Assumptions.OldestFirst].
func appendRecords(w *world.World, list *records.List, dst []byte, p Paging) []byte {
	if w.Assume.OldestFirst {
		return list.AppendOldest(dst, p.Page, p.PerPage)
	}
	return list.AppendPage(dst, p.Page, p.PerPage)
}
