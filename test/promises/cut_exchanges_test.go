package promises_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// recorded is an exchange that took place between the client and the reference server.
type recorded struct {
	operation string
	do        asks
	answer    []byte // as it stood on the wire
	head      int    // bytes of the response before its body
	status    int
	body      string // decompressed
	// before and after are, for a purchase, the responses to reading the request back.
	before, after []byte
}

// asks makes a call.
type asks func(ctx context.Context, c *shipping.Client, options ...shipping.CallOption) error

// recorder is a connection to the reference server that keeps what comes back over the wire.
type recorder struct {
	client *shipping.Client
	mu     sync.Mutex
	came   bytes.Buffer
}

func newRecorder(t *testing.T, server *mockserver.Server) *recorder {
	t.Helper()
	r := &recorder{}
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, network, address)
		return recordedConn{conn, r}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	var err error
	r.client, err = shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL), shipping.WithProvisionalRoutes(),
		shipping.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type recordedConn struct {
	net.Conn
	by *recorder
}

func (c recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.by.mu.Lock()
	defer c.by.mu.Unlock()
	c.by.came.Write(p[:n])
	return n, err
}

// record makes a call, which is one exchange, and keeps it.
func (r *recorder) record(t *testing.T, operation string, do asks) recorded {
	t.Helper()
	r.mu.Lock()
	r.came.Reset()
	r.mu.Unlock()
	var response shipping.Response
	err := do(t.Context(), r.client, shipping.WithResponse(&response))
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := bytes.Clone(r.came.Bytes())
	head := bytes.Index(answer, []byte("\r\n\r\n")) + len("\r\n\r\n")
	if response.StatusCode == 0 || head < len("HTTP/1.1 200 OK\r\n\r\n") {
		t.Fatalf("%s: no response is recorded: %v", operation, err)
	}
	return recorded{operation: operation, do: do, answer: answer, head: head, status: response.StatusCode, body: string(response.Body)}
}

// recordedExchanges holds an exchange with the reference server for every operation, and some that it refuses.
func recordedExchanges(t *testing.T) map[string]recorded {
	t.Helper()
	server := mockserver.New(mockserver.WithVirtualClock(time.Time{}))
	defer server.Close()
	wire := newRecorder(t, server)
	wallet, shipment := server.Wallets()[0], "SH-MAGICCUSTOMSONLY" // whose answers are short
	draft := shippingtest.Draft(t, wire.client, shipment).RequestID
	generated := boughtFrom(t, wire.client, shipment)
	failed := boughtFrom(t, wire.client, "SH-MAGICFAILONCE")
	server.Advance(time.Hour)
	invoice, err := wire.client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{FileURL: server.Invoices()[0]})
	if err != nil {
		t.Fatal(err)
	}

	tea := shipping.LineItem{Description: "green tea", HSCode: "0902.10", Quantity: 2, UnitPrice: shippingtest.Amount(t, "12"), Currency: "USD"}
	exchanges := map[string]recorded{}
	for name, made := range map[string]struct {
		operation string
		do        asks
	}{
		"rates": {shipping.OpListRates, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Rates.List(ctx, &shipping.RateListOptions{PerPage: 1}, o...))
		}},
		"countries": {shipping.OpListCountries, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Countries.List(ctx, o...))
		}},
		"webhooks": {shipping.OpListWebhooks, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Webhooks.List(ctx, &shipping.WebhookListOptions{PerPage: 1}, o...))
		}},
		"transactions": {shipping.OpListTransactions, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: wallet, PerPage: 1}, o...))
		}},
		"a replay": {shipping.OpReplayWebhook, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: shipment, Event: shipping.EventShipmentCreated}, o...))
		}},
		"an analysis": {shipping.OpAnalyze, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment}, o...))
		}},
		"a request":          {shipping.OpGetRequest, reading(draft)},
		"an unknown request": {shipping.OpGetRequest, reading("RD-0000000000000000")},
		"items": {operations.UpdateItems, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Regulatory.UpdateItems(ctx, draft, []shipping.LineItem{tea}, o...))
		}},
		"addresses": {operations.UpdateAddresses, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			there := shipping.Address{Name: "A. Buyer", Line1: "1 Main Street", City: "Austin", Country: "US"}
			return second(c.Regulatory.UpdateAddresses(ctx, draft, shipping.Addresses{Destination: &there}, o...))
		}},
		"shipping": {operations.UpdateShipping, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Regulatory.UpdateShipping(ctx, invoice.RequestID, shipping.ShippingDetails{Incoterm: "DAP"}, o...))
		}},
		"a profile": {operations.UpdateProfile, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Regulatory.UpdateProfile(ctx, draft, "CUSTOMS", map[string]string{"incoterm": "DAP"}, o...))
		}},
		"a retry": {operations.RetryRequest, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Regulatory.Retry(ctx, failed, o...))
		}},
		"a PDF": {operations.DocumentPDF, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return second(c.Regulatory.PDF(ctx, generated, "CUSTOMS", o...))
		}},
		"a webhook that is made": {"do", func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
			return c.Do(ctx, http.MethodPost, "/_mock/webhooks", nil, map[string]string{"url": "http://127.0.0.1:9/"}, nil, o...)
		}},
	} {
		exchanges[name] = wire.record(t, made.operation, made.do)
	}
	exchanges["a purchase"] = wire.purchase(t, shippingtest.Draft(t, wire.client, shipment).RequestID, "CUSTOMS")
	exchanges["a refused purchase"] = wire.purchase(t, shippingtest.Draft(t, wire.client, shipment).RequestID, "STEEL")
	return exchanges
}

// purchase records the response to a purchase, and to reads of the request before and after it. The first
// is sent by Do, which reads nothing back on the way.
func (r *recorder) purchase(t *testing.T, request string, document shipping.DocumentType) recorded {
	t.Helper()
	before := r.record(t, shipping.OpGetRequest, reading(request)).answer
	body := map[string]any{"request_id": request, "document_types": []shipping.DocumentType{document}}
	purchase := r.record(t, shipping.OpPurchase, func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
		return c.Do(ctx, http.MethodPost, shippingtest.Operation(shipping.OpPurchase).Route, nil, body, nil, o...)
	})
	purchase.before, purchase.after = before, r.record(t, shipping.OpGetRequest, reading(request)).answer
	purchase.do = func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
		return second(c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
			Draft: shippingtest.DraftRecord(request), RequestID: request, DocumentTypes: []shipping.DocumentType{document}, PurchaseOptions: shipping.PurchaseOptions{SettleFor: 1, RefusedFor: 1}, // it is read back once
		}, o...))
	}
	return purchase
}

func reading(request string) asks {
	return func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) error {
		return second(c.Regulatory.Get(ctx, request, o...))
	}
}

// boughtFrom is a request that was purchased, with every automated document.
func boughtFrom(t *testing.T, client *shipping.Client, shipment string) (request string) {
	t.Helper()
	draft := shippingtest.Draft(t, client, shipment)
	documents, _ := shipping.SelectAutomated(draft)
	if _, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: documents}); err != nil {
		t.Fatal(err)
	}
	return draft.RequestID
}
