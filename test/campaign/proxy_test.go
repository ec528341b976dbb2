package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sentHeader marks the requests that the client sends once.
const sentHeader = "X-Sent"

const (
	purchasePath = "/v1/regulatory-documents/purchase"
	requestPath  = "/v1/regulatory-documents/request/"
)

// A plan is what the proxy does to one exchange.
type plan struct {
	delivery delivery
	damage   damage
	random   *rand.Rand
}

// A proxy is a gateway between client and service that applies a plan to each exchange.
type proxy struct {
	service http.Handler
	plan    func(o *order, isPurchase bool, n int) plan

	honest     atomic.Bool
	deliveries sync.WaitGroup

	mu     sync.Mutex
	orders map[string]*order // by request id
	sent   map[string]int    // purchases that arrived, by the mark that the client gave them
	struck map[string]int    // how often each fault struck
}

// An order is a regulatory request as the proxy knows it.
type order struct {
	number int
	// existing orders were purchased before, so refusing all access to them would hide a charge.
	existing bool

	mu        sync.Mutex
	exchanges map[bool]int // so far: purchases, and readings
	draft     *response    // the last draft
	chargedAt time.Time
	log       []string
}

func (o *order) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, fmt.Sprintf(format, args...))
}

func newProxy(service http.Handler) *proxy {
	return &proxy{service: service, orders: map[string]*order{}, sent: map[string]int{}, struck: map[string]int{}}
}

// watch makes the proxy treat a request as the order.
func (p *proxy) watch(requestID string, o *order) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orders[requestID] = o
}

// An exchange is one request of the client and what becomes of it.
type exchange struct {
	plan
	proxy      *proxy
	request    *http.Request
	body       []byte
	isPurchase bool // else the request is read
	requestID  string
	order      *order
	answers    []response // of the service
}

// ServeHTTP passes a request on, in its way.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	x := &exchange{proxy: p, request: r, body: body, isPurchase: r.URL.Path == purchasePath, requestID: path.Base(r.URL.Path)}
	if x.isPurchase {
		var in struct {
			RequestID string `json:"request_id"`
		}
		_ = json.Unmarshal(body, &in)
		x.requestID = in.RequestID
	}
	p.mu.Lock()
	x.order = p.orders[x.requestID]
	if x.isPurchase {
		p.sent[r.Header.Get(sentHeader)+" "+x.requestID]++
	}
	p.mu.Unlock()
	x.plan = plan{delivery: delivery{name: "delivered once", copies: 1}, damage: damage{name: "as it was"}}
	if !p.honest.Load() {
		x.order.mu.Lock()
		n := x.order.exchanges[x.isPurchase]
		x.order.exchanges[x.isPurchase]++
		x.order.mu.Unlock()
		x.plan = p.plan(x.order, x.isPurchase, n)
	}
	x.run(w)
}

func (x *exchange) run(w http.ResponseWriter) {
	x.deliver()
	r := unreachable()
	if len(x.answers) > 0 {
		r = x.answers[0]
		if x.delivery.last {
			r = x.answers[len(x.answers)-1]
		}
	}
	name, statuses := x.damage.name, []int{}
	if apply := x.damage.apply; apply != nil && !apply(x, &r) {
		name += " (does not apply)"
	}
	for _, answer := range x.answers {
		statuses = append(statuses, answer.status)
	}
	r.late = r.late || x.delivery.late
	x.order.note("%s %s: %s; the service: %v; then: %s; the client receives %s", x.request.Method, x.request.Proto, x.delivery.name, statuses, name, r)
	x.proxy.mu.Lock()
	x.proxy.struck[x.request.Method+" "+x.delivery.name]++
	x.proxy.struck[x.request.Method+" "+name]++
	x.proxy.mu.Unlock()
	r.send(w, x.request)
}

// deliver sends the request to the service as often as planned, and keeps the responses.
func (x *exchange) deliver() {
	x.proxy.deliveries.Add(1)
	defer x.proxy.deliveries.Done()
	if x.delivery.late {
		<-x.request.Context().Done()
		<-time.After(time.Duration(x.random.Int64N(int64(5 * time.Second))))
	}
	if x.isPurchase && x.delivery.copies > 0 {
		x.keepDraft()
	}
	x.answers = make([]response, x.delivery.copies)
	var together sync.WaitGroup
	for i := range x.answers {
		if x.delivery.together {
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
	if x.isPurchase && r.status == http.StatusOK {
		x.order.mu.Lock()
		x.order.chargedAt = time.Now()
		x.order.mu.Unlock()
	}
	return r
}

// keepDraft remembers the request as it is before its purchase.
func (x *exchange) keepDraft() {
	r := x.ask(http.MethodGet, requestPath+x.requestID, nil)
	if r.data()["status"] != "draft" {
		return
	}
	x.order.mu.Lock()
	defer x.order.mu.Unlock()
	x.order.draft = &r
}

// ask sends the service a request with the client's key.
func (x *exchange) ask(method, target string, body []byte) response {
	r := httptest.NewRequestWithContext(context.WithoutCancel(x.request.Context()), method, target, bytes.NewReader(body))
	r.Header.Set("Authorization", x.request.Header.Get("Authorization"))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	x.proxy.service.ServeHTTP(w, r)
	return response{status: w.Code, contentType: w.Header().Get("Content-Type"), body: w.Body.Bytes()}
}

// A response is what the proxy sends to the client.
type response struct {
	status      int
	contentType string
	location    string
	body        []byte
	hints       bool // an interim response comes first
	slow        bool // it is held for slowFor
	late        bool // it is held until the client has left
	silent      bool // the exchange is aborted before the response
	half        bool // the exchange is aborted in the middle of the body
}

func (r response) String() string {
	switch {
	case r.silent:
		return "an aborted exchange"
	case r.late:
		return "nothing in time"
	}
	return fmt.Sprintf("%d %.150q, half: %t, slowly: %t", r.status, strings.ReplaceAll(string(r.body), "\n", " "), r.half, r.slow)
}

func (r response) send(w http.ResponseWriter, request *http.Request) {
	if r.late {
		<-request.Context().Done()
	}
	if r.late || r.silent {
		panic(http.ErrAbortHandler)
	}
	if r.slow {
		select {
		case <-time.After(slowFor):
		case <-request.Context().Done():
		}
	}
	// The header is complete before the interim response, because HTTP/2 may still be writing that one.
	w.Header().Set("Content-Type", r.contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(r.body)))
	if r.location != "" {
		w.Header().Set("Location", r.location)
	}
	if r.hints {
		w.WriteHeader(http.StatusEarlyHints)
	}
	w.WriteHeader(r.status)
	if r.half {
		_, _ = w.Write(r.body[:len(r.body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(r.body)
}

// data returns the data of the envelope, or an empty map.
func (r response) data() map[string]any {
	var envelope struct {
		Data map[string]any `json:"data"`
	}
	if json.Unmarshal(r.body, &envelope) != nil || envelope.Data == nil {
		return map[string]any{}
	}
	return envelope.Data
}
