package campaign

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/test/internal/gatewaytest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// sentHeader marks the requests that the client sends once.
const sentHeader = "X-Sent"

const (
	purchasePath = "/v1/regulatory-documents/purchase"
	requestPath  = "/v1/regulatory-documents/request/"
)

// The kinds of exchanges that faults strike.
const (
	purchase = "purchase"
	readBack = "read-back"
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
	plan    func(o *order, kind string, n int) plan

	honest     atomic.Bool
	deliveries sync.WaitGroup

	orders sync.Map // by request id

	mu     sync.Mutex
	sent   map[string]int // purchases that arrived, by the mark that the client gave them
	struck map[string]int // how often each fault struck
}

// An order is a regulatory request as the proxy knows it.
type order struct {
	number int
	// existing orders were purchased before, so refusing all access to them would hide a charge.
	existing bool

	mu        sync.Mutex
	exchanges map[string]int // so far, by kind
	draft     *response      // the last draft
	chargedAt time.Time
	log       []string
}

func (o *order) note(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, fmt.Sprintf(format, args...))
}

// next returns the number of the next exchange of a kind.
func (o *order) next(kind string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.exchanges == nil {
		o.exchanges = map[string]int{}
	}
	o.exchanges[kind]++
	return o.exchanges[kind] - 1
}

func newProxy(service http.Handler) *proxy {
	return &proxy{service: service, sent: map[string]int{}, struck: map[string]int{}}
}

// watch makes the proxy treat a request as the order.
func (p *proxy) watch(requestID string, o *order) { p.orders.Store(requestID, o) }

// order returns the order of a request, nil if the proxy only passes it on.
func (p *proxy) order(requestID string) *order {
	o, _ := p.orders.Load(requestID)
	found, _ := o.(*order)
	return found
}

// drain waits until the service has received everything that it will receive.
func (p *proxy) drain() { p.deliveries.Wait() }

// ServeHTTP passes a request on, in its way.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	x := &exchange{proxy: p, request: r, body: body}
	switch {
	case r.URL.Path == purchasePath:
		x.kind = purchase
		var in struct {
			RequestID string `json:"request_id"`
		}
		_ = json.Unmarshal(body, &in)
		x.requestID, x.order = in.RequestID, p.order(in.RequestID)
		p.mu.Lock()
		p.sent[r.Header.Get(sentHeader)+" "+in.RequestID]++
		p.mu.Unlock()
	case strings.HasPrefix(r.URL.Path, requestPath):
		x.kind, x.requestID = readBack, path.Base(r.URL.Path)
		x.order = p.order(x.requestID)
	}
	if x.order == nil || p.honest.Load() {
		x.plan = plan{delivery: delivery{name: "delivered once", copies: 1}, damage: damage{name: "as it was"}}
	} else {
		x.plan = p.plan(x.order, x.kind, x.order.next(x.kind))
	}
	x.run(w)
}

// An exchange is one request of the client and what becomes of it.
type exchange struct {
	proxy     *proxy
	request   *http.Request
	body      []byte
	kind      string // empty for what the proxy only passes on
	requestID string
	order     *order // nil if the proxy only passes it on
	plan      plan
	answers   []response // of the service
}

func (x *exchange) run(w http.ResponseWriter) {
	x.deliver()
	r := response{Response: gatewaytest.Page(http.StatusBadGateway)}
	if len(x.answers) > 0 {
		r = x.answers[0]
		if x.plan.delivery.last {
			r = x.answers[len(x.answers)-1]
		}
	}
	name := x.plan.damage.name
	if apply := x.plan.damage.apply; apply != nil && !apply(x, &r) {
		name += " (does not apply)"
	}
	r.late = r.late || x.plan.delivery.late
	if x.order != nil {
		x.order.note("%s over %s: %s; the service: %v; then: %s; the client receives %s",
			x.kind, x.request.Proto, x.plan.delivery.name, x.answers, name, r)
	}
	if x.order != nil && !x.proxy.honest.Load() {
		x.proxy.mu.Lock()
		x.proxy.struck[x.kind+": "+x.plan.delivery.name]++
		x.proxy.struck[x.kind+": "+name]++
		x.proxy.mu.Unlock()
	}
	r.send(w, x.request)
}

// deliver sends the request to the service as often as planned, and keeps the response.
func (x *exchange) deliver() {
	p, d := x.proxy, x.plan.delivery
	p.deliveries.Add(1)
	defer p.deliveries.Done()
	if d.late {
		untilGone(x.request)
		<-time.After(time.Duration(x.plan.random.Int64N(int64(50 * time.Millisecond))))
	}
	if x.kind == purchase && x.order != nil && d.copies > 0 {
		x.keepDraft()
	}
	x.answers = make([]response, d.copies)
	var together sync.WaitGroup
	for i := range x.answers {
		if d.together {
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
	if x.order != nil && x.kind == purchase && r.Status == http.StatusOK {
		x.order.mu.Lock()
		x.order.chargedAt = time.Now()
		x.order.mu.Unlock()
	}
	return r
}

// keepDraft remembers the request as it is before its purchase.
func (x *exchange) keepDraft() {
	r := x.ask(http.MethodGet, requestPath+x.requestID, nil)
	if r.Text("status") != "draft" {
		return
	}
	x.order.mu.Lock()
	defer x.order.mu.Unlock()
	x.order.draft = &r
}

// ask sends the service a request with the client's key.
func (x *exchange) ask(method, path string, body []byte) response {
	return response{Response: gatewaytest.Ask(x.proxy.service, x.request, method, path, body)}
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
	switch {
	case r.silent:
		return fmt.Sprintf("%q, reset: %t", r.sent, r.reset)
	case r.late:
		return "nothing in time"
	}
	body := string(r.Body)
	if data := r.Data(); data["status"] != nil {
		body = fmt.Sprintf("… request %v, status %v, documents %v", data["request_id"], data["status"], documentsIn(data))
	} else if len(body) > 150 {
		body = body[:150] + "…"
	}
	if r.half {
		body = "half of " + body
	}
	if r.slow {
		body = "slowly " + body
	}
	return fmt.Sprintf("%d %q", r.Status, body)
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

// documentsIn returns the types of the purchased documents that a record lists.
func documentsIn(data map[string]any) []string {
	var types []string
	list, _ := data["documents"].([]any)
	for _, entry := range list {
		if document, ok := entry.(map[string]any); ok {
			types = append(types, fmt.Sprint(document["document_type"]))
		}
	}
	return types
}
