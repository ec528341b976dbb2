package vectors

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// The purchase that every client makes.
const (
	SecretKey = "sk_test_vectors"
	RequestID = "RD-1"
	Document  = "FDA"
)

// Errors returns the errors of the client of this module by class.
func Errors() map[string]error {
	return map[string]error{
		"connection": shipping.ErrConnection, "truncated": shipping.ErrTruncated, "too_large": shipping.ErrBodyTooLarge,
		"unexpected_body": shipping.ErrUnexpectedBody, "redirected": shipping.ErrRedirected, "server": shipping.ErrServer,
		"unauthorized": shipping.ErrUnauthorized, "not_found": shipping.ErrNotFound,
		"rate_limited": shipping.ErrRateLimited, "invalid_request": shipping.ErrInvalidRequest,
	}
}

// Case is a vector with a service that charged the wallet, or did not.
type Case struct {
	Vector
	Charges bool
	Want    Report
}

// Name is the name of the vector, with the side of the service.
func (c Case) Name() string {
	if c.Charges {
		return c.Vector.Name + ", charged"
	}
	return c.Vector.Name + ", not charged"
}

// Cases returns the cases of all vectors.
func Cases() ([]Case, error) {
	all, err := All()
	var cases []Case
	for _, v := range all {
		if want := v.Purchase.Charged; want != nil {
			cases = append(cases, Case{v, true, *want})
		}
		if want := v.Purchase.NotCharged; want != nil {
			cases = append(cases, Case{v, false, *want})
		}
	}
	return cases, err
}

// ErrNotSent is returned for an endless response if the timeout of the client struck before the purchase was sent: its
// timeout is too short for the machine.
var ErrNotSent = errors.New("the purchase was not sent in time")

// Client purchases [Document] of [RequestID] from the service at a base URL with [SecretKey], and reports the result.
type Client func(ctx context.Context, baseURL string) (Report, error)

// Grade lets a client purchase once, and returns its mistake.
func (c Case) Grade(ctx context.Context, client Client) error {
	s := c.Serve()
	defer s.Close()
	got, err := client(ctx, s.URL)
	switch sends := s.Purchases(); {
	case err != nil:
		return fmt.Errorf("no report: %w", err)
	case c.Endless && sends < c.Purchase.Sends:
		return ErrNotSent
	case sends != c.Purchase.Sends:
		return fmt.Errorf("the purchase was sent %d times; want %d", sends, c.Purchase.Sends)
	case got.Outcome != c.Want.Outcome:
		return fmt.Errorf("the outcome is %q; want %q", got.Outcome, c.Want.Outcome)
	case got.Error != c.Want.Error && !c.late(got):
		return fmt.Errorf("the error is %q; want %q", got.Error, c.Want.Error)
	}
	return nil
}

// late reports whether a timeout struck before the headers of an endless response were read.
func (c Case) late(got Report) bool {
	return c.Endless && c.Want.Error != "" && got.Error == "connection"
}

// Service plays a case on a loopback port. It responds to a purchase with the vector, and to reads of the request with
// its true state.
type Service struct {
	URL string

	server    *tcptest.Server
	played    Case
	mu        sync.Mutex
	purchases int
}

// refused is an address that refuses connections. A port that was just closed could belong to another program.
const refused = "http://127.0.0.1:1"

// Serve starts a service that plays the case.
func (c Case) Serve() *Service {
	s := &Service{played: c}
	s.server = tcptest.Start(nil, s.exchange)
	if s.URL = s.server.URL; c.Refused {
		s.URL = refused
	}
	return s
}

// Purchases returns how many purchases reached the service.
func (s *Service) Purchases() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.purchases
}

// Close closes the listener and all connections.
func (s *Service) Close() { s.server.Close() }

// exchange reads a request whole, responds, and leaves the connection to be closed.
func (s *Service) exchange(conn net.Conn) {
	r, err := tcptest.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/regulatory-documents/purchase"):
		s.mu.Lock()
		s.purchases++
		s.mu.Unlock()
		s.played.Write(conn, Success)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1/regulatory-documents/request/"+RequestID):
		record := `{"request_id":"` + RequestID +
			`","status":"draft","source":"shipment","available_documents":[{"document_type":"` + Document +
			`","amount":5,"currency":"NGN"}]}`
		if s.played.Charges && s.Purchases() > 0 {
			record = `{"request_id":"` + RequestID + `","status":"processing","source":"shipment","documents":["` +
				Document + `"]}`
		}
		respond(conn, "200 OK", `{"status":true,"message":"done","data":`+record+`}`)
	default:
		respond(conn, "404 Not Found", `{"status":false,"message":"this service has one regulatory request"}`)
	}
}

func respond(conn net.Conn, status, body string) {
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: "+
		"close\r\n\r\n%s", status, len(body), body)
}
