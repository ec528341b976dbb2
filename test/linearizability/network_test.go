package linearizability

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

var errLost = errors.New("the exchange broke off")

// network is between one client and the service. It is not an *http.Transport, so its errors prove nothing.
type network struct {
	service    http.Handler
	deliveries *sync.WaitGroup // of messages that arrive late

	mu     sync.Mutex
	random *rand.Rand
	rate   int // of 100 exchanges that are at fault
	calls  map[string]bool
	resent func(call string) // is called if a purchase is sent again
}

// callHeader is the header with the number of a call.
const callHeader = "X-Call"

// fault is what can happen to an exchange.
type fault struct {
	name          string
	weight        int
	copies        int
	lost, late    bool
	last          bool // of several responses the client receives the last
	refusedBefore bool // a gateway refuses it
	purchaseOnly  bool
}

func faults() []fault {
	return []fault{
		{name: "lost before", weight: 6, lost: true},
		{name: "lost after", weight: 8, copies: 1, lost: true},
		{name: "late", weight: 4, copies: 1, lost: true, late: true},
		{name: "repeated", weight: 5, copies: 2, purchaseOnly: true},
		{name: "repeated, last response", weight: 5, copies: 2, last: true, purchaseOnly: true},
		{name: "refused by a gateway", weight: 4, refusedBefore: true, purchaseOnly: true},
	}
}

// draw returns the fault of the next exchange, and how long its two messages take.
func (n *network) draw(purchase bool) (f fault, there, back time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	there = time.Duration(1+n.random.IntN(40_000)) * time.Microsecond
	back = time.Duration(1+n.random.IntN(40_000)) * time.Microsecond
	if n.random.IntN(100) >= n.rate {
		return fault{copies: 1}, there, back
	}
	for all := faults(); ; {
		if f = all[n.random.IntN(len(all))]; n.random.IntN(10) < f.weight && (purchase || !f.purchaseOnly) {
			return f, there, back
		}
	}
}

// RoundTrip passes a request on, in its way.
func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readAll(r)
	if err != nil {
		return nil, err
	}
	purchase := strings.HasSuffix(r.URL.Path, "/purchase")
	if purchase {
		n.once(r.Header.Get(callHeader))
	}
	f, there, back := n.draw(purchase)
	if f.late {
		n.deliveries.Go(func() {
			time.Sleep(10 * there)
			n.pass(r, body)
		})
		f.copies = 0
	}
	time.Sleep(there)
	var response *http.Response
	for k := range f.copies {
		if next := n.pass(r, body); k == 0 || f.last {
			response = next
		}
	}
	time.Sleep(back)
	switch {
	case f.refusedBefore:
		return answer(http.StatusBadRequest, `{"status":false,"message":"not now","data":null}`), nil
	case f.lost:
		return nil, errLost
	}
	return response, nil
}

// once reports a call that sends its purchase a second time.
func (n *network) once(call string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calls[call] {
		n.resent(call)
	}
	if n.calls == nil {
		n.calls = map[string]bool{}
	}
	n.calls[call] = true
}

func readAll(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

func (n *network) pass(r *http.Request, body []byte) *http.Response {
	copied := httptest.NewRequest(r.Method, r.URL.RequestURI(), bytes.NewReader(body))
	copied.Header = r.Header.Clone()
	w := httptest.NewRecorder()
	n.service.ServeHTTP(w, copied)
	return w.Result()
}

func answer(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}
