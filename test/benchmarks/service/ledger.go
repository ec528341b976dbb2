package service

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// Ledger responds with pages of 100 transactions, after a delay. A page is one of the reference server with its own
// identifiers and numbers, made on request: a million transactions take no memory.
type Ledger struct {
	parts [][]byte // of a page, between the identifiers
	rows  int
	delay time.Duration
}

// NewLedger returns a ledger with pages made from a page of 100 transactions. rows is a multiple of 100.
func NewLedger(page Fixed, rows int, delay time.Duration) (*Ledger, error) {
	records, _, _ := bytes.Cut(page, []byte(`"pagination"`))
	l := &Ledger{rows: rows, delay: delay}
	begin := 0
	for _, id := range regexp.MustCompile(`"transactionId":"[^"]*"`).FindAllIndex(records, -1) {
		l.parts, begin = append(l.parts, records[begin:id[0]]), id[1]
	}
	l.parts = append(l.parts, records[begin:])
	if len(l.parts) != 101 || rows%100 != 0 {
		return nil, fmt.Errorf("%d rows; a page has %d identifiers", rows, len(l.parts)-1)
	}
	return l, nil
}

// TransactionID returns the identifier of a row, from 0.
func TransactionID(row int) string { return fmt.Sprintf("TR-%016d", row) }

// RoundTrip responds with the page asked for; a page past the end is the last one.
func (l *Ledger) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.delay > 0 {
		timer := time.NewTimer(l.delay)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-timer.C:
		}
	}
	asked, _ := strconv.Atoi(r.URL.Query().Get("page"))
	pages := l.rows / 100
	page := min(max(asked, 1), pages)
	body := make([]byte, 0, 128<<10)
	for i, part := range l.parts[:100] {
		body = append(body, part...)
		body = fmt.Appendf(body, `"transactionId":"%s"`, TransactionID((page-1)*100+i))
	}
	body = append(body, l.parts[100]...)
	body = fmt.Appendf(body, `"pagination":{"page":%d,"perPage":100,"currentPage":%[1]d,"total":%d,"pageCount":%d,`+
		`"prevPage":%d,"nextPage":%d,"hasPrevPage":%t,"hasNextPage":%t}}}`, page, l.rows, pages, page-1, (page+1)%(pages+1),
		page > 1, page < pages)
	return respond(r, body), nil
}
