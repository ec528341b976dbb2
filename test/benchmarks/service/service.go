// Package service responds like the shipping service within the process, so that a benchmark measures a client and no
// network.
package service

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/shipping-go/shipping/mockserver"
)

// Fixed responds to every request with the same body.
type Fixed []byte

// RoundTrip implements [http.RoundTripper].
func (f Fixed) RoundTrip(r *http.Request) (*http.Response, error) { return respond(r, f), nil }

func respond(r *http.Request, body []byte) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}
}

// Responses are those of the reference server.
type Responses struct {
	Rates, OneRate, Transactions, OneTransaction, Webhooks, Countries Fixed // lists have 100 records
	LongDraft, ShortDraft                                             Fixed // 6 KB and 1 KB
}

// Record returns the responses of a new reference server.
func Record() (responses Responses, err error) {
	srv := New()
	defer srv.Close()
	if err := srv.Err(); err != nil {
		return responses, err
	}
	for path, response := range map[string]*Fixed{
		"rates?perPage=100": &responses.Rates,
		"rates?perPage=1":   &responses.OneRate,
		"transactions?perPage=100&wallet=" + srv.Wallets()[0]: &responses.Transactions,
		"transactions?perPage=1&wallet=" + srv.Wallets()[0]:   &responses.OneTransaction,
		"webhooks?perPage=100":                                &responses.Webhooks,
		"countries":                                           &responses.Countries,
	} {
		if *response, err = Request(srv, srv.World, http.MethodGet, path, ""); err != nil {
			return responses, err
		}
	}
	shipments := srv.Shipments()
	if responses.LongDraft, err = Analyze(srv, srv.World, shipments[0]); err != nil {
		return responses, err
	}
	responses.ShortDraft, err = Analyze(srv, srv.World, shipments[len(shipments)-1])
	return responses, err
}

// New returns a reference server without a socket and a journal.
func New(options ...mockserver.Option) *mockserver.Server {
	return mockserver.New(append([]mockserver.Option{
		mockserver.WithoutListener(), mockserver.WithJournal(0, 0),
	}, options...)...)
}

// Request returns the body of the response to a request in a world.
func Request(srv *mockserver.Server, w *mockserver.World, method, path, body string) ([]byte, error) {
	r := httptest.NewRequest(method, "/v1/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.SecretKey)
	r.Header.Set("Content-Type", "application/json")
	response := httptest.NewRecorder()
	if srv.ServeHTTP(response, r); response.Code != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, response.Code, response.Body)
	}
	return response.Body.Bytes(), nil
}

// Analyze returns the response with a new draft of a shipment.
func Analyze(srv *mockserver.Server, w *mockserver.World, shipment string) ([]byte, error) {
	return Request(srv, w, http.MethodPost, "regulatory-documents/analyze", fmt.Sprintf(`{"shipment_id":%q}`, shipment))
}

// Purchase purchases the customs documents of a draft.
func Purchase(srv *mockserver.Server, w *mockserver.World, id string) error {
	body := fmt.Sprintf(`{"request_id":%q,"document_types":["CUSTOMS"]}`, id)
	_, err := Request(srv, w, http.MethodPost, "regulatory-documents/purchase", body)
	return err
}

// RequestID returns the identifier in the response with a draft.
func RequestID(draft []byte) string {
	_, rest, _ := strings.Cut(string(draft), `"request_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}
