package batch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// walletService is a service with a wallet, in process. Every document costs 100 NGN. What becomes of the
// nth purchase is scripted.
type walletService struct {
	purchase func(n int) purchaseFault
	charged  func() // called at each charge, while the service is locked

	mu        sync.Mutex
	requests  map[string]*walletRequest
	purchases int
	reads     int
	spent     shipping.Amount
}

type walletRequest struct {
	status  string
	charges int
	report  string // of the charge, as members of the record
}

// purchaseFault is what happens to a purchase.
type purchaseFault struct {
	// Refuse: the service refuses. Lose: it does not respond. Ignore: it does not charge either.
	Refuse, Lose, Ignore bool
	// Late is when the charge comes, after the purchase was lost.
	Late time.Duration
	// Takes is how long the response takes.
	Takes time.Duration
	// Charge is charged instead of 100, and Report is reported instead of that.
	Charge, Report string
}

// walletClient returns a client of the service.
func walletClient(t *testing.T, service http.RoundTripper) *shipping.Client {
	t.Helper()
	client, err := shipping.NewClient(shippingtest.Key, shipping.WithBaseURL(shippingtest.BaseURL), shipping.WithHTTPClient(&http.Client{Transport: service}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, Burst: 1000}))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (s *walletService) RoundTrip(r *http.Request) (*http.Response, error) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/analyze"):
		return s.analyze(r)
	case strings.HasSuffix(r.URL.Path, "/purchase"):
		return s.buy(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return reply(200, s.record(filepath.Base(r.URL.Path)))
}

func (s *walletService) analyze(r *http.Request) (*http.Response, error) {
	var body struct {
		ShipmentID string `json:"shipment_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := "RD-" + body.ShipmentID
	s.put(id, "draft")
	return reply(200, s.record(id))
}

// put adds a request in a state.
func (s *walletService) put(id, status string) {
	if s.requests == nil {
		s.requests = map[string]*walletRequest{}
	}
	s.requests[id] = &walletRequest{status: status}
}

func (s *walletService) buy(r *http.Request) (*http.Response, error) {
	var body struct {
		RequestID string `json:"request_id"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.purchases++
	fault := purchaseFault{}
	if s.purchase != nil {
		fault = s.purchase(s.purchases)
	}
	s.mu.Unlock()
	time.Sleep(fault.Takes) // not cut short: a service that has the request continues with it
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case fault.Late > 0:
		time.AfterFunc(fault.Late, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.charge(body.RequestID, fault)
		})
	case fault.Refuse || s.requests[body.RequestID].status != "draft":
		return reply(400, "")
	case !fault.Ignore:
		s.charge(body.RequestID, fault)
	}
	if fault.Lose || fault.Ignore || fault.Late > 0 {
		return nil, errors.New("the connection broke")
	}
	return reply(200, fmt.Sprintf(`{"request_id":%q,"status":"processing"%s}`, body.RequestID, s.requests[body.RequestID].report))
}

func (s *walletService) charge(id string, fault purchaseFault) {
	request := s.requests[id]
	if request.status != "draft" {
		return
	}
	amount := fault.Charge
	if amount == "" {
		amount = "100"
	}
	price, err := shipping.ParseAmount(amount)
	if err == nil {
		s.spent, err = s.spent.Add(price)
	}
	if err != nil {
		panic(err)
	}
	request.report = fmt.Sprintf(`,"charged_amount":%s,"currency":"NGN"`, amount)
	if fault.Report != "" {
		request.report = "," + fault.Report
	}
	request.status = "completed"
	request.charges++
	if s.charged != nil {
		s.charged()
	}
}

func (s *walletService) record(id string) string {
	request := s.requests[id]
	if request == nil {
		request = &walletRequest{status: "draft"}
	}
	documents := ""
	if request.charges > 0 {
		documents = `,"documents":[{"document_type":"CUSTOMS","status":"generated"}]`
	}
	return fmt.Sprintf(`{"request_id":%q,"status":%q,"source":"shipment","line_items":[],"available_documents":[{"document_type":"CUSTOMS","amount":100,"currency":"NGN"}]%s%s}`,
		id, request.status, documents, request.report)
}

// total returns the sum of the charges, and how many purchases were received.
func (s *walletService) total() (spent shipping.Amount, purchases int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent, s.purchases
}

// reply is an envelope; without data it is a refusal.
func reply(status int, data string) (*http.Response, error) {
	body := `{"status":true,"message":"ok","data":` + data + `}`
	if data == "" {
		body = `{"status":false,"message":"no","data":null}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
}

// walletItems are shipments SH-1 to SH-n.
func walletItems(n int) []batch.Item {
	items := make([]batch.Item, n)
	for i := range items {
		items[i].Analyze.ShipmentID = fmt.Sprintf("SH-%d", i+1)
	}
	return items
}

func nairaBudget(t *testing.T, amount string) *shipping.Budget {
	t.Helper()
	return &shipping.Budget{Amount: shippingtest.Amount(t, amount), Currency: "NGN"}
}
