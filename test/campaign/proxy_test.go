package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/internal/gatewaytest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

const (
	purchasePath = "/v1/regulatory-documents/purchase"
	requestPath  = "/v1/regulatory-documents/request/"
)

// The kinds of exchanges.
const (
	purchase = "purchase"
	readBack = "read-back"
)

// patience is how long a client of the campaign waits for one attempt while the proxy strikes.
const patience = 150 * time.Millisecond

// A wire is a protocol between client and proxy. A response that is broken off ends an HTTP/1.1 connection, and an
// HTTP/2 stream. test/wire ends streams and connections of HTTP/2 in every other way.
type wire struct {
	name  string
	http2 bool
	dead  bool // nobody listens
}

func wires() []wire {
	return []wire{{name: "HTTP/1.1"}, {name: "HTTP/2", http2: true}, {name: "connection refused", dead: true}}
}

// open serves the handler on the wire and returns a client of it, which waits so long for one attempt.
func (w wire) open(t *testing.T, handler http.Handler, key string, timeout time.Duration) *shipping.Client {
	t.Helper()
	serving, trusting := tcptest.Certificate()
	server := tcptest.Start(serving, func(conn net.Conn) { tcptest.ServeHTTP(conn, handler) })
	t.Cleanup(server.Close)
	address := server.URL
	if w.dead {
		address = "https://127.0.0.1:1" // a port that was closed could be another test's by now
	}
	transport := &http.Transport{TLSClientConfig: trusting, ForceAttemptHTTP2: w.http2, MaxIdleConnsPerHost: 64}
	return shippingtest.Must(shipping.NewClient(key, shipping.WithBaseURL(address),
		shipping.WithHTTPClient(&http.Client{Transport: transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{
			MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: 4 * time.Millisecond, MaxRetryAfter: time.Millisecond,
			AttemptTimeout: timeout, ExtraLoad: -1,
		})))(t)
}

// ServeHTTP is the proxy: it passes a request on by the plan of the exchange.
func (c *campaign) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	x := &exchange{campaign: c, request: r, body: body, kind: readBack, requestID: path.Base(r.URL.Path)}
	if r.URL.Path == purchasePath {
		var in struct {
			RequestID string `json:"request_id"`
		}
		_ = json.Unmarshal(body, &in)
		x.kind, x.requestID = purchase, in.RequestID
	}
	found, ok := c.byRequest.Load(x.requestID)
	if !ok {
		panic(fmt.Sprintf("a client sent a %s of %q, which no trial analyzed", x.kind, x.requestID))
	}
	x.trial = found.(*trial)
	x.plan = plan{once(), damage{name: "as it was"}, nil}
	if n := x.trial.next(x.kind); !c.honest.Load() {
		x.plan = c.plan(x.trial, x.kind, n)
	}
	x.run(w)
}

// An exchange is one request of the client and what becomes of it.
type exchange struct {
	campaign  *campaign
	request   *http.Request
	body      []byte
	kind      string
	requestID string
	trial     *trial
	plan      plan
	answers   []response // of the service
}

func (x *exchange) run(w http.ResponseWriter) {
	x.deliver()
	r := response{Response: gatewaytest.Page(http.StatusBadGateway)}
	if len(x.answers) > 0 {
		r = x.answers[0]
		if x.plan.last {
			r = x.answers[len(x.answers)-1]
		}
	}
	name := x.plan.damage.name
	if apply := x.plan.damage.apply; apply != nil && !apply(x, &r) {
		name += " (does not apply)"
	}
	r.late = r.late || x.plan.late
	x.trial.note("%s over %s: %s; the service: %v; then: %s; the client receives %v",
		x.kind, x.request.Proto, x.plan.name, x.answers, name, r)
	r.send(w, x.request)
}

// deliver sends the request to the service as often as planned, and keeps the responses.
func (x *exchange) deliver() {
	x.campaign.deliveries.Add(1)
	defer x.campaign.deliveries.Done()
	if x.plan.late {
		untilGone(x.request)
		<-time.After(time.Duration(x.plan.random.Int64N(int64(50 * time.Millisecond))))
	}
	if x.kind == purchase && x.plan.copies > 0 {
		x.keepDraft()
	}
	x.answers = make([]response, x.plan.copies)
	var together sync.WaitGroup
	for i := range x.answers {
		if x.plan.together {
			together.Go(func() { x.answers[i] = x.pass() })
		} else {
			x.answers[i] = x.pass()
		}
	}
	together.Wait()
}

// pass hands the request to the service once.
func (x *exchange) pass() response {
	r := x.ask(x.request.Method, x.request.URL.Path, x.body)
	if x.kind == purchase && r.Status == http.StatusOK {
		x.trial.mu.Lock()
		x.trial.chargedAt = time.Now()
		x.trial.mu.Unlock()
	}
	return r
}

// keepDraft remembers the request as it is before its purchase.
func (x *exchange) keepDraft() {
	r := x.ask(http.MethodGet, requestPath+x.requestID, nil)
	if r.Text("status") == "draft" {
		x.trial.mu.Lock()
		x.trial.before = &r
		x.trial.mu.Unlock()
	}
}

// ask sends the service a request with the client's key.
func (x *exchange) ask(method, path string, body []byte) response {
	return response{Response: gatewaytest.Ask(x.campaign.server, x.request, method, path, body)}
}

// untilGone waits until the client has left.
func untilGone(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(20 * patience): // a client without patience has failed the test by then
	}
}

// A response is what the proxy sends to the client.
type response struct {
	gatewaytest.Response
	location string
	hints    bool   // an interim response comes first
	slow     bool   // it is held for slowFor
	late     bool   // it is held until the client has left
	silent   bool   // it is broken off before the end of its header
	half     bool   // it is broken off in the middle of its body
	sent     string // of the header, over HTTP/1.1, if it is silent
	reset    bool   // breaking it off resets the connection of HTTP/1.1
}

func (r response) String() string {
	const most = 300
	return fmt.Sprintf("%d %q", r.Status, r.Body[:min(most, len(r.Body))])
}

func (r response) send(w http.ResponseWriter, request *http.Request) {
	if r.late {
		untilGone(request)
	}
	if r.late || r.silent {
		tcptest.BreakOff(request, []byte(r.sent), r.reset)
	}
	if r.slow {
		select {
		case <-time.After(slowFor):
		case <-request.Context().Done():
		}
	}
	// The header is complete before the interim response, because HTTP/2 may still be writing that one.
	w.Header().Set("Content-Type", r.ContentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(r.Body)))
	if r.location != "" {
		w.Header().Set("Location", r.location)
	}
	if r.hints {
		w.WriteHeader(http.StatusEarlyHints)
	}
	w.WriteHeader(r.Status)
	if r.half {
		_, _ = w.Write(r.Body[:len(r.Body)/2])
		_ = http.NewResponseController(w).Flush()
		tcptest.BreakOff(request, nil, r.reset)
	}
	_, _ = w.Write(r.Body)
}
