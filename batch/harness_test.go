package batch_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// walletService is a service with a wallet, in process. Every document costs 100 NGN. What becomes of the
// nth purchase is scripted.
type walletService struct {
	purchase func(n int) purchaseFault
	charged  func() // called at each charge, while the service is locked
	offer    string // the members of the offered document instead of a price of 100
	list     string // the name of the list of offers instead of available_documents
	quote    string // the charged amount that every record shows, instead of the charge

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
	// Takes is how long the response takes.
	Takes time.Duration
	// Charge is charged instead of 100, and Report is reported instead of Charge.
	Charge, Report string
}

// walletClient returns a client of the service.
func walletClient(t *testing.T, service http.RoundTripper) *shipping.Client {
	t.Helper()
	return shippingtest.NewClient(t, service, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, Burst: 1000}))
}

func (s *walletService) RoundTrip(r *http.Request) (*http.Response, error) {
	id := filepath.Base(r.URL.Path)
	if r.Method == http.MethodPost {
		var body struct {
			ShipmentID string `json:"shipment_id"`
			RequestID  string `json:"request_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		if body.RequestID != "" {
			return s.buy(r, body.RequestID)
		}
		id = "RD-" + body.ShipmentID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost {
		s.put(id, "draft")
	} else {
		s.reads++
	}
	return shippingtest.OK(s.record(id))(r)
}

// put adds a request in a state.
func (s *walletService) put(id, status string) {
	if s.requests == nil {
		s.requests = map[string]*walletRequest{}
	}
	s.requests[id] = &walletRequest{status: status}
}

func (s *walletService) buy(r *http.Request, id string) (*http.Response, error) {
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
	case fault.Refuse || s.requests[id].status != "draft":
		return shippingtest.Refusal(400, "no")(r)
	case !fault.Ignore:
		s.charge(id, fault)
	}
	if fault.Lose || fault.Ignore {
		return nil, errors.New("the connection broke")
	}
	report := s.requests[id].report
	return shippingtest.OK(fmt.Sprintf(`{"request_id":%q,"status":"processing"%s}`, id, report))(r)
}

func (s *walletService) charge(id string, fault purchaseFault) {
	request := s.requests[id]
	if request.status != "draft" {
		return
	}
	amount := cmp.Or(fault.Charge, "100")
	price, err := shipping.ParseAmount(amount)
	if err == nil {
		s.spent, err = s.spent.Add(price)
	}
	if err != nil {
		panic(err)
	}
	request.report = fmt.Sprintf(`,"charged_amount":%s,"currency":"NGN"`, amount)
	if s.quote != "" {
		request.report = ""
	}
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
	documents, offer := "", cmp.Or(s.offer, `"amount":100,"currency":"NGN"`)
	if s.quote != "" && request.report == "" {
		documents = `,"charged_amount":` + s.quote
	}
	if request.charges > 0 {
		documents += `,"documents":[{"document_type":"CUSTOMS","status":"generated"}]`
	}
	return fmt.Sprintf(`{"request_id":%q,"status":%q,%q:[{"document_type":"CUSTOMS",%s}]%s%s}`,
		id, request.status, cmp.Or(s.list, "available_documents"), offer, documents, request.report)
}

// total returns the sum of the charges, and how many purchases were received.
func (s *walletService) total() (spent shipping.Amount, purchases int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent, s.purchases
}

// requestService is a service with the request RD-1 and its offers, of which a draft is made by an analysis.
func requestService(offers string, purchase httpmock.Responder, reads ...httpmock.Responder) *shippingtest.Service {
	service := shippingtest.NewRequestService([]httpmock.Responder{purchase}, reads)
	service.RegisterResponder(http.MethodPost, shippingtest.BaseURL+"/v1/regulatory-documents/analyze",
		shippingtest.Record("draft", `"available_documents":[`+offers+`]`))
	return service
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

// bubbleServer is a reference server inside a synctest bubble, without a socket.
func bubbleServer(t *testing.T, opts ...mockserver.Option) (*mockserver.Server, *shipping.Client) {
	t.Helper()
	server := mockserver.New(append([]mockserver.Option{mockserver.WithoutListener()}, opts...)...)
	t.Cleanup(server.Close)
	return server, server.Client(t)
}

func shipmentItems(server *mockserver.Server, n int) []batch.Item {
	items := make([]batch.Item, n)
	for i := range items {
		items[i].Analyze.ShipmentID = server.Shipments()[i]
	}
	return items
}

// hooked is a journal with a function around each call: claim, append, release, committed or related. The record of a
// call other than append has only the key.
type hooked struct {
	batch.Journal
	around func(ctx context.Context, call string, record batch.Record, do func() error) error
}

func (j hooked) Claim(ctx context.Context, key string) (claim batch.Claim, err error) {
	err = j.around(ctx, "claim", batch.Record{Key: key}, func() (err error) {
		claim, err = j.Journal.Claim(ctx, key)
		return err
	})
	return hookedClaim{claim, j}, err
}

func (j hooked) Committed(ctx context.Context, period string, budget shipping.Budget) (sum shipping.Amount, err error) {
	return sum, j.around(ctx, "committed", batch.Record{}, func() (err error) {
		sum, err = j.Journal.Committed(ctx, period, budget)
		return err
	})
}

func (j hooked) Related(ctx context.Context, record batch.Record) (records []batch.Record, err error) {
	return records, j.around(ctx, "related", batch.Record{Key: record.Key}, func() (err error) {
		records, err = j.Journal.Related(ctx, record)
		return err
	})
}

type hookedClaim struct {
	batch.Claim
	journal hooked
}

func (c hookedClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (sum shipping.Amount, err error) {
	err = c.journal.around(ctx, "append", record, func() (err error) {
		sum, err = c.Claim.Append(ctx, record, budget, alone)
		return err
	})
	return sum, err
}

func (c hookedClaim) Release(ctx context.Context) error {
	return c.journal.around(ctx, "release", batch.Record{Key: c.Record().Key},
		func() error { return c.Claim.Release(ctx) })
}

// newMemoryJournal returns a journal with the records of earlier runs.
func newMemoryJournal(t *testing.T, records ...batch.Record) batch.Journal {
	t.Helper()
	journal := batch.Memory()
	for _, record := range records {
		shippingtest.NoError(t, appendTo(t.Context(), journal, record))
	}
	return journal
}

// lastRecord returns the last record of an item that no run has claimed.
func lastRecord(t *testing.T, journal batch.Journal, key string) batch.Record {
	t.Helper()
	claim, err := journal.Claim(t.Context(), key)
	if err == nil {
		err = claim.Release(t.Context())
	}
	shippingtest.NoError(t, err)
	return claim.Record()
}

// appendTo appends one record under a new claim.
func appendTo(ctx context.Context, journal batch.Journal, record batch.Record) error {
	claim, err := journal.Claim(ctx, record.Key)
	if err != nil {
		return err
	}
	_, err = claim.Append(ctx, record, nil, nil)
	return errors.Join(err, claim.Release(ctx))
}

// purchasing is the record of an item whose purchase an earlier run left open, on a draft that the batch made.
func purchasing(t *testing.T, key string) batch.Record {
	t.Helper()
	return batch.Record{
		Key: key, Step: batch.StepPurchasing, RequestID: "RD-" + key, Documents: []shipping.DocumentType{"CUSTOMS"},
		Amount: shippingtest.Amount(t, "100"), Currency: "NGN", Purchase: &shipping.PurchaseRequest{
			RequestID: "RD-" + key, DocumentTypes: []shipping.DocumentType{"CUSTOMS"},
			Draft: shippingtest.DraftRecord("RD-" + key), Sole: true,
		},
	}
}

// openJournal opens a journal until the test ends.
func openJournal(t *testing.T, path string) *batch.File {
	t.Helper()
	journal := shippingtest.Must(batch.OpenFile(path))(t)
	t.Cleanup(func() { _ = journal.Close() })
	return journal
}
