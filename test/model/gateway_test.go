package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/internal/gatewaytest"
)

// A gateway is the network between a process and the service. The client reaches it through its own transport, so
// that a connection that is refused is evidence.
type gateway struct {
	*trial
	life *life
}

// transport returns a transport with a connection for each request.
func (g gateway) transport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true, DialContext: g.dial}
}

// operationKey is the key of the operation in the context of a call.
type operationKey struct{}

func observer() shipping.Observer {
	return shipping.Observer{Start: func(ctx context.Context, operation string) context.Context {
		return context.WithValue(ctx, operationKey{}, operation)
	}}
}

func (g gateway) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if g.life.isDead() {
		return nil, errDead
	}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	purchase := ""
	if ctx.Value(operationKey{}) == shipping.OpPurchase {
		i := g.life.reserved
		purchase = g.choose(g.life, i, "purchase")
		if purchase == "unsent" {
			g.observe(g.life, i, "gets no connection")
			return nil, refused
		}
	}
	here, there := net.Pipe()
	g.network.Go(func() { g.serve(there, purchase) })
	return here, nil
}

// exchange is one request and what becomes of it.
type exchange struct {
	gateway
	conn    net.Conn
	request *http.Request
	body    []byte
	item    int
}

func (g gateway) serve(conn net.Conn, purchase string) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	x := &exchange{gateway: g, conn: conn, request: request}
	if x.body, err = io.ReadAll(request.Body); err != nil {
		return
	}
	time.Sleep(g.life.latency()) // the order of two processes does not depend on the scheduler
	switch {
	case g.life.isDead():
	case strings.HasSuffix(request.URL.Path, "/analyze"):
		x.analyze()
	case strings.HasSuffix(request.URL.Path, "/purchase"):
		x.purchase(purchase)
	default:
		x.read()
	}
}

func (x *exchange) analyze() {
	if bytes.Contains(x.body, []byte(`"file_url"`)) {
		x.item = 1
	}
	choice := x.choose(x.life, x.item, "analysis")
	if choice == "kill-before" {
		x.kill(x.life)
		return
	}
	if choice == "lost-before" {
		x.observe(x.life, x.item, "analyzes in vain")
		return
	}
	r := x.pass()
	x.requests.Store(r.Text("request_id"), x.item)
	switch choice {
	case "kill-after":
		x.kill(x.life)
	case "lost-after":
		x.observe(x.life, x.item, "analyzes in vain")
	default:
		x.observe(x.life, x.item, "analyzes", "analyzes again")
		x.send(r)
	}
}

// purchase is one purchase on the network. deliver is how many copies reach the service, and response what the
// client receives.
func (x *exchange) purchase(choice string) {
	var in struct {
		RequestID string `json:"request_id"`
	}
	_ = json.Unmarshal(x.body, &in)
	x.find(in.RequestID)
	x.observe(x.life, x.item, "sends")
	ways := purchaseWays()
	way := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == choice })]
	x.keepDraft(in.RequestID)
	if way.late > 0 {
		x.network.Go(func() {
			time.Sleep(way.late)
			x.deliver()
		})
	}
	if way.copies > 1 {
		x.observe(x.life, x.item, "the network repeats it")
	}
	if way.copies == 0 && way.late == 0 && way.event != "is denied" {
		x.observe(x.life, x.item, "the network drops it")
	}
	var r response
	for range way.copies {
		if last := x.deliver(); r.Status == 0 || way.last {
			r = last
		}
	}
	if way.kill {
		x.kill(x.life)
		return
	}
	if way.instead != nil {
		r.Response = *way.instead
	}
	r.cut = way.cut
	x.observe(x.life, x.item, way.events(r)...)
	x.send(r)
}

// deliver hands a copy of the purchase to the service.
func (x *exchange) deliver() response {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.pass()
	event := "the service ignores a copy"
	if r.Status == http.StatusOK {
		event = "the service charges"
		x.debits[x.item]++
		x.charged[x.item] = time.Now()
	}
	x.observed(x.life, x.item, event)
	return r
}

// way is what the network does to a purchase: none of its copies reaches the service, or one, which it charges. That
// without a name is not a fault.
type way struct {
	name    string // "-after": the service charges
	copies  int
	last    bool          // the client receives the last response
	late    time.Duration // a copy arrives after the client gave up
	kill    bool          // the process dies before the response
	cut     bool          // the response ends in the middle
	instead *gatewaytest.Response
	event   string // the client's knowledge; empty if the response decides
}

// events are the events of the model that a response can be.
func (w way) events(r response) []string {
	switch {
	case w.event != "":
		return []string{w.event}
	case r.Status == http.StatusOK:
		return []string{"is confirmed"}
	case r.Status/100 == 4:
		return []string{"is refused"}
	}
	return []string{"loses the response"}
}

func purchaseWays() []way {
	type answer = gatewaytest.Response
	accepts := func(data string) *answer { return new(gatewaytest.Accepted(data)) }
	refuses := func(status int, data string) *answer { return new(gatewaytest.Refused(status, data)) }
	// A gateway that repeated the purchase returns the refusal of the second, which contradicts itself.
	contradicts := func(members string) *answer { return refuses(http.StatusBadRequest, `{`+members+`}`) }
	nothing, page := new(answer{}), new(gatewaytest.Page(http.StatusOK))
	confirmsAnother := accepts(`{"request_id":"RD-ANOTHER000000001","status":"processing","document_types":["CUSTOMS"],` +
		`"charged_amount":1,"currency":"NGN"}`)
	const lost = "loses the response"
	return []way{
		{copies: 1},
		{name: "unsent"},
		{name: "lost-before", instead: nothing, event: lost},
		{name: "lost-after", copies: 1, instead: nothing, event: lost},
		{name: "late", late: 3 * time.Second, instead: nothing, event: lost},
		{name: "later", late: 40 * time.Second, instead: nothing, event: lost},
		{name: "repeated", copies: 2},
		{name: "repeated-last", copies: 2, last: true},
		{name: "refused", instead: refuses(http.StatusBadRequest, "null")},
		{name: "refused-after", copies: 1, instead: refuses(http.StatusConflict, "null")},
		{name: "refused-late", late: 2 * time.Second, instead: refuses(http.StatusBadRequest, "null")},
		{name: "failed-after", copies: 1, instead: refuses(http.StatusServiceUnavailable, "null")},
		{name: "limited-after", copies: 1, instead: refuses(http.StatusTooManyRequests, "null")},
		{name: "problem-after", copies: 1, instead: new(gatewaytest.Problem())},
		{name: "state-after", copies: 1, instead: contradicts(`"status":"processing"`)},
		{name: "charge-after", copies: 1, instead: contradicts(`"status":"draft","charged_amount":5`)},
		{name: "transaction-after", copies: 1, instead: contradicts(`"transaction_id":"TR-1"`)},
		{name: "document-after", copies: 1, instead: contradicts(`"documents":[{"slug":"CUSTOMS","status":"generating"}]`)},
		{name: "misled-after", copies: 1, instead: contradicts(`"request_id":"RD-ANOTHER000000001","status":"draft"`)},
		{name: "cut", copies: 1, cut: true, event: lost},
		{name: "page", instead: page, event: lost},
		{name: "page-after", copies: 1, instead: page, event: lost},
		{name: "redirected", instead: new(answer{Status: http.StatusTemporaryRedirect}), event: lost},
		{name: "draft", instead: accepts(`{"status":"draft"}`), event: lost},
		{name: "draft-after", copies: 1, instead: accepts(`{"status":"draft"}`), event: lost},
		{name: "others", instead: accepts(`{"document_types":["FUMIGATION"]}`), event: lost},
		{name: "empty-after", copies: 1, instead: accepts(`{}`)},
		{name: "another", instead: confirmsAnother, event: lost},
		{name: "another-after", copies: 1, instead: confirmsAnother, event: lost},
		{name: "denied", instead: refuses(http.StatusForbidden, "null"), event: "is denied"},
		{name: "kill-before", kill: true},
		{name: "kill-after", copies: 1, kill: true},
	}
}

// read is a request that is read: as a draft, after the purchase, or by a poll.
func (x *exchange) read() {
	id := path.Base(x.request.URL.Path)
	x.find(id)
	choice := x.choose(x.life, x.item, "read")
	if choice == "kill" {
		x.kill(x.life)
		return
	}
	x.mu.Lock()
	r := x.pass()
	events := []string{"reads nothing of use"}
	switch choice {
	case "":
		events = readEvents(r)
	case "lost":
		r = response{}
	case "failed":
		r.Response = gatewaytest.Refused(http.StatusInternalServerError, "null")
	case "denied":
		r.Response, events = gatewaytest.Refused(http.StatusForbidden, "null"), append(events, "is denied the reading")
	case "missing":
		r.Response = gatewaytest.Refused(http.StatusNotFound, "null")
	case "page":
		r.Response = gatewaytest.Page(http.StatusOK)
	case "cut":
		r.cut = true
	case "null":
		r.Response = gatewaytest.Accepted("null")
	case "others":
		events = append(readEvents(r), events...)
		r.Edit(func(data map[string]any) bool {
			listed := data["documents"] != nil
			data["status"], data["documents"] = "processing", []string{"FUMIGATION"}
			return listed
		})
	case "another":
		r.Edit(func(data map[string]any) bool { data["request_id"] = "RD-ANOTHER000000001"; return true })
	case "paused":
		r.Edit(func(data map[string]any) bool {
			data["status"] = "unlisted"
			delete(data, "documents")
			delete(data, "charged_amount")
			return true
		})
	case "unlisted":
		events = append(readEvents(r), events...)
		r.Edit(func(data map[string]any) bool { delete(data, "documents"); return true })
	case "folded":
		events = readEvents(r)
		if rest, is := bytes.CutSuffix(r.Body, []byte(`}}`)); is {
			r.Body = slices.Concat(rest, []byte(`,"STATUS":"completed"}}`))
		}
	case "stale":
		if old, kept := x.drafts[id]; kept && time.Since(x.charged[x.item]) < staleFor {
			r = old
		}
		events = readEvents(r)
	}
	x.observed(x.life, x.item, events...)
	x.mu.Unlock()
	x.send(r)
}

// readEvents are the events of the model that the reading of a record can be.
func readEvents(r response) []string {
	switch r.Text("status") {
	case "draft":
		return []string{"reads the draft", "reads a draft", "reads a draft for long enough", "settles a draft",
			"reads nothing of use"}
	case "completed", "failed":
		return []string{"reads the purchase", "reads no draft", "reads the end"}
	}
	return []string{"reads the purchase", "reads no draft", "reads nothing of use"}
}

// find sets the item of a request.
func (x *exchange) find(id string) {
	if item, known := x.requests.Load(id); known {
		x.item = item.(int)
	}
}

// pass hands the request to the service.
func (x *exchange) pass() response {
	return x.ask(x.request.Method, x.request.URL.Path, x.body)
}

// keepDraft keeps the record for a cache that is stale later.
func (x *exchange) keepDraft(id string) {
	r := x.ask(http.MethodGet, "/v1/regulatory-documents/request/"+id, nil)
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.Text("status") == "draft" {
		x.drafts[id] = r
	}
}

func (x *exchange) ask(method, path string, body []byte) response {
	return response{Response: gatewaytest.Ask(x.server, x.request, method, path, body)}
}

// send sends the response; one without a status is an exchange that breaks off.
func (x *exchange) send(r response) {
	if r.Status == 0 || x.life.isDead() {
		return
	}
	sent := r.Body
	if r.cut {
		sent = sent[:len(sent)/2]
	}
	fmt.Fprintf(x.conn, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		r.Status, http.StatusText(r.Status), r.ContentType, len(r.Body), sent)
}

// response is the response of the service or the network.
type response struct {
	gatewaytest.Response
	cut bool // it ends in the middle
}
