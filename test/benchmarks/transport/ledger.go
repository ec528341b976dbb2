package transport

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/shipping-go/shipping/test/benchmarks/payload"
)

// Ledger responds with the pages of a wallet's transactions, made on request: a million
// rows cost no memory. A page is a copy of one template with its own identifiers and numbers.
type Ledger struct {
	perPage, pages int
	head           [][]byte // what stands between the identifiers of a page
	tail           []byte   // what follows the records, up to the page's own numbers
}

// NewLedger returns a ledger of rows transactions, a multiple of perPage.
func NewLedger(rows, perPage int) (*Ledger, error) {
	if perPage < 1 || rows < perPage || rows%perPage != 0 {
		return nil, fmt.Errorf("a ledger of %d rows cannot be cut into full pages of %d", rows, perPage)
	}
	l := &Ledger{perPage: perPage, pages: rows / perPage}
	template := payload.Transactions(perPage, 1, l.pages)
	for row := range perPage {
		before, after, found := bytes.Cut(template, []byte(payload.TransactionID(row)))
		if !found {
			return nil, fmt.Errorf("the template holds no row %d", row)
		}
		l.head, template = append(l.head, before), after
	}
	records, _, found := bytes.Cut(template, []byte(`"pagination":`))
	if !found {
		return nil, fmt.Errorf("the template holds no pagination")
	}
	l.tail = records
	return l, nil
}

// RoundTrip responds with the page asked for; a page past the end is the last one.
func (l *Ledger) RoundTrip(r *http.Request) (*http.Response, error) {
	page := min(pageOf(r), l.pages)
	size := len(l.tail) + 256
	for _, part := range l.head {
		size += len(part) + 32
	}
	body := make([]byte, 0, size)
	for i, part := range l.head {
		body = append(body, part...)
		body = append(body, payload.TransactionID((page-1)*l.perPage+i)...)
	}
	body = append(body, l.tail...)
	next := (page + 1) % (l.pages + 1)
	body = fmt.Appendf(body, `"pagination":{"page":%d,"perPage":%d,"currentPage":%d,"total":%d,"pageCount":%d,`+
		`"prevPage":%d,"nextPage":%d,"hasPrevPage":%t,"hasNextPage":%t}}}`,
		page, l.perPage, page, l.perPage*l.pages, l.pages, page-1, next, page > 1, next > 0)
	return answer(r, body), nil
}
