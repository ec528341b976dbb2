package outcomes

import (
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
)

// service is a service in memory with its wallet. It is the client's transport.
type service struct {
	combination
	mu       sync.Mutex
	requests map[string]*request
	sent     []string // why a purchase must not have been sent
}

// request is a request as the service stores it.
type request struct {
	id      string
	states  []state // in order of time
	charges []charge
	shown   map[string]any // what the client was last sent about it
}

// state is a request from a moment on.
type state struct {
	at               time.Time
	status           string
	bought, uploaded []shipping.DocumentType
}

// charge is a debit of the wallet.
type charge struct {
	at       time.Time
	document shipping.DocumentType
	own      bool // by the client under test
}

func newService(c combination) *service {
	s := &service{combination: c, requests: map[string]*request{}}
	if !c.fresh() {
		r := s.create("RQ-1", time.Now().Add(-time.Hour))
		if c.when == before {
			s.buy(r, time.Now().Add(-time.Second), c.foreign, false)
		}
	}
	return s
}

func (s *service) create(id string, at time.Time) *request {
	r := &request{id: id, states: []state{{at: at, status: "draft"}}}
	if s.documents == uploaded || s.types == uploaded {
		r.states[0].uploaded = s.ours
	}
	switch s.draft {
	case analysisFailed:
		r.states[0].status = "failed"
	case notDraft:
		r.states[0].status = "archived"
	}
	s.requests[id] = r
	return r
}

// as returns the state at a moment.
func (r *request) as(at time.Time) (found state, exists bool) {
	for _, s := range r.states {
		if !s.at.After(at) {
			found, exists = s, true
		}
	}
	return found, exists
}

// change adds a state after the others.
func (r *request) change(at time.Time, change func(*state)) {
	next := r.states[len(r.states)-1]
	next.at = at
	change(&next)
	r.states = append(r.states, next)
}

// buy charges the wallet for the documents that are not purchased yet.
func (s *service) buy(r *request, at time.Time, documents []shipping.DocumentType, own bool) {
	r.change(at, func(next *state) {
		next.status, next.bought = s.status, slices.Clone(next.bought)
		for _, document := range without(documents, next.bought) {
			next.bought = append(next.bought, document)
			r.charges = append(r.charges, charge{at, document, own})
		}
	})
}

// RoundTrip serves one request. The errors of such a transport prove nothing.
func (s *service) RoundTrip(sent *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		ShipmentID string                  `json:"shipment_id"`
		RequestID  string                  `json:"request_id"`
		Documents  []shipping.DocumentType `json:"document_types"`
	}
	if sent.Body != nil {
		defer sent.Body.Close()
		if err := json.NewDecoder(sent.Body).Decode(&body); err != nil {
			return nil, err
		}
	}
	switch name := path.Base(sent.URL.Path); name {
	case "analyze":
		return s.analyze(s.create("RQ-"+strings.TrimPrefix(body.ShipmentID, "SH-"), time.Now()))
	case "purchase":
		return s.purchase(s.requests[body.RequestID], body.Documents)
	default:
		return s.read(s.requests[name])
	}
}

func (s *service) analyze(r *request) (*http.Response, error) {
	r.shown = s.record(r, r.states[0])
	if s.draft == analysisFailed {
		return envelope(http.StatusBadRequest, r.shown)
	}
	if s.records != full {
		r.shown = map[string]any{"request_id": r.id, "available_documents": priced(offers)}
	}
	return envelope(http.StatusOK, r.shown)
}

func (s *service) read(r *request) (*http.Response, error) {
	seen, exists := r.as(time.Now().Add(-s.lag))
	switch {
	case !exists:
		return envelope(http.StatusNotFound, nil)
	}
	r.shown = s.record(r, seen)
	return envelope(http.StatusOK, r.shown)
}

// record returns a state as the service shows it.
func (s *service) record(r *request, seen state) map[string]any {
	record := map[string]any{"request_id": r.id, "status": seen.status}
	if s.records == minimal {
		return record
	}
	record["available_documents"] = priced(offers)
	if s.shrinks {
		record["available_documents"] = priced(without(offers, seen.bought))
	}
	lists := map[string][]shipping.DocumentType{
		available: offers, bought: seen.bought, uploaded: seen.uploaded,
	}
	record["documents"], record["document_types"] = lists[s.documents], lists[s.types]
	switch {
	case s.draft == showsCharge:
		record["charged_amount"] = 3
	case s.draft == showsTransaction:
		record["transaction_id"] = "TR-0"
	case s.charge == quoted:
		record["charged_amount"] = total(offers)
	case s.charge == charged && len(seen.bought) > 0:
		record["charged_amount"], record["transaction_id"] = total(seen.bought), "TR-1"
	}
	return record
}

// purchase performs a purchase, or does not, and returns the response.
func (s *service) purchase(r *request, documents []shipping.DocumentType) (*http.Response, error) {
	now := time.Now()
	s.checkSent(r)
	if s.when == meanwhile {
		s.buy(r, now, s.foreign, false)
	}
	if s.post != notPerformed {
		s.buy(r, now, documents, true)
	}
	is, _ := r.as(now)
	if s.when == after {
		s.buy(r, now.Add(2*time.Second), s.foreign, false)
	}
	return s.respond(r, is)
}

// checkSent notes a purchase that must not be sent, by the last response to the client about the request.
func (s *service) checkSent(r *request) {
	status, hasStatus := r.shown["status"]
	switch {
	case r.shown == nil:
		s.sent = append(s.sent, "sent blind")
	case hasStatus && status != "draft":
		s.sent = append(s.sent, "sent for a request that was not a draft")
	case r.shown["transaction_id"] != nil:
		s.sent = append(s.sent, "sent for a draft with a transaction")
	case r.shown["charged_amount"] != nil && !s.asQuote:
		s.sent = append(s.sent, "sent for a draft with a charge")
	}
}

// respond returns the response to a purchase.
func (s *service) respond(r *request, is state) (*http.Response, error) {
	switch s.response {
	case "":
		return envelope(http.StatusOK, s.record(r, is))
	case refused:
		return envelope(http.StatusBadRequest, nil)
	case refusedAsDraft:
		return envelope(http.StatusBadRequest, map[string]any{"request_id": r.id, "status": "draft"})
	case alreadyPurchased:
		return envelope(http.StatusBadRequest, map[string]any{
			"error_code": "already_purchased", "request_id": r.id, "status": is.status, "transaction_id": "TR-1",
		})
	case namesAnother:
		return envelope(http.StatusBadRequest, map[string]any{"request_id": "RQ-99"})
	case problem:
		return reply(http.StatusConflict, "application/problem+json", `{"title":"Conflict","status":409,"detail":"not possible now"}`)
	case notFound:
		return envelope(http.StatusNotFound, nil)
	}
	switch s.lost {
	case 0:
		return reply(http.StatusForbidden, "text/html", "<html><body>Forbidden</body></html>")
	case 1:
		return reply(http.StatusServiceUnavailable, "text/plain", "no server is available")
	case 2:
		return reply(http.StatusConflict, "application/json", `{"error":"conflict"}`)
	case 3:
		return reply(http.StatusBadRequest, "application/json", "")
	case 4:
		return reply(http.StatusBadRequest, "application/json", `{"status":false,"message":"The request is`)
	}
	return nil, io.ErrUnexpectedEOF
}

func envelope(code int, data map[string]any) (*http.Response, error) {
	text, err := json.Marshal(map[string]any{"status": code == http.StatusOK, "message": http.StatusText(code), "data": data})
	if err != nil {
		return nil, err
	}
	return reply(code, "application/json", string(text))
}

func reply(code int, contentType, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {contentType}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func priced(documents []shipping.DocumentType) (list []map[string]any) {
	for _, document := range documents {
		list = append(list, map[string]any{"document_type": document, "amount": prices[document], "currency": "NGN"})
	}
	return list
}

func total(documents []shipping.DocumentType) (sum int) {
	for _, document := range documents {
		sum += prices[document]
	}
	return sum
}

func without(documents, others []shipping.DocumentType) []shipping.DocumentType {
	return slices.DeleteFunc(slices.Clone(documents), func(d shipping.DocumentType) bool { return slices.Contains(others, d) })
}

// paid reports whether the wallet was charged for documents of a request, by anybody: without documents, for any.
func (s *service) paid(id string, documents []shipping.DocumentType) bool {
	var all []shipping.DocumentType
	for _, c := range s.requests[id].charges {
		all = append(all, c.document)
	}
	return len(all) > 0 && len(without(documents, all)) == 0
}

// own returns what the client's own purchases of a request were charged until a moment; without an id, of all.
func (s *service) own(id string, until time.Time) (sum int) {
	for _, r := range s.requests {
		for _, c := range r.charges {
			if c.own && !c.at.After(until) && (id == "" || id == r.id) {
				sum += prices[c.document]
			}
		}
	}
	return sum
}
