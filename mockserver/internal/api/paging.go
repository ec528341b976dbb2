package api

import (
	"math"
	"strconv"

	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Paging is the part of a list that a request selects.
//
// Specification: "Limits" (perPage default 100, page default 1).
// Assumption: a page or size that is missing, below 1 or not a whole number falls back to its default;
// the size has no limit unless Assumptions.PerPageCap is set.
type Paging struct {
	Page, PerPage int

	emptyHasNoPages, lastPageNull bool
}

const DefaultPerPage = 100

// pagingOf returns the paging of a request, as faults have changed it.
func pagingOf(a *assumption.Set, c *wire.Call) Paging {
	p := Paging{
		Page: Positive(c.Parameter("page"), 1), PerPage: Positive(c.Parameter("perPage"), DefaultPerPage),
		emptyHasNoPages: a.EmptyHasNoPages, lastPageNull: a.LastPageNull,
	}
	for _, most := range []int{a.PerPageCap, c.PageCap} {
		if most > 0 {
			p.PerPage = min(p.PerPage, most)
		}
	}
	if c.PreviousPage {
		p.Page = max(1, p.Page-1)
	}
	return p
}

// Positive parses a whole number of at least 1. A number beyond 32 bits becomes the largest, so that
// calculations with pages do not overflow.
func Positive(text string, fallback int) int {
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if numError, ok := err.(*strconv.NumError); ok && numError.Err == strconv.ErrRange && text[0] != '-' {
		return math.MaxInt32
	}
	if err != nil || n < 1 {
		return fallback
	}
	return min(n, math.MaxInt32)
}

// PageCount returns the number of pages, at least 1: an empty list has one empty page, or none with
// Assumptions.EmptyHasNoPages.
func (p Paging) PageCount(total int) int {
	if total == 0 && p.emptyHasNoPages {
		return 0
	}
	return max(1, total/p.PerPage+min(1, total%p.PerPage))
}

// first returns the number of the page's first record, from 1. It can be beyond 32 bits.
func (p Paging) first() int64 { return int64(p.Page-1)*int64(p.PerPage) + 1 }

func (p Paging) hasNext(total int) bool { return p.Page < p.PageCount(total) }

// AppendRates appends the rate list pagination object.
//
// Specification: "Rate list pagination object".
func (p Paging) AppendRates(dst []byte, total int) []byte {
	dst = number(dst, `{"total":`, total)
	dst = number(dst, `,"perPage":`, p.PerPage)
	dst = number(dst, `,"page":`, p.Page)
	dst = number(dst, `,"pageCount":`, p.PageCount(total))
	return append(dst, '}')
}

// appendWebhooks appends the webhook pagination object: prevPage is null on the first page, and nextPage is null on
// the last.
//
// Specification: "Webhook pagination object".
func (p Paging) appendWebhooks(dst []byte, total int) []byte {
	dst = p.appendCounts(dst, total)
	dst = strconv.AppendInt(append(dst, `,"pagingCounter":`...), p.first(), 10)
	dst = p.appendNeighbours(dst, total, "null", "null")
	return append(dst, '}')
}

// appendTransactions appends the transaction pagination object: prevPage is 0 on the first page, and nextPage is 0 on
// the last.
//
// Specification: "Transaction pagination object". Assumption: the 0 after the last page; see
// Assumptions.LastPageNull.
func (p Paging) appendTransactions(dst []byte, total int) []byte {
	afterLast := "0"
	if p.lastPageNull {
		afterLast = "null"
	}
	dst = p.appendCounts(dst, total)
	dst = p.appendNeighbours(dst, total, "0", afterLast)
	return append(dst, '}')
}

func (p Paging) appendCounts(dst []byte, total int) []byte {
	dst = number(dst, `{"page":`, p.Page)
	dst = number(dst, `,"perPage":`, p.PerPage)
	dst = number(dst, `,"currentPage":`, p.Page)
	dst = number(dst, `,"total":`, total)
	return number(dst, `,"pageCount":`, p.PageCount(total))
}

func (p Paging) appendNeighbours(dst []byte, total int, beforeFirst, afterLast string) []byte {
	if p.Page > 1 {
		dst = number(dst, `,"prevPage":`, p.Page-1)
	} else {
		dst = append(append(dst, `,"prevPage":`...), beforeFirst...)
	}
	if p.hasNext(total) {
		dst = number(dst, `,"nextPage":`, p.Page+1)
	} else {
		dst = append(append(dst, `,"nextPage":`...), afterLast...)
	}
	dst = strconv.AppendBool(append(dst, `,"hasPrevPage":`...), p.Page > 1)
	return strconv.AppendBool(append(dst, `,"hasNextPage":`...), p.hasNext(total))
}

func number(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}
