package promises_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// till is the service's side of purchases, on a real socket: it counts those that reach it, charges
// as planned, and responds to reads with the true state.
type till struct {
	misbehave func(w http.ResponseWriter, r *http.Request, charge func())

	reached, charged atomic.Int32
}

func (s *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		s.reached.Add(1)
		s.misbehave(w, r, func() { s.charged.Add(1) })
		return
	}
	record := `{"request_id":"RD-1","status":"draft"}`
	if s.charged.Load() > 0 {
		record = `{"request_id":"RD-1","status":"processing","documents":[{"document_type":"FDA"}],"charged_amount":5,"currency":"NGN"}`
	}
	_, _ = io.WriteString(w, shippingtest.Envelope(record))
}

// open serves the till, and returns a client whose settling does not take long.
func (s *till) open(t *testing.T) *shipping.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(server.URL), shipping.WithHTTPClient(&http.Client{Transport: transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Millisecond, MaxWait: time.Millisecond, AttemptTimeout: 300 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func buy(ctx context.Context, client *shipping.Client) (*shipping.PurchaseResult, error) {
	return client.Regulatory.PurchaseWith(ctx, &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, PurchaseOptions: shipping.PurchaseOptions{SettleFor: 100 * time.Millisecond, RefusedFor: 20 * time.Millisecond},
	})
}

// drop ends the connection without a response; with a reset where abrupt.
func drop(w http.ResponseWriter, abrupt bool) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, isTCP := connection.(*net.TCPConn); isTCP && abrupt {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

func answerWith(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/v1/regulatory-documents/purchase")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestPurchase_OverBrokenConnectionsReachesTheServerOnce(t *testing.T) {
	t.Parallel()
	confirmation := shippingtest.Envelope(`{"status":"processing"}`)
	for name, test := range map[string]struct {
		misbehave func(w http.ResponseWriter, r *http.Request)
		// lost is the outcome if nothing was charged: a charge is always found by reading back.
		lost shipping.PurchaseOutcome
	}{
		"drops the connection unread":  {func(w http.ResponseWriter, r *http.Request) { drop(w, false) }, shipping.OutcomeUnknown},
		"resets the connection":        {func(w http.ResponseWriter, r *http.Request) { drop(w, true) }, shipping.OutcomeUnknown},
		"drops the connection read":    {func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); drop(w, false) }, shipping.OutcomeUnknown},
		"answers 500":                  {answerWith(500, shippingtest.RefusalBody("oops")), shipping.OutcomeUnknown},
		"answers 502 without a body":   {answerWith(502, ""), shipping.OutcomeUnknown},
		"answers 503":                  {answerWith(503, "<html>"), shipping.OutcomeUnknown},
		"answers 429":                  {answerWith(429, shippingtest.RefusalBody("slow down")), shipping.OutcomeNotCharged},
		"answers 408":                  {answerWith(408, shippingtest.RefusalBody("slow")), shipping.OutcomeUnknown},
		"answers 409":                  {answerWith(409, shippingtest.RefusalBody("busy")), shipping.OutcomeNotCharged},
		"answers 308":                  {answerWith(308, ""), shipping.OutcomeUnknown},
		"answers 307":                  {answerWith(307, ""), shipping.OutcomeUnknown},
		"answers 302":                  {answerWith(302, ""), shipping.OutcomeUnknown},
		"answers 200 as HTML":          {answerWith(200, "<html>"), shipping.OutcomeUnknown},
		"answers 200 with nothing":     {answerWith(200, ""), shipping.OutcomeUnknown},
		"answers 200, status false":    {answerWith(200, shippingtest.RefusalBody("no")), shipping.OutcomeNotCharged},
		"answers 400 of a proxy":       {answerWith(400, "<html>bad request</html>"), shipping.OutcomeUnknown},
		"answers half a confirmation":  {answerWith(200, confirmation[:20]), shipping.OutcomeUnknown},
		"truncates the confirmation":   {truncated(confirmation), shipping.OutcomeUnknown},
		"never answers":                {func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }, shipping.OutcomeUnknown},
		"stops in the middle":          {stalled(confirmation), shipping.OutcomeUnknown},
		"refuses by a rule":            {answerWith(400, shippingtest.RefusalBody("insufficient funds")), shipping.OutcomeNotCharged},
		"refuses the key":              {answerWith(401, shippingtest.RefusalBody("no")), shipping.OutcomeNotCharged},
		"refuses a request it lacks":   {answerWith(404, shippingtest.RefusalBody("no such request")), shipping.OutcomeNotCharged},
		"refuses with status in words": {answerWith(422, `{"status":"false","message":"no"}`), shipping.OutcomeNotCharged},
	} {
		for _, charges := range []bool{false, true} {
			title := name + ", nothing charged"
			if charges {
				title = name + ", after the charge"
			}
			t.Run(title, func(t *testing.T) {
				t.Parallel()
				server := &till{misbehave: func(w http.ResponseWriter, r *http.Request, charge func()) {
					if charges {
						charge()
					}
					test.misbehave(w, r)
				}}
				result, err := buy(t.Context(), server.open(t))
				if got := server.reached.Load(); got != 1 {
					t.Errorf("the purchase reached the server %d times", got)
				}
				want := test.lost
				if charges {
					want = shipping.OutcomeCharged
				}
				if got := shippingtest.Outcome(result, err); got != want {
					t.Errorf("outcome %q, want %q (%v)", got, want, err)
				}
				if charges && test.lost == shipping.OutcomeUnknown && (err != nil || !result.ReadBack || result.Request == nil) {
					t.Errorf("a charge whose response was lost: %+v, %v", result, err)
				}
				if err != nil && !strings.Contains(err.Error(), "RD-1") {
					t.Errorf("the error does not name the request: %v", err)
				}
			})
		}
	}
}

// truncated announces more than it sends.
func truncated(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, body[:20])
	}
}

// stalled sends half of a body and keeps the connection open.
func stalled(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body[:20])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestPurchase_ConfirmedOverASocket(t *testing.T) {
	t.Parallel()
	server := &till{misbehave: func(w http.ResponseWriter, r *http.Request, charge func()) {
		charge()
		_, _ = io.WriteString(w, shippingtest.Envelope(`{"request_id":"RD-1","status":"processing","document_types":["FDA"]}`))
	}}
	result, err := buy(t.Context(), server.open(t))
	if err != nil || result.ReadBack || result.Outcome != shipping.OutcomeCharged || server.reached.Load() != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPurchase_ChargedOnlyWhileSettling(t *testing.T) {
	t.Parallel()
	server := &till{}
	release := make(chan struct{})
	server.misbehave = func(w http.ResponseWriter, r *http.Request, charge func()) {
		drop(w, false)
		<-release
		charge()
	}
	var once sync.Once
	client := server.open(t)
	observer := shipping.Observer{Done: func(_ context.Context, o shipping.Operation, _ []shipping.Attempt, _ time.Duration, _ error) {
		if o.Name == shipping.OpGetRequest {
			once.Do(func() { close(release) }) // the first read still shows a draft
		}
	}}
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(client.BaseURL()), shipping.WithObserver(observer))
	if err != nil {
		t.Fatal(err)
	}
	result, err := client.Regulatory.Purchase(t.Context(), "RD-1", shipping.DocumentFDA)
	if err != nil || !result.ReadBack || server.reached.Load() != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPurchase_NobodyThereIsNotCharged(t *testing.T) {
	t.Parallel()
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(nobodyThere))
	if err != nil {
		t.Fatal(err)
	}
	result, err := buy(t.Context(), client)
	if got := shippingtest.Outcome(result, err); got != shipping.OutcomeNotCharged {
		t.Errorf("outcome %q of a purchase that was never sent (%v)", got, err)
	}
	shippingtest.WantError(t, "purchase", err, shipping.ErrConnection)
}

// TestPurchase_OverAStaleConnection: the server has closed the connection of an earlier call, or closes
// it as soon as it has read the purchase. net/http must not send it a second time.
func TestPurchase_OverAStaleConnection(t *testing.T) {
	t.Parallel()
	t.Run("closed before", func(t *testing.T) {
		t.Parallel()
		for range 20 { // the client may or may not have noticed
			server := &till{misbehave: func(w http.ResponseWriter, r *http.Request, charge func()) {
				charge()
				_, _ = io.WriteString(w, shippingtest.Envelope(`{"status":"processing"}`))
			}}
			socket := httptest.NewServer(server)
			client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(socket.URL))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Regulatory.Get(t.Context(), "RD-1"); err != nil {
				t.Fatal(err)
			}
			socket.CloseClientConnections()
			result, err := buy(t.Context(), client)
			want := map[int32]shipping.PurchaseOutcome{0: shipping.OutcomeUnknown, 1: shipping.OutcomeCharged}[server.reached.Load()]
			if got := shippingtest.Outcome(result, err); want == "" || got != want {
				t.Errorf("reached the server %d times, outcome %q (%v)", server.reached.Load(), got, err)
			}
			socket.Close()
		}
	})
	t.Run("closed after the request", func(t *testing.T) {
		t.Parallel()
		server := &till{misbehave: func(w http.ResponseWriter, r *http.Request, charge func()) {
			_, _ = io.Copy(io.Discard, r.Body)
			charge()
			drop(w, false)
		}}
		client := server.open(t)
		if _, err := client.Regulatory.Get(t.Context(), "RD-1"); err != nil { // its connection is used again
			t.Fatal(err)
		}
		result, err := buy(t.Context(), client)
		if server.reached.Load() != 1 || shippingtest.Outcome(result, err) != shipping.OutcomeCharged {
			t.Errorf("reached the server %d times, outcome %q (%v)", server.reached.Load(), shippingtest.Outcome(result, err), err)
		}
	})
}

func TestPurchase_CarriesNothingThatMakesNetHTTPRepeatIt(t *testing.T) {
	t.Parallel()
	service := shippingtest.NewService(shippingtest.OK(`{"status":"processing"}`))
	if _, err := shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), "RD-1", shipping.DocumentFDA); err != nil {
		t.Fatal(err)
	}
	for name := range service.Requests()[0].Header {
		if strings.Contains(strings.ToLower(name), "idempotency") {
			t.Errorf("the purchase carries %s", name)
		}
	}
}
