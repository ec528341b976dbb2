// Package lists_test reads lists that change while they are read, and counts that every record is delivered once.
package lists_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// rowService is a list service in process. Its rows are numbers, newest first, and show up as rates,
// webhooks or transactions, each with the pagination object of the specification.
type rowService struct {
	perPageCap int                              // no page is longer; 0 for none
	latency    func(page, n int) time.Duration  // of the nth request for a page, half before and half after its rows are read
	before     func(s *rowService, page, n int) // called, under the lock, before the rows of the nth answer are read
	change     func(page int, a *rowAnswer)     // changes a response
	status     func(page, n int) int            // of the nth request for a page; 0 for 200
	legs       int                              // how many transactions share an identifier

	mu       sync.Mutex
	rows     []int
	newest   int
	asked    []int // the pages, in the order of the requests
	times    map[int]int
	answers  int
	inFlight int
	most     int // in flight at once
	open     int // bodies
}

// rowAnswer is a response before it is written.
type rowAnswer struct {
	Rows       []int
	Pagination map[string]any // nil leaves it out
	Null       bool           // the array
	Anonymous  bool           // records without an identifier
	Data       string         // the whole data, in place of rows and pagination
}

// newRowService returns a service with n rows.
func newRowService(n int) *rowService {
	s := &rowService{times: map[int]int{}}
	s.arrive(n)
	return s
}

// arrive puts n new rows at the head.
func (s *rowService) arrive(n int) {
	fresh := make([]int, n, n+len(s.rows))
	for i := range fresh {
		fresh[i] = s.newest + n - i
	}
	s.newest += n
	s.rows = append(fresh, s.rows...)
}

// vanish takes the n rows from position at away, as far as there are any.
func (s *rowService) vanish(at, n int) {
	at = min(max(at, 0), len(s.rows))
	s.rows = slices.Delete(slices.Clone(s.rows), at, min(at+n, len(s.rows)))
}

// RoundTrip responds to a request.
func (s *rowService) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	page, _ := strconv.Atoi(query.Get("page"))
	perPage, _ := strconv.Atoi(query.Get("perPage"))
	page, perPage = max(page, 1), cmp.Or(max(perPage, 0), 100)

	s.mu.Lock()
	s.asked = append(s.asked, page)
	s.times[page]++
	n := s.times[page]
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.inFlight--; s.mu.Unlock() }()

	var latency time.Duration
	if s.latency != nil {
		latency = s.latency(page, n)
	}
	if err := pass(r.Context(), latency/2); err != nil {
		return nil, err
	}
	response := s.answer(r.URL.Path, page, perPage, n)
	if err := pass(r.Context(), latency-latency/2); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response, nil
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

func (s *rowService) answer(path string, page, perPage, n int) *http.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers++
	if s.before != nil {
		s.before(s, page, s.answers)
	}
	if s.perPageCap > 0 {
		perPage = min(perPage, s.perPageCap)
	}
	first := min((page-1)*perPage, len(s.rows))
	list := path[strings.LastIndexByte(path, '/')+1:]
	a := rowAnswer{Rows: s.rows[first:min(first+perPage, len(s.rows))],
		Pagination: paginationOf(list, page, perPage, len(s.rows))}
	if s.change != nil {
		s.change(page, &a)
	}
	status, body := 200, a.json(list, s.legs)
	if s.status != nil {
		if code := s.status(page, n); code != 0 {
			status, body = code, `{"status":false,"message":"out of order"}`
		}
	}
	s.open++
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: countedBody{strings.NewReader(body), sync.OnceFunc(func() { s.mu.Lock(); s.open--; s.mu.Unlock() })},
	}
}

// paginationOf is the pagination object as the specification has it for each list.
func paginationOf(list string, page, perPage, total int) map[string]any {
	pageCount := max(1, (total+perPage-1)/perPage)
	p := map[string]any{"total": total, "perPage": perPage, "page": page, "pageCount": pageCount}
	if list == "rates" {
		return p
	}
	p["currentPage"], p["hasPrevPage"], p["hasNextPage"] = page, page > 1, page < pageCount
	none := any(0)
	if list == "webhooks" {
		p["pagingCounter"], none = (page-1)*perPage+1, nil
	}
	p["prevPage"], p["nextPage"] = none, none
	if page > 1 {
		p["prevPage"] = page - 1
	}
	if page < pageCount {
		p["nextPage"] = page + 1
	}
	return p
}

func (a rowAnswer) json(list string, legs int) string {
	if a.Data != "" {
		return shippingtest.Envelope(a.Data)
	}
	id := map[string]string{"rates": "rate_id", "webhooks": "webhook_id", "transactions": "transactionId"}[list]
	records := make([]map[string]string, len(a.Rows))
	for i, row := range a.Rows {
		switch {
		case legs > 0:
			records[i] = map[string]string{id: rowID(row / legs), "_id": strconv.Itoa(row)}
		case a.Anonymous:
			records[i] = map[string]string{"created_at": time.Unix(int64(row), 0).UTC().Format(time.RFC3339)}
		default:
			records[i] = map[string]string{id: rowID(row), "currency": "NGN"}
		}
	}
	data := map[string]any{list: records}
	if a.Null {
		data[list] = nil
	}
	if a.Pagination != nil {
		data["pagination"] = a.Pagination
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return shippingtest.Envelope(string(text))
}

func rowID(row int) string { return fmt.Sprintf("ROW-%08d", row) }

func rowOf(id string) int {
	row, err := strconv.Atoi(strings.TrimPrefix(id, "ROW-"))
	if err != nil {
		return -1
	}
	return row
}

// countedBody is a body that calls a function when it is closed.
type countedBody struct {
	io.Reader
	close func()
}

func (b countedBody) Close() error {
	b.close()
	return nil
}

// client returns a client of the service without retries, unless the options change that.
func (s *rowService) client(t testing.TB, options ...shipping.Option) *shipping.Client {
	t.Helper()
	return shippingtest.NewClient(t, s, append([]shipping.Option{
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}),
	}, options...)...)
}

// requests returns how many requests there were, and forgets them.
func (s *rowService) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.asked)
	s.asked = nil
	return n
}

// walkers walk one of the three lists, and give the numbers of its rows.
func walkers() map[string]walker {
	return map[string]walker{
		"rates":        walkRates,
		"webhooks":     walkWebhooks,
		"transactions": walkTransactions,
	}
}

type walker func(ctx context.Context, c *shipping.Client, page, perPage int, w shipping.Walk,
	calls ...shipping.CallOption) iter.Seq2[int, error]

// defaultWindow is the window of a walk that sets none.
const defaultWindow = 20

func walkRates(ctx context.Context, c *shipping.Client, page, perPage int, w shipping.Walk,
	calls ...shipping.CallOption) iter.Seq2[int, error] {
	opts := &shipping.RateListOptions{Page: page, PerPage: perPage, Walk: w}
	return numbers(c.Rates.All(ctx, opts, calls...), func(r *shipping.Rate) string { return r.RateID })
}

func walkWebhooks(ctx context.Context, c *shipping.Client, page, perPage int, w shipping.Walk,
	calls ...shipping.CallOption) iter.Seq2[int, error] {
	opts := &shipping.WebhookListOptions{Page: page, PerPage: perPage, Walk: w}
	return numbers(c.Webhooks.All(ctx, opts, calls...), func(w *shipping.Webhook) string { return w.WebhookID })
}

func walkTransactions(ctx context.Context, c *shipping.Client, page, perPage int, w shipping.Walk,
	calls ...shipping.CallOption) iter.Seq2[int, error] {
	opts := &shipping.TransactionListOptions{Wallet: "VA-0123456789", Page: page, PerPage: perPage, Walk: w}
	return numbers(c.Transactions.All(ctx, opts, calls...),
		func(t *shipping.Transaction) string { return t.TransactionID })
}

func numbers[T any](records iter.Seq2[*T, error], id func(*T) string) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for record, err := range records {
			row := 0
			if record != nil {
				row = rowOf(id(record))
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// collect returns the records of a walk, up to its error.
func collect(rows iter.Seq2[int, error]) (delivered []int, err error) {
	for row, err := range rows {
		if err != nil {
			return delivered, err
		}
		delivered = append(delivered, row)
	}
	return delivered, nil
}

// judge returns the problems of a walk over rows that were there when it began. Those that are still there must have
// been delivered, and no row may have been delivered twice.
func judge(began, ended, delivered []int) error {
	if row := repeatedRow(delivered); row > 0 {
		return fmt.Errorf("row %d was delivered twice", row)
	}
	return lostRow(survivors(began, ended), delivered)
}

// survivors returns the rows that were there when a walk began and when it ended.
func survivors(began, ended []int) []int {
	there := set(ended)
	return slices.DeleteFunc(slices.Clone(began), func(row int) bool { return !there[row] })
}

func repeatedRow(rows []int) int {
	seen := map[int]bool{}
	for _, row := range rows {
		if seen[row] {
			return row
		}
		seen[row] = true
	}
	return 0
}

func lostRow(want, got []int) error {
	came := set(got)
	for _, row := range want {
		if !came[row] {
			return fmt.Errorf("row %d was lost in silence", row)
		}
	}
	return nil
}

func set(rows []int) map[int]bool {
	s := map[int]bool{}
	for _, row := range rows {
		s[row] = true
	}
	return s
}

// inOrder reports whether the rows that were there when a walk began came newest first.
func inOrder(began, delivered []int) bool {
	old := slices.DeleteFunc(slices.Clone(delivered), func(row int) bool { return len(began) == 0 || row > began[0] })
	return slices.IsSortedFunc(old, func(a, b int) int { return b - a })
}
