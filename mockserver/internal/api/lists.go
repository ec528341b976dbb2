package api

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/country"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Paging is the part of a list that a request selects.
//
// Specification: "Limits" (perPage default 100, page default 1).
// Assumption: a page or size that is missing, below 1 or not a whole number falls back to its default;
// a page has at most List.MaxPerPage of the dialect.
type Paging struct{ Page, PerPage int }

const DefaultPerPage = 100

// pagingOf returns the paging of a request, as faults have changed it.
func pagingOf(w *world.World, x *wire.Exchange) Paging {
	query := x.URL.Query()
	p := Paging{Page: Positive(query.Get("page"), 1), PerPage: Positive(query.Get("perPage"), DefaultPerPage)}
	if p.PerPage = min(p.PerPage, w.Dialect().List.MaxPerPage); x.PageCap > 0 {
		p.PerPage = min(p.PerPage, x.PageCap)
	}
	if x.PreviousPage {
		p.Page = max(1, p.Page-1)
	}
	return p
}

// Positive parses a whole number of at least 1. A number beyond 32 bits becomes the largest, so that
// calculations with pages do not overflow.
func Positive(text string, fallback int) int {
	n, err := strconv.Atoi(text)
	if numError, ok := err.(*strconv.NumError); ok && numError.Err == strconv.ErrRange && text[0] != '-' {
		return math.MaxInt32
	}
	if err != nil || n < 1 {
		return fallback
	}
	return min(n, math.MaxInt32)
}

// PageCount returns the number of pages. An empty list has one empty page.
func (p Paging) PageCount(total int) int {
	return max(1, total/p.PerPage+min(1, total%p.PerPage))
}

// PlainPagination is the pagination of every list but webhooks and transactions.
//
// Specification: "Rate list pagination object".
type PlainPagination struct {
	Total     int `json:"total"`
	PerPage   int `json:"perPage"`
	Page      int `json:"page"`
	PageCount int `json:"pageCount"`
}

func (p Paging) Plain(total int) PlainPagination {
	return PlainPagination{total, p.PerPage, p.Page, p.PageCount(total)}
}

// linkedPagination is the pagination of webhooks and transactions.
//
// Specification: "Webhook pagination object" and "Transaction pagination object".
type linkedPagination struct {
	Page          int   `json:"page"`
	PerPage       int   `json:"perPage"`
	CurrentPage   int   `json:"currentPage"`
	Total         int   `json:"total"`
	PageCount     int   `json:"pageCount"`
	PagingCounter int64 `json:"pagingCounter,omitempty"` // of webhooks: the number of the page's first record, from 1
	PrevPage      any   `json:"prevPage"`
	NextPage      any   `json:"nextPage"`
	HasPrevPage   bool  `json:"hasPrevPage"`
	HasNextPage   bool  `json:"hasNextPage"`
}

// links returns the pagination with links. beforeFirst and afterLast replace the pages that do not exist.
func (p Paging) links(total int, beforeFirst, afterLast any) linkedPagination {
	n := linkedPagination{
		Page: p.Page, PerPage: p.PerPage, CurrentPage: p.Page, Total: total, PageCount: p.PageCount(total),
		PrevPage: beforeFirst, NextPage: afterLast,
	}
	if n.HasPrevPage = p.Page > 1; n.HasPrevPage {
		n.PrevPage = p.Page - 1
	}
	if n.HasNextPage = p.Page < n.PageCount; n.HasNextPage {
		n.NextPage = p.Page + 1
	}
	return n
}

// page returns a page of a list and the pagination for the number of records. find returns the list, with the lock of
// the world held; a nil list is empty.
//
// Assumption: newest first; see List.Order of the dialect.
func page(w *world.World, name string, find func() *records.List, p Paging,
	pagination func(p Paging, total int) any) wire.Reply {
	w.Lock()
	list, decided := cmp.Or(find(), new(records.List)), w.Dialect().List
	total := list.Len()
	if last := p.PageCount(total); p.Page > last && decided.PastEnd == "last page" {
		p.Page = last
	}
	rows := list.Page(p.Page, p.PerPage, decided.Order == "oldest first")
	w.Unlock()
	if p.Page > p.PageCount(total) && decided.PastEnd == "refused" {
		return ruleBroken(fmt.Sprintf("page %d does not exist: the list has %d", p.Page, p.PageCount(total)))
	}
	return wire.SucceedRows(strings.ToUpper(name[:1])+name[1:]+" retrieved successfully", name, rows,
		jsontext.Of(pagination(p, total)))
}

// list returns the handler of a list of the account, such as GET /v1/rates.
func list(name string) handler {
	return func(w *world.World, x *wire.Exchange) wire.Reply {
		p := pagingOf(w, x)
		find := func() *records.List { return w.Account.List(name) }
		return page(w, name, find, p, func(p Paging, total int) any { return p.Plain(total) })
	}
}

func (s *API) listCountries(*world.World, *wire.Exchange) wire.Reply { return s.countries() }

func countries() wire.Reply {
	p := wire.SucceedJSON("Countries retrieved successfully", country.JSON())
	sum := sha256.Sum256(p.Body)
	p.Tag = fmt.Sprintf("%q", fmt.Sprintf("%x", sum[:12]))
	return p
}

// listWebhooks serves GET /v1/webhooks. prevPage is null on the first page, and nextPage is null on the last.
func listWebhooks(w *world.World, x *wire.Exchange) wire.Reply {
	p := pagingOf(w, x)
	find := func() *records.List { return &w.Account.Webhooks.Encoded }
	return page(w, "webhooks", find, p, func(p Paging, total int) any {
		n := p.links(total, nil, nil)
		n.PagingCounter = int64(p.Page-1)*int64(p.PerPage) + 1 // can be beyond 32 bits
		return n
	})
}

// listTransactions serves GET /v1/transactions. Unknown parameters are ignored. prevPage is 0 on the first page, and
// nextPage is 0 on the last.
//
// Assumption: the 0 after the last page.
func listTransactions(w *world.World, x *wire.Exchange) wire.Reply {
	wallet := x.URL.Query().Get("wallet")
	if wallet == "" {
		return ruleBroken("the query parameter wallet is required: add the id of a wallet, such as ?wallet=VA-1000000001")
	}
	p := pagingOf(w, x)
	known, next := true, "use a wallet that the server printed on start"
	find := func() (list *records.List) {
		if list, known = w.Account.Transactions[wallet]; w.Account.Shipments[wallet] != nil {
			next = "that is the id of a shipment: " + next
		}
		return list
	}
	reply := page(w, "transactions", find, p, func(p Paging, total int) any { return p.links(total, 0, 0) })
	if !known {
		return wire.Refused(http.StatusNotFound, wire.CodeNotFound,
			fmt.Sprintf("no wallet %q in this account: %s", wallet, next))
	}
	return reply
}
