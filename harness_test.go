package shipping_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

const (
	testKey  = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"
	testBase = "https://api.service.test"
	// testPlainBase is for transports that really connect.
	testPlainBase = "http://api.service.test"
)

// service is the other end of a client, in process: it answers each request from a script and
// remembers what it received.
type service struct {
	script func(n int, got received) canned // n counts from 1

	mu  sync.Mutex
	got []received
}

// received is a request as it came over the wire.
type received struct {
	Method, Origin, Path string
	Query                url.Values
	Header               http.Header
	Body                 string
	At                   time.Time
}

// canned is an answer: after a while, a status and a body, or an error instead.
type canned struct {
	after  time.Duration
	status int
	header http.Header
	body   string
	cut    bool // the body breaks off
	err    error
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	got := received{
		Method: r.Method, Origin: r.URL.Scheme + "://" + r.URL.Host, Path: r.URL.EscapedPath(),
		Query: r.URL.Query(), Header: r.Header.Clone(), At: time.Now(),
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		got.Body = string(body)
	}
	s.mu.Lock()
	s.got = append(s.got, got)
	n := len(s.got)
	s.mu.Unlock()
	answer := s.script(n, got)
	if answer.after > 0 {
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(answer.after):
		}
	}
	if answer.err != nil {
		return nil, answer.err
	}
	header := answer.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	body := io.Reader(strings.NewReader(answer.body))
	if answer.cut {
		body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{
		StatusCode: answer.status, Header: header, Request: r, ContentLength: int64(len(answer.body)), Body: io.NopCloser(body),
	}, nil
}

func (s *service) requests() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]received(nil), s.got...)
}

// count is how many requests of a method arrived; "" counts all.
func (s *service) count(method string) int {
	n := 0
	for _, got := range s.requests() {
		if method == "" || got.Method == method {
			n++
		}
	}
	return n
}

// answering is a service that gives its answers in turn, and the last one for ever.
func answering(answers ...canned) *service {
	return &service{script: func(n int, _ received) canned { return answers[min(n, len(answers))-1] }}
}

// ok is a success in the envelope of the specification.
func ok(data string) canned {
	return canned{status: http.StatusOK, body: `{"status":true,"message":"done","data":` + data + `}`}
}

// refusal is a failure in the envelope.
func refusal(status int, message string) canned {
	return canned{status: status, body: `{"status":false,"message":"` + message + `"}`}
}

// with adds a header to an answer.
func (a canned) with(name, value string) canned {
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Set(name, value)
	return a
}

// connect makes a client whose requests go to transport.
func connect(t testing.TB, transport http.RoundTripper, options ...shipping.Option) *shipping.Client {
	t.Helper()
	client, err := shipping.NewClient(testKey, append([]shipping.Option{
		shipping.WithBaseURL(testBase), shipping.WithHTTPClient(&http.Client{Transport: transport}),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// connectPlain makes a client that reaches s through a plain *http.Transport, with one connection a request.
// If the script returns a *net.OpError of a dial, the connection fails with it; any other error closes the
// connection after the request. The script sees only the method of a request.
func connectPlain(t testing.TB, s *service, options ...shipping.Option) *shipping.Client {
	t.Helper()
	type operationKey struct{}
	observer := shipping.Observer{Start: func(ctx context.Context, operation shipping.Operation) context.Context {
		return context.WithValue(ctx, operationKey{}, operation)
	}}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		got := received{Method: ctx.Value(operationKey{}).(shipping.Operation).Method, At: time.Now()}
		s.mu.Lock()
		s.got = append(s.got, got)
		n := len(s.got)
		s.mu.Unlock()
		answer := s.script(n, got)
		if failed, ok := answer.err.(*net.OpError); ok && failed.Op == "dial" {
			return nil, failed
		}
		here, there := net.Pipe()
		go s.serve(there, n, answer)
		return here, nil
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	return connect(t, transport, append([]shipping.Option{shipping.WithBaseURL(testPlainBase), shipping.WithObserver(observer)}, options...)...)
}

// serve reads request n from conn and sends the answer.
func (s *service) serve(conn net.Conn, n int, answer canned) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.got[n-1].Body = string(body)
	s.mu.Unlock()
	if answer.after > 0 { // or until the client closes the connection
		_ = conn.SetReadDeadline(time.Now().Add(answer.after))
		_, _ = conn.Read(make([]byte, 1))
	}
	if answer.err == nil {
		response := http.Response{
			StatusCode: answer.status, ProtoMajor: 1, ProtoMinor: 1, Header: answer.header,
			Body: io.NopCloser(strings.NewReader(answer.body)), ContentLength: int64(len(answer.body)),
		}
		_ = response.Write(conn)
	}
}

// golden reads an answer that was written from the tables of the specification.
func golden(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func serveGolden(t testing.TB, name string) *service {
	t.Helper()
	return answering(canned{status: http.StatusOK, body: golden(t, name)})
}

// exact compares values of this package field by field, amounts by what they are.
var exact = cmp.Options{cmp.Comparer(func(a, b shipping.Amount) bool { return a == b })}

func diff(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, exact); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// call is one operation of the client with arguments that pass its checks.
type call struct {
	operation string
	answer    string // the data of a success
	do        func(ctx context.Context, c *shipping.Client, options ...shipping.CallOption) error
}

const requestID = "RD-A1B2C3D4E5F6G7H8"

// calls is every method that sends something, so that no method misses a case.
func calls() []call {
	const draft = `{"request_id":"` + requestID + `","status":"draft","source":"shipment","available_documents":[],"line_items":[]}`
	page := &shipping.RateListOptions{}
	return []call{
		{shipping.OpListRates, `{"rates":[],"pagination":{}}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Rates.List(ctx, page, o...)
			return err
		}},
		{shipping.OpListCountries, `[]`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Countries.List(ctx, o...)
			return err
		}},
		{shipping.OpListWebhooks, `{"webhooks":[],"pagination":{}}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Webhooks.List(ctx, nil, o...)
			return err
		}},
		{shipping.OpReplayWebhook, `{"shipment_id":"SH-1"}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: "WD-1"}, o...)
			return err
		}},
		{shipping.OpListTransactions, `{"transactions":[],"pagination":{}}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: "VA-1"}, o...)
			return err
		}},
		{shipping.OpAnalyze, draft, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-1"}, o...)
			return err
		}},
		{shipping.OpGetRequest, draft, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.Get(ctx, requestID, o...)
			return err
		}},
		{shipping.OpPurchase, `{"request_id":"` + requestID + `","status":"processing"}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.PurchaseWith(ctx, &shipping.PurchaseRequest{
				RequestID: requestID, DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA},
			}, o...)
			return err
		}},
		{shipping.OpUpdateItems, draft, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateItems(ctx, requestID, []shipping.LineItem{{Description: "tea"}}, o...)
			return err
		}},
		{shipping.OpUpdateAddresses, draft, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateAddresses(ctx, requestID, shipping.Addresses{Origin: &shipping.Address{Country: "CN"}}, o...)
			return err
		}},
		{shipping.OpUpdateShipping, draft, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateShipping(ctx, requestID, shipping.ShippingDetails{Incoterm: "DAP"}, o...)
			return err
		}},
		{shipping.OpUpdateProfile, draft, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.UpdateProfile(ctx, requestID, shipping.DocumentFDA, map[string]string{"product_code": "54YFT10"}, o...)
			return err
		}},
		{shipping.OpRetryRequest, draft, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.Retry(ctx, requestID, o...)
			return err
		}},
		{shipping.OpDocumentPDF, "", func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			_, err := c.Regulatory.PDF(ctx, requestID, shipping.DocumentFDA, o...)
			return err
		}},
		{"do", `{}`, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return c.Do(ctx, http.MethodPost, "/v1/shipments", nil, map[string]string{"parcel": "PC-1"}, nil, o...)
		}},
	}
}

// success is the answer that a call expects.
func (c call) success() canned {
	if c.operation == shipping.OpDocumentPDF {
		return canned{status: http.StatusOK, body: "%PDF-1.7 …"}
	}
	return ok(c.answer)
}

// quick is a policy that repeats almost without waiting, for tests that are not about the wait.
var quick = shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Microsecond, MaxWait: time.Microsecond})

// wantError holds an error against the sentinels it must be.
func wantError(t testing.TB, what string, err error, sentinels ...error) {
	t.Helper()
	for _, sentinel := range sentinels {
		if !errors.Is(err, sentinel) {
			t.Errorf("%s: error %v is not %q", what, err, sentinel)
		}
	}
}
