// Package lists_test reads lists that change while they are read, and checks that each record is delivered once.
package lists_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/paging"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

const (
	pageSize      = 10 // of the walks of a client
	defaultWindow = 20 // of a walk that sets none
)

// list is a list of numbered rows, newest first. A client reads it with RoundTrip, a walk of package paging with fetch.
type list struct {
	size int // rows on a page; 0 for as many as the request names
	// latency is that of the nth request for a page, half before and half after its rows are read.
	latency func(number, n int) time.Duration
	before  func(n int) // called, under the lock, before the rows of the nth response are read
	change  change
	status  func(number, n int) int // of the nth request for a page; 0 for 200

	random *rand.Rand // of the changes

	mu        sync.Mutex
	rows      []int
	newest    int
	asked     []int // the pages, in the order of the requests
	times     map[int]int
	responses int
	reading   int // the page of the last response
	inFlight  int
	most      int  // in flight at once
	stale     int  // rows when the walk began
	promised  bool // the walk or its token knows the total of a list with rows
	open      int  // bodies
}

// page is a response before it is written.
type page struct {
	paging.Numbers
	list     *list
	number   int
	rows     []int
	id       func(row int) (id, storage string) // of a record; "" if it has none
	unlisted bool                               // the data has neither a list nor numbers
	edit     func(data map[string]any)          // of the JSON that a client receives
	text     string                             // in place of that JSON
	reported int                                // the number that the page reports
	status   int                                // of the response; 0 for 200
}

// change changes a response.
type change func(p *page)

func rowID(row int) (id, storage string) { return fmt.Sprint("ROW-", row), "" }

func newList(rows int) *list {
	l := &list{times: map[int]int{}}
	l.arrive(rows)
	return l
}

// drawList returns a list whose rows and page size are random. Its latencies are the same in every run.
func drawList(seed, stream uint64) *list {
	l := newList(0)
	l.random = rand.New(rand.NewPCG(seed, stream))
	l.size = 1 + l.random.IntN(12)
	l.arrive(l.random.IntN(60))
	if l.random.IntN(4) == 0 { // the last page is full
		l.arrive((l.size - len(l.rows)%l.size) % l.size)
	}
	l.latency = func(number, n int) time.Duration {
		return time.Duration(1 + rand.New(rand.NewPCG(seed, uint64(number)<<20|uint64(n))).IntN(1e9))
	}
	return l
}

// arrive adds n new rows at the head.
func (l *list) arrive(n int) {
	fresh := make([]int, n, n+len(l.rows))
	for i := range fresh {
		fresh[i] = l.newest + n - i
	}
	l.newest += n
	l.rows = append(fresh, l.rows...)
}

// vanish removes the n rows from position at, as far as there are any.
func (l *list) vanish(at, n int) {
	l.rows = slices.Delete(slices.Clone(l.rows), at, min(at+n, len(l.rows)))
}

func (l *list) rowsOf(number, size int) []int {
	first := min((number-1)*size, len(l.rows))
	return l.rows[first:min(first+size, len(l.rows))]
}

// respond reads a page.
func (l *list) respond(ctx context.Context, number, size int) (*page, error) {
	l.mu.Lock()
	l.asked = append(l.asked, number)
	l.times[number]++
	n := l.times[number]
	l.inFlight++
	l.most = max(l.most, l.inFlight)
	l.mu.Unlock()
	defer func() { l.mu.Lock(); l.inFlight--; l.mu.Unlock() }()
	var latency time.Duration
	if l.latency != nil {
		latency = l.latency(number, n)
	}
	if err := pass(ctx, latency/2); err != nil {
		return nil, err
	}
	p := l.read(number, size)
	return p, pass(ctx, latency-latency/2)
}

func (l *list) read(number, size int) *page {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.responses++
	l.reading = number
	if l.before != nil {
		l.before(l.responses)
	}
	size = cmp.Or(l.size, size)
	p := &page{list: l, number: number, reported: number, rows: l.rowsOf(number, size), id: rowID}
	p.Total, p.PerPage, p.PageCount = len(l.rows), size, max(1, (len(l.rows)+size-1)/size)
	p.HasNext = number < p.PageCount
	if l.change != nil {
		l.change(p)
	}
	return p
}

// pass lets time pass unless ctx ends first.
func pass(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fetch reads a page for a walk of package paging.
func (l *list) fetch(ctx context.Context, number int) (*paging.Page, error) {
	p, err := l.respond(ctx, number, pageSize)
	if err != nil {
		return nil, err
	}
	got := &paging.Page{Numbers: p.Numbers, Listed: !p.unlisted, Value: p.rows}
	for _, row := range p.rows {
		got.IDs = append(got.IDs, paging.ID(p.id(row)))
	}
	return got, nil
}

// take takes so many pages of a walk of package paging. The token is empty at the end of the list.
func (l *list) take(ctx context.Context, config paging.Config, pages int) (rows []int, token string, err error) {
	w, err := paging.Start(ctx, config)
	if err != nil {
		return nil, "", err
	}
	defer w.Stop()
	for range pages {
		page, err := w.Next()
		if failure, ok := errors.AsType[*paging.Error](err); ok {
			return rows, failure.Token, err
		}
		if page == nil {
			return rows, "", nil
		}
		l.mu.Lock()
		l.promised = l.promised || page.Total > 0
		l.mu.Unlock()
		for i, row := range page.Value.([]int) {
			if !page.Skip[i] {
				rows = append(rows, row)
			}
		}
	}
	return rows, w.Token(), nil
}

// RoundTrip responds to a client.
func (l *list) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	number, _ := strconv.Atoi(query.Get("page"))
	size, _ := strconv.Atoi(query.Get("perPage"))
	number = max(number, 1)
	p, err := l.respond(r.Context(), number, cmp.Or(size, 100))
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	status, body := cmp.Or(p.status, http.StatusOK), shippingtest.Envelope(p.data(path.Base(r.URL.Path)))
	if l.status != nil {
		status = cmp.Or(l.status(number, l.times[number]), status)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: countedBody{strings.NewReader(body), sync.OnceFunc(func() { l.mu.Lock(); l.open--; l.mu.Unlock() })},
	}, nil
}

// countedBody calls a function when it is closed.
type countedBody struct {
	io.Reader
	close func()
}

func (b countedBody) Close() error {
	b.close()
	return nil
}

// data returns the data of a list of the client.
func (p *page) data(list string) string {
	if p.text != "" || p.unlisted {
		return cmp.Or(p.text, "{}")
	}
	member := identifiers()[list]
	records := make([]map[string]any, len(p.rows))
	for i, row := range p.rows {
		id, storage := p.id(row)
		records[i] = map[string]any{member: id, "_id": storage, "created_at": time.Unix(int64(row), 0).UTC()}
	}
	data := map[string]any{list: records, "pagination": map[string]any{
		"total": p.Total, "perPage": p.PerPage, "pageCount": p.PageCount, "hasNextPage": p.HasNext, "page": p.reported,
	}}
	if p.edit != nil {
		p.edit(data)
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// identifiers are the members that identify the records of each list: the first field of a record is its identifier.
var identifiers = sync.OnceValue(func() map[string]string {
	members := map[string]string{}
	for _, list := range shippingtest.Lists() {
		members[list.Name], _, _ = strings.Cut(list.Record.Field(0).Tag.Get("json"), ",")
	}
	return members
})

// client returns a client of the list without retries.
func (l *list) client(t testing.TB) *shipping.Client {
	t.Helper()
	return shippingtest.NewClient(t, l, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
}

// options are those of a walk over the list as transactions.
func options(walk shipping.Walk) *shipping.TransactionListOptions {
	return &shipping.TransactionListOptions{Wallet: "VA-0123456789", PerPage: pageSize, Walk: walk}
}

// walk returns the rows that a client's walk delivers, up to its error.
func (l *list) walk(t testing.TB, walk shipping.Walk) ([]int, error) {
	t.Helper()
	return collect(l.client(t).Transactions.All(t.Context(), options(walk)))
}

func collect(records iter.Seq2[*shipping.Transaction, error]) (rows []int, err error) {
	for record, err := range records {
		if err != nil {
			return rows, err
		}
		rows = append(rows, rowOf(record))
	}
	return rows, nil
}

func rowOf(record *shipping.Transaction) int { return int(record.CreatedAt.Unix()) }

// walker walks a list from a page.
type walker func(context.Context, *shipping.Client, int, shipping.Walk, ...shipping.CallOption) ([]int, error)

var walkers = map[string]walker{
	"rates": func(ctx context.Context, c *shipping.Client, page int, walk shipping.Walk,
		calls ...shipping.CallOption) ([]int, error) {
		options := &shipping.RateListOptions{Page: page, PerPage: pageSize, Walk: walk}
		return numbers(c.Rates.All(ctx, options, calls...), func(r *shipping.Rate) string { return r.RateID })
	},
	"webhooks": func(ctx context.Context, c *shipping.Client, page int, walk shipping.Walk,
		calls ...shipping.CallOption) ([]int, error) {
		options := &shipping.WebhookListOptions{Page: page, PerPage: pageSize, Walk: walk}
		return numbers(c.Webhooks.All(ctx, options, calls...), func(w *shipping.Webhook) string { return w.WebhookID })
	},
	"transactions": func(ctx context.Context, c *shipping.Client, page int, walk shipping.Walk,
		calls ...shipping.CallOption) ([]int, error) {
		options := options(walk)
		options.Page = page
		return collect(c.Transactions.All(ctx, options, calls...))
	},
}

// numbers returns the rows that have the identifiers of the records, up to an error.
func numbers[T any](records iter.Seq2[*T, error], id func(*T) string) (rows []int, err error) {
	for record, err := range records {
		if err != nil {
			return rows, err
		}
		row, err := strconv.Atoi(strings.TrimPrefix(id(record), "ROW-"))
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
