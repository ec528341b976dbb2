package promises_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// cut is where the connection ends, and how.
type cut struct {
	request bool // after so many bytes of the request were read; else, of the response were written
	after   int
	reset   bool // RST; else FIN
	kept    bool // on a connection that was used before
}

func (c cut) String() string {
	return fmt.Sprintf("cut after %d bytes (of the request: %t, reset: %t, kept: %t)", c.after, c.request, c.reset, c.kept)
}

// cutter is the other end of a client: it answers as the reference server did, on connections that it
// keeps, and cuts some.
type cutter struct {
	hostileServer
	exchange recorded

	now  cut
	cuts int // requests still to be cut; the others are answered
	size int // of the last request that came whole, in bytes
}

func startCutter(t *testing.T, exchange recorded) *cutter {
	t.Helper()
	s := &cutter{exchange: exchange}
	s.listen(t, s.converse)
	return s
}

// plan sets the fate of the next requests, and counts them from here.
func (s *cutter) plan(now cut, cuts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.cuts, s.reached = now, cuts, map[string]int{}
}

// next decides what becomes of the request whose first byte has come.
func (s *cutter) next() (now cut, cutting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts--
	return s.now, s.cuts >= 0
}

// converse responds to the requests on a connection until one of both ends closes it.
func (s *cutter) converse(conn net.Conn) {
	counted := &countedReader{Reader: conn}
	for requests := bufio.NewReader(counted); ; counted.n = requests.Buffered() {
		if _, err := requests.Peek(1); err != nil {
			return
		}
		now, cutting := s.next()
		if cutting && now.request {
			_, _ = io.CopyN(io.Discard, requests, int64(now.after))
			hangUp(conn, now.reset)
			return
		}
		r, whole := s.receive(requests)
		if !whole {
			return
		}
		answer := s.answerTo(r, counted.n-requests.Buffered())
		if cutting {
			_, _ = conn.Write(answer[:now.after])
			hangUp(conn, now.reset)
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// answerTo is the recorded response. A purchase is charged, or refused, when it has come whole.
func (s *cutter) answerTo(r *http.Request, size int) []byte {
	arrived := s.count(http.MethodPost)
	switch {
	case s.exchange.operation != shipping.OpPurchase || r.Method == http.MethodPost:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.size = size
		return s.exchange.answer
	case arrived > 0:
		return s.exchange.after
	}
	return s.exchange.before
}

type countedReader struct {
	io.Reader
	n int
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

// hangUp ends a connection. A FIN is followed by nothing, not even by a reset for unread bytes.
func hangUp(conn net.Conn, reset bool) {
	tcp, ok := conn.(*net.TCPConn)
	switch {
	case ok && reset:
		_ = tcp.SetLinger(0)
	case ok:
		_ = tcp.CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	}
	_ = conn.Close()
}

// TestCuts_AConnectionThatEndsAtAnyByte: for every operation, the other end closes the connection at each
// byte of the request and at each byte of the reference server's own response, with a FIN and with a RST, on the
// client's first connection, where all that may be sent again is cut as well, and on one that was used before,
// the responses to retries.
//
// Each byte has one of these four ways in turn, some bytes in the middle of a long body are left out, and of the others
// one in SHIPPING_CUTS is tried, by default one in 29. With SHIPPING_CUTS=0 every byte is tried in every way.
func TestCuts_AConnectionThatEndsAtAnyByte(t *testing.T) {
	t.Parallel()
	every := randomtest.New(t).Number("SHIPPING_CUTS", 29) // which is odd, so that every way is among them
	var tried atomic.Int64
	t.Run("of", func(t *testing.T) {
		for name, exchange := range recordedExchanges(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var all sync.WaitGroup
				for part := range cutters {
					s := startCutter(t, exchange)
					client, transport := s.keeping(t)
					all.Go(func() {
						for n, now := range sample(every, places(s.measure(t, client), exchange, every == 0), exchange) {
							if n%cutters == part && !t.Failed() {
								s.cut(t, client, transport, now)
								tried.Add(1)
							}
						}
					})
				}
				all.Wait()
			})
		}
	})
	t.Attr("cases", fmt.Sprintf("%d connections", tried.Load()))
	t.Logf("%d connections were cut", tried.Load())
}

// cutters is how many of them share the work on an exchange.
const cutters = 4

// places are the cuts to be tried on an exchange whose request has so many bytes.
func places(request int, exchange recorded, everything bool) (cuts []cut) {
	const start, end, long, stride = 600, 200, 1500, 31
	for _, part := range []struct {
		request bool
		size    int
	}{{true, request}, {false, len(exchange.answer)}} {
		for after := range part.size {
			if middle := after > start && after < part.size-end && part.size > long; middle && !everything && after%stride != 0 {
				continue
			}
			for way := range 4 {
				if everything || way == len(cuts)%4 {
					cuts = append(cuts, cut{request: part.request, after: after, reset: way%2 == 1, kept: way/2 == 1})
					if !everything {
						break
					}
				}
			}
		}
	}
	return cuts
}

// sample returns one in so many of the cuts of an exchange, and those at its borders.
func sample(every int, all []cut, exchange recorded) (cuts []cut) {
	for n, now := range all {
		border := now.after == 0 || !now.request && (now.after == exchange.head || now.after == len(exchange.answer)-1)
		if n%max(every, 1) == 0 || border {
			cuts = append(cuts, now)
		}
	}
	return cuts
}

// keeping is a client of the server, and its transport.
func (s *cutter) keeping(t *testing.T) (*shipping.Client, *http.Transport) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	return s.client(t, shipping.WithHTTPClient(&http.Client{Transport: transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1, AttemptTimeout: -1, ExtraLoad: -1})), transport
}

// measure makes an exchange that nobody cuts, and returns how long the request is.
func (s *cutter) measure(t *testing.T, client *shipping.Client) (request int) {
	s.plan(cut{}, 0)
	if got := s.ask(t, client); !s.right(got) {
		t.Errorf("an exchange that nobody cuts: %v", got.err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// cut makes an exchange that is cut, and checks its result against the promises.
func (s *cutter) cut(t *testing.T, client *shipping.Client, transport *http.Transport, now cut) {
	transport.CloseIdleConnections()
	cuts := 1
	if now.kept {
		s.measure(t, client)
	} else {
		_, cuts = requestsFor(s.exchange.operation, true)
	}
	s.plan(now, cuts)
	got := s.ask(t, client)
	wrong := s.wrong(got, now)
	if s.exchange.operation == shipping.OpPurchase {
		wrong = append(wrong, s.wrongAboutMoney(got)...)
	}
	if len(wrong) > 0 {
		t.Errorf("%s: %s: %v", now, strings.Join(wrong, "; "), got.err)
	}
}

// ending is how a call ended.
type ending struct {
	response shipping.Response
	err      error
}

func (s *cutter) ask(t *testing.T, client *shipping.Client) (got ending) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got.err = s.exchange.do(ctx, client, shipping.WithResponse(&got.response))
	if ctx.Err() != nil {
		t.Error("it did not end")
	}
	return got
}

// right reports whether a call ended like one that is not cut.
func (s *cutter) right(got ending) bool {
	return got.response.StatusCode == s.exchange.status && string(got.response.Body) == s.exchange.body && (got.err == nil) == (s.exchange.status/100 == 2)
}

// wrong lists how the end of a call breaks the promises for every call.
func (s *cutter) wrong(got ending, now cut) (all []string) {
	note := func(format string, values ...any) { all = append(all, fmt.Sprintf(format, values...)) }
	inBody := !now.request && now.after >= s.exchange.head
	refused := inBody && s.exchange.status/100 == 4 // its status alone shows that a retry would not help
	method, most := requestsFor(s.exchange.operation, !refused)
	arrived, right := s.count(method), s.right(got)
	switch {
	case arrived > most:
		note("%d requests arrived, want %d at most", arrived, most)
	case !now.kept && now.request && arrived != 0, !now.kept && !now.request && !now.reset && arrived != most:
		note("%d requests arrived whole", arrived)
	case !now.kept && right:
		note("a response that was cut passes as a whole one")
	case now.kept && !right && !refused && shippingtest.Operation(s.exchange.operation).Retry == operations.Safe:
		note("it was not asked for again")
	}
	if right || s.exchange.operation == shipping.OpPurchase && got.err == nil { // read back, or see wrongAboutMoney
		return all
	}
	want := shipping.ErrConnection
	if inBody {
		want = shipping.ErrTruncated
	}
	failure, typed := errors.AsType[*shipping.Error](got.err)
	switch {
	case !typed:
		note("no typed error: %T", got.err)
	case !errors.Is(failure, want) && !(now.reset && errors.Is(failure, shipping.ErrConnection)): // a RST overtakes the written bytes
		note("it is not %q", want)
	case want == shipping.ErrTruncated && !now.reset && failure.StatusCode != s.exchange.status:
		note("status %d, want %d", failure.StatusCode, s.exchange.status)
	}
	if text := fmt.Sprint(got.err); leaks(text) || strings.ContainsAny(text, "\r\n") {
		note("the error does not read well: %q", text)
	}
	return all
}

// wrongAboutMoney lists how the result of a purchase contradicts the service's state.
func (s *cutter) wrongAboutMoney(got ending) (all []string) {
	said := shipping.OutcomeCharged
	if got.err != nil {
		said = shippingtest.Outcome(nil, got.err)
	}
	switch charged := s.count(http.MethodPost) > 0 && s.exchange.status == http.StatusOK; {
	case charged && said != shipping.OutcomeCharged:
		all = append(all, "charged, and reported as "+string(said))
	case !charged && !s.right(got) && said != shipping.OutcomeUnknown:
		all = append(all, "lost without a charge, and reported as "+string(said))
	case said == shipping.OutcomeUnknown && !strings.Contains(got.err.Error(), "SettlePurchase"):
		all = append(all, "the error does not name SettlePurchase")
	}
	return all
}
