package mockserver

import (
	"fmt"

	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// listRates answers GET /v1/rates.
func (s *pipeline) listRates(w *core, c *wire.Call) wire.Reply {
	p := w.assume.paging(c.Query())
	w.mu.Lock()
	defer w.mu.Unlock()
	return s.pages.answer(pageKey{edition: w.account.Rates.Edition(), paging: p}, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Rates retrieved successfully"), `{"rates":`...)
		body = w.account.Rates.AppendPage(body, p.page, p.perPage)
		return append(p.appendRates(append(body, `,"pagination":`...), w.account.Rates.Len()), "}}"...)
	})
}

// listCountries answers GET /v1/countries, which is the same for ever.
func (s *pipeline) listCountries(*core, *wire.Call) wire.Reply {
	return s.countries.Reply()
}

// listWebhooks answers GET /v1/webhooks.
func (s *pipeline) listWebhooks(w *core, c *wire.Call) wire.Reply {
	p := w.assume.paging(c.Query())
	w.mu.Lock()
	defer w.mu.Unlock()
	list := &w.account.Webhooks.Encoded
	return s.pages.answer(pageKey{edition: list.Edition(), paging: p}, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Webhooks retrieved successfully"), `{"webhooks":`...)
		body = list.AppendPage(body, p.page, p.perPage)
		return append(p.appendWebhooks(append(body, `,"pagination":`...), list.Len()), "}}"...)
	})
}

// listTransactions answers GET /v1/transactions. Parameters that the specification does not list are
// ignored.
func (s *pipeline) listTransactions(w *core, c *wire.Call) wire.Reply {
	query := c.Query()
	wallet := query.Get("wallet")
	if wallet == "" {
		return ruleBroken(w, "the query parameter wallet is required: name the wallet, such as ?wallet=VA-1000000001")
	}
	p := w.assume.paging(query)
	w.mu.Lock()
	defer w.mu.Unlock()
	list, known := w.account.Transactions[wallet]
	if !known && !w.assume.UnknownWalletIsEmpty {
		return wire.Refused(404, wire.CodeNotFound, fmt.Sprintf("no wallet %q in this account: use one of those that the server printed when it started", wallet))
	}
	if list == nil {
		list = &records.List{}
	}
	key := pageKey{edition: list.Edition(), paging: p, lastPageNull: w.assume.LastPageNull}
	return s.pages.answer(key, c.Buffer, func(dst []byte) []byte {
		body := append(wire.OpenEnvelope(dst, "Transactions retrieved successfully"), `{"transactions":`...)
		body = list.AppendPage(body, p.page, p.perPage)
		body = p.appendTransactions(append(body, `,"pagination":`...), list.Len(), key.lastPageNull)
		return append(body, "}}"...)
	})
}
