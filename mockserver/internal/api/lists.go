package api

import (
	"fmt"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// pages answers the requests for the pages of a list.
type pages struct {
	cache      *pageCache
	open       []byte                                       // the envelope, and data up to the records
	pagination func(p Paging, dst []byte, total int) []byte // appends the pagination object
}

func (s *API) pagesOf(name string, pagination func(Paging, []byte, int) []byte) pages {
	message := strings.ToUpper(name[:1]) + name[1:] + " retrieved successfully"
	return pages{&s.pages, append(wire.OpenEnvelope(nil, message), `{"`+name+`":`...), pagination}
}

// answer returns a page. The caller holds the lock of the world.
func (f *pages) answer(w *world.World, c *wire.Call, p Paging, list *records.List) wire.Reply {
	return f.cache.reply(pageKey{edition: list.Edition(), Paging: p, oldestFirst: w.Assume().OldestFirst}, c.Buffer, func(dst []byte) []byte {
		dst = appendRecords(w, list, append(dst, f.open...), p)
		return append(f.pagination(p, append(dst, `,"pagination":`...), list.Len()), "}}"...)
	})
}

// appendRecords appends the records of a page, in the order that the world lists them in.
//
// Assumption: newest first; see Assumptions.OldestFirst.
func appendRecords(w *world.World, list *records.List, dst []byte, p Paging) []byte {
	if w.Assume().OldestFirst {
		return list.AppendOldest(dst, p.Page, p.PerPage)
	}
	return list.AppendPage(dst, p.Page, p.PerPage)
}

// list returns the handler of a list of the account, such as GET /v1/rates.
func (s *API) list(name string) handler {
	pages, none := s.pagesOf(name, Paging.AppendRates), new(records.List)
	none.Edition() // so that worlds share it
	return func(w *world.World, c *wire.Call) wire.Reply {
		p := pagingOf(w.Assume(), c)
		w.Lock()
		defer w.Unlock()
		list := w.Account.Lists[name]
		if list == nil {
			list = none
		}
		return pages.answer(w, c, p, list)
	}
}

// listCountries serves GET /v1/countries, whose response is immutable.
func (s *API) listCountries(*world.World, *wire.Call) wire.Reply {
	return s.Countries.Reply()
}

// listWebhooks serves GET /v1/webhooks.
func (s *API) listWebhooks() handler {
	pages := s.pagesOf("webhooks", Paging.appendWebhooks)
	return func(w *world.World, c *wire.Call) wire.Reply {
		p := pagingOf(w.Assume(), c)
		w.Lock()
		defer w.Unlock()
		return pages.answer(w, c, p, &w.Account.Webhooks.Encoded)
	}
}

// listTransactions serves GET /v1/transactions. Unknown parameters are ignored.
func (s *API) listTransactions() handler {
	pages := s.pagesOf("transactions", Paging.appendTransactions)
	return func(w *world.World, c *wire.Call) wire.Reply {
		wallet := c.Parameter("wallet")
		if wallet == "" {
			return ruleBroken(w, "the query parameter wallet is required: name the wallet, such as ?wallet=VA-1000000001")
		}
		p := pagingOf(w.Assume(), c)
		w.Lock()
		defer w.Unlock()
		list, known := w.Account.Transactions[wallet]
		if !known && !w.Assume().UnknownWalletIsEmpty {
			return wire.Refused(404, wire.CodeNotFound, fmt.Sprintf("no wallet %q in this account: use a wallet that the server printed on start", wallet))
		}
		if list == nil {
			list = &records.List{}
		}
		return pages.answer(w, c, p, list)
	}
}
