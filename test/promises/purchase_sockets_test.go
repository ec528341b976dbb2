package promises_test

import (
	"context"
	"io"
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
	return client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-1"), Sole: true,
		PurchaseOptions: shipping.PurchaseOptions{SettleFor: 100 * time.Millisecond, RefusedFor: 20 * time.Millisecond},
	})
}

// drop ends the connection without a response.
func drop(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = connection.Close()
}

func TestPurchase_ConfirmedOverASocket(t *testing.T) {
	t.Parallel()
	server := &till{misbehave: func(w http.ResponseWriter, r *http.Request, charge func()) {
		charge()
		_, _ = io.WriteString(w, shippingtest.Envelope(`{"request_id":"RD-1","status":"processing","document_types":["FDA"]}`))
	}}
	result, err := buy(t.Context(), server.open(t))
	if err != nil || result.ReadBack || server.reached.Load() != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPurchase_ChargedOnlyWhileSettling(t *testing.T) {
	t.Parallel()
	server := &till{}
	release := make(chan struct{})
	server.misbehave = func(w http.ResponseWriter, r *http.Request, charge func()) {
		drop(w)
		<-release
		charge()
	}
	var once sync.Once
	client := server.open(t)
	observer := shipping.Observer{Done: func(_ context.Context, o string, _ []shipping.Attempt, _ time.Duration, _ error) {
		if o == shipping.OpGetRequest {
			once.Do(func() { close(release) }) // the first read still shows a draft
		}
	}}
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(client.BaseURL()), shipping.WithObserver(observer))
	if err != nil {
		t.Fatal(err)
	}
	result, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-1"), Sole: true})
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
			drop(w)
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
	if _, err := shippingtest.NewClient(t, service).Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: "RD-1", DocumentTypes: []shipping.DocumentType{shipping.DocumentFDA}, Draft: shippingtest.DraftRecord("RD-1"), Sole: true}); err != nil {
		t.Fatal(err)
	}
	for name := range service.Requests()[0].Header {
		if strings.Contains(strings.ToLower(name), "idempotency") {
			t.Errorf("the purchase carries %s", name)
		}
	}
}
