package mockserver

import (
	"fmt"

	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// listRates answers GET /v1/rates.
func (s *pipeline) listRates(w *world.World, c *wire.Call) wire.Reply {
	p := pagingOf(&w.Assume, c.Query())
	w.Lock()
	defer w.Unlock()
	return s.pages.answer(pageKey{edition: w.Account.Rates.Edition(), paging: p}, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Rates retrieved successfully"), `{"rates":`...)
		body = w.Account.Rates.AppendPage(body, p.page, p.perPage)
		return append(p.appendRates(append(body, `,"pagination":`...), w.Account.Rates.Len()), "}}"...)
	})
}

// listCountries answers GET /v1/countries, which is the same for ever.
func (s *pipeline) listCountries(*world.World, *wire.Call) wire.Reply {
	return s.countries.Reply()
}

// listWebhooks answers GET /v1/webhooks.
func (s *pipeline) listWebhooks(w *world.World, c *wire.Call) wire.Reply {
	p := pagingOf(&w.Assume, c.Query())
	w.Lock()
	defer w.Unlock()
	list := &w.Account.Webhooks.Encoded
	return s.pages.answer(pageKey{edition: list.Edition(), paging: p}, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Webhooks retrieved successfully"), `{"webhooks":`...)
		body = list.AppendPage(body, p.page, p.perPage)
		return append(p.appendWebhooks(append(body, `,"pagination":`...), list.Len()), "}}"...)
	})
}

// listTransactions answers GET /v1/transactions. Parameters that the specification does not list are
// ignored.
func (s *pipeline) listTransactions(w *world.World, c *wire.Call) wire.Reply {
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
		return wire.Refused(404, wire.CodeNotFound, fmt.Sprintf("no wallet %q in this account: use one of those that the server printed when it started", wallet))
	}
	if list == nil {
		list = &records.List{}
	}
	key := pageKey{edition: list.Edition(), paging: p, lastPageNull: w.Assume.LastPageNull}
	return s.pages.answer(key, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Transactions retrieved successfully"), `{"transactions":`...)
		body = list.AppendPage(body, p.page, p.perPage)
		body = p.appendTransactions(append(body, `,"pagination":`...), list.Len(), key.lastPageNull)
		return append(body, "}}"...)
	})
}
