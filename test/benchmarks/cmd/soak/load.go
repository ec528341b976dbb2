package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/process"
)

// load is the programs that use a server, and the receiver of its notifications.
type load struct {
	server                process.Hello
	transport             *http.Transport
	receiver              *httptest.Server
	visits, notifications atomic.Int64

	mu     sync.Mutex
	failed error // the first thing that no fault has done
}

func newLoad(server process.Hello) *load {
	l := &load{server: server, transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	l.receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if l.notifications.Add(1)%10 == 0 { // the receiver refuses this one, so that it is sent again
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	return l
}

func (l *load) close() {
	l.transport.CloseIdleConnections()
	l.receiver.Close()
}

// longest is how much time a round of a worker has. It takes a fraction of a second.
const longest = time.Minute

// work uses the server's own world and others until the context ends or something is wrong. A round that
// has begun is finished, so that it leaves nothing behind.
func (l *load) work(ctx context.Context, worker int) {
	home, err := l.enter(l.server.SecretKey)
	for round := 0; err == nil && ctx.Err() == nil; round++ {
		whole, stop := context.WithTimeout(context.WithoutCancel(ctx), longest)
		err = errors.Join(home.read(whole), l.visit(whole, fmt.Sprintf("w%dr%d", worker, round)), whole.Err())
		stop()
	}
	l.fail(err)
}

// visit opens a world, works in it and in a copy of it, and closes both.
func (l *load) visit(ctx context.Context, name string) error {
	w, err := l.enter("sk_test_instant_" + name)
	if err != nil {
		return err
	}
	if err := w.prepare(ctx, l.receiver.URL); err != nil {
		return err
	}
	fork, err := w.fork(ctx, name+"-fork")
	if err != nil {
		return err
	}
	err = errors.Join(w.read(ctx), w.buy(ctx), fork.buy(ctx), w.replay(ctx), w.goBack(ctx), w.buy(ctx))
	for _, each := range []*visitor{w, fork} {
		err = errors.Join(err, each.audit(ctx), each.leave(ctx))
	}
	l.visits.Add(2)
	return err
}

// follow reads the live stream of the server's own world as pages do that are opened and closed again.
func (l *load) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := l.glance(ctx); err != nil && ctx.Err() == nil {
			l.fail(fmt.Errorf("the live stream: %w", err))
			return
		}
	}
}

// glance reads a few messages of the live stream.
func (l *load) glance(ctx context.Context) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.server.URL+"/_mock/live", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := l.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	for messages := 0; messages < 3 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data:") {
			messages++
		}
	}
	return lines.Err()
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
}

func (l *load) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// enter makes a visitor of the world of a key, which the first call opens.
func (l *load) enter(key string) (*visitor, error) {
	client, err := shipping.NewClient(key,
		shipping.WithBaseURL(l.server.URL),
		shipping.WithHTTPClient(&http.Client{Transport: l.transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Millisecond, MaxWait: 10 * time.Millisecond, ExtraLoad: -1}),
	)
	return &visitor{load: l, client: client, key: key, shipment: l.server.Shipments[0], wallet: l.server.Wallets[0]}, err
}

// ofFaults drops the errors that the injected faults may have caused, and keeps the others.
func ofFaults(errs ...error) error {
	wrong := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusInternalServerError,
	}
	var kept []error
	for _, err := range errs {
		answered, isAnswer := errors.AsType[*shipping.Error](err)
		if isAnswer && slices.Contains(wrong, answered.StatusCode) {
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}
