package promises_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
	"github.com/shipping-go/shipping/test/vectors"
)

// hostileServer is the other end of a client on a real socket. It counts the requests that arrived whole.
type hostileServer struct {
	*tcptest.Server

	mu      sync.Mutex
	reached map[string]int // requests by method
}

// startHostile starts a server that reads a request of each connection, writes chosen bytes, be they HTTP or not, and
// closes the connection.
func startHostile(t testing.TB, answer func(to net.Conn, r *http.Request)) *hostileServer {
	t.Helper()
	s := &hostileServer{reached: map[string]int{}}
	s.Server = tcptest.Start(nil, func(conn net.Conn) {
		r, err := tcptest.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		s.mu.Lock()
		s.reached[r.Method]++
		s.mu.Unlock()
		answer(conn, r)
	})
	t.Cleanup(s.Close)
	return s
}

// count is how many requests of a method came; "" counts all.
func (s *hostileServer) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if method != "" {
		return s.reached[method]
	}
	all := 0
	for _, n := range s.reached {
		all += n
	}
	return all
}

// hostilePolicy retries once, almost without waiting. A response without an end ends with the attempt, which
// otherwise has time enough on any machine.
func hostilePolicy(answer hostileAnswer) shipping.Option {
	policy := shipping.RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1, MaxRetryAfter: 1,
		AttemptTimeout: 4 * time.Minute, ExtraLoad: -1}
	if answer.Endless {
		policy.AttemptTimeout = 300 * time.Millisecond
	}
	return shipping.WithRetryPolicy(policy)
}

// client returns a client of the server with the default transport.
func (s *hostileServer) client(t testing.TB, options ...shipping.Option) *shipping.Client {
	t.Helper()
	client := shippingtest.Must(shipping.NewClient(shippingtest.Key, append([]shipping.Option{
		shipping.WithBaseURL(s.URL), shippingtest.WithRoutes(),
		shipping.WithMaxResponseBytes(hostileLimit),
	}, options...)...))(t)
	return client
}

// hostileLimit is the largest body that the clients of these tests take.
const hostileLimit = 1 << 20

// requestsFor is how many requests of an operation may reach a service that gives the same answer again
// and again: more than one only where reading does no harm and the response may be different next time.
func requestsFor(operation string, again bool) (method string, n int) {
	o := shippingtest.Operation(operation)
	switch {
	case o.Charges:
		return http.MethodPost, 1 // reading back comes on top
	case again && o.Retry == operations.Safe:
		return "", 2
	}
	return "", 1
}

// withEveryAnswer runs a subtest for each hostile answer. Those of endless answers only wait, so they run at the same
// time however few tests may run in parallel.
func withEveryAnswer(t *testing.T, test func(t *testing.T, answer hostileAnswer)) {
	t.Parallel()
	var endless sync.WaitGroup
	for _, answer := range hostileAnswers(t) {
		if answer.Endless {
			endless.Go(func() { t.Run(answer.Name, func(t *testing.T) { test(t, answer) }) })
			continue
		}
		t.Run(answer.Name, func(t *testing.T) {
			t.Parallel()
			test(t, answer)
		})
	}
	endless.Wait()
}

func TestHostile_EveryOperationSurvivesEveryAnswer(t *testing.T) {
	t.Attr("cases", fmt.Sprintf("%d calls", len(hostileAnswers(t))*len(hostileCalls())))
	withEveryAnswer(t, func(t *testing.T, answer hostileAnswer) {
		var all sync.WaitGroup
		for _, call := range hostileCalls() {
			server := startHostile(t, func(to net.Conn, _ *http.Request) { answer.Write(to, call.Body()) })
			client := server.client(t, hostilePolicy(answer))
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				_, err := call.Do(ctx, client)
				if ctx.Err() != nil {
					t.Errorf("%s: it did not end", call.Operation)
				}
				checkHostile(t, call, answer, err, server)
			})
		}
		all.Wait()
	})
}

// checkHostile checks the end of one call against the promises for every call.
func checkHostile(t *testing.T, call shippingtest.Call, answer hostileAnswer, err error, server *hostileServer) {
	t.Helper()
	method, most := requestsFor(call.Operation, answer.Retry)
	if got := server.count(method); got > most || got == 0 && !answer.Endless || got < most && !answer.Endless &&
		answer.Retry && answer.Error != "" {
		t.Errorf("%s: %d requests arrived, want %d (%v)", call.Operation, got, most, err)
	}
	// On a busy machine the time of an attempt may be up before even the headers are there.
	timed, _ := errors.AsType[*shipping.Error](err)
	outOfTime := answer.Endless && timed != nil && timed.Timeout() && errors.Is(err, shipping.ErrConnection)
	if want := expected(answer, call.Operation); want == nil && err != nil {
		t.Errorf("%s: %v", call.Operation, err)
	} else if want != nil && !outOfTime && !errors.Is(want, errAny) && !errors.Is(err, want) {
		t.Errorf("%s: error %v is not %q", call.Operation, err, want)
	}
	if err == nil {
		return
	}
	failure, ok := errors.AsType[*shipping.Error](err)
	if !ok {
		t.Errorf("%s: %T holds no *Error: %v", call.Operation, err, err)
		return
	}
	if failure.Operation != call.Operation && call.Operation != shipping.OpPurchase || len(failure.Attempts) == 0 {
		t.Errorf("%s: the error is one of %s, after %d attempts", call.Operation, failure.Operation, len(failure.Attempts))
	}
	if again := failure.Retryable(); again != answer.Retry && !outOfTime && answer.Error != "any" &&
		call.Operation != shipping.OpPurchase {
		t.Errorf("%s: Retryable is %t: %v", call.Operation, again, err)
	}
	if answer.Status != 0 && failure.StatusCode != answer.Status && !outOfTime && call.Operation != shipping.OpPurchase {
		t.Errorf("%s: status %d, want %d", call.Operation, failure.StatusCode, answer.Status)
	}
	asked := time.Duration(answer.RetryAfter) * time.Millisecond
	if failure.RetryAfter != asked && call.Operation != shipping.OpPurchase {
		t.Errorf("%s: RetryAfter %s, want %s", call.Operation, failure.RetryAfter, asked)
	}
	if text := err.Error(); len(text) > 6000 || strings.ContainsAny(text, "\n\r") || leaks(text) ||
		!strings.HasPrefix(text, "shipping: ") ||
		!strings.Contains(text, failure.Operation) || strings.Contains(text, " :") {
		t.Errorf("%s: the error does not read well: %.300q", call.Operation, text)
	}
	if call.Operation == shipping.OpPurchase && answer.Error != "" && shippingtest.Outcome(nil, err) == "" {
		t.Errorf("a purchase without an outcome: %v", err)
	}
}

// hostileCalls are all calls, with a purchase that is read back for a moment only: it comes to nothing where
// every response is hostile.
func hostileCalls() []shippingtest.Call {
	all := shippingtest.Calls()
	for i := range all {
		if all[i].Operation == shipping.OpPurchase {
			all[i].Do = func(ctx context.Context, c *shipping.Client, o ...shipping.CallOption) (any, error) {
				return buyHostile(ctx, c, shippingtest.RequestID, o...)
			}
		}
	}
	return all
}

// buyHostile is a purchase that is read back for a moment only.
func buyHostile(ctx context.Context, c *shipping.Client, requestID string,
	o ...shipping.CallOption) (*shipping.PurchaseResult, error) {
	return c.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
		RequestID: requestID, DocumentTypes: []shipping.DocumentType{"FDA", "CUSTOMS"},
		Draft: shippingtest.DraftRecord(requestID), Sole: true,
		PurchaseOptions: shipping.PurchaseOptions{SettleFor: 10 * time.Millisecond, RefusedFor: time.Millisecond,
			QuietFor: 10 * time.Millisecond},
	}, o...)
}

// No redirect is followed, also if CheckRedirect of the user's client would, so the key stays. The vectors have more
// redirects.
func TestHostile_NoOperationFollowsARedirect(t *testing.T) {
	t.Parallel()
	elsewhere := startHostile(t, func(to net.Conn, _ *http.Request) {
		_, _ = io.WriteString(to, wireAnswer("200 OK", "{}"))
	})
	for _, call := range hostileCalls() {
		server := startHostile(t, func(to net.Conn, _ *http.Request) {
			_, _ = io.WriteString(to, wireAnswer("307 Temporary Redirect", "", "Location: "+elsewhere.URL+"/v1/countries"))
		})
		_, err := call.Do(t.Context(), server.client(t, shipping.WithHTTPClient(&http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return nil },
		})))
		shippingtest.WantError(t, call.Operation, err, shipping.ErrRedirected)
		if method, want := requestsFor(call.Operation, false); server.count(method) != want {
			t.Errorf("%s: %d requests, want %d", call.Operation, server.count(method), want)
		}
	}
	shippingtest.Diff(t, "requests to another origin", 0, elsewhere.count(""))
}

// hostileAnswer is a response that no honest service sends, or only under stress.
type hostileAnswer = vectors.Vector

// errAny is a result or a typed error: other tests cover how tolerant reading is.
var errAny = errors.New("a result or a typed error")

// expected is what the call of an operation ends with.
func expected(a hostileAnswer, operation string) error {
	want := vectors.Errors()[a.Error]
	if a.Error == "any" {
		want = errAny
	}
	switch {
	case operation == operations.DocumentPDF && a.Status == 200 && (want == errAny || want == shipping.ErrInvalidRequest):
		return shipping.ErrUnexpectedBody // in any case it is not a PDF
	case operation == "do" && a.Status == 204:
		return nil // it may have no body
	}
	return want
}

// hostileAnswers returns the vectors that are responses.
func hostileAnswers(t testing.TB) []hostileAnswer {
	t.Helper()
	all := shippingtest.Must(vectors.All())(t)
	return slices.DeleteFunc(all, func(v hostileAnswer) bool { return v.Refused })
}

// wireAnswer is an HTTP response, byte for byte.
func wireAnswer(status, body string, headers ...string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) +
		"\r\nConnection: close\r\n" +
		strings.Join(append(headers, ""), "\r\n") + "\r\n" + body
}
