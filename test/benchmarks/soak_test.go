package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Two programs use a reference server over sockets. Worlds open with faults and a webhook, are read, purchased in,
// reset and closed; notifications are delivered, and some are refused; two readers of the live stream come and go. When
// the programs have finished, no goroutine, connection or world of theirs is left, and no memory: a request that
// outlives its world would stay. SHIPPING_SOAK is how long they run, such as 10m; without it they run ten rounds.
func TestSoak(t *testing.T) {
	var length time.Duration
	if text := os.Getenv("SHIPPING_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	var notifications atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if notifications.Add(1)%10 == 0 { // is sent again
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	srv := mockserver.New(mockserver.WithJournal(100, 2<<10)) // a full journal after ten rounds
	defer srv.Close()
	if err := srv.Err(); err != nil {
		t.Fatal(err)
	}
	s := &soak{t: t, srv: srv, receiver: receiver, transport: &http.Transport{MaxIdleConnsPerHost: 16}}

	idle := goleak.IgnoreCurrent()
	const least = 10
	s.run(func(round int) bool { return round < least })
	filled, started := s.rest(idle), time.Now()
	s.run(func(round int) bool { return round < least || time.Since(started) < length })
	grown := s.rest(idle) - filled
	t.Logf("soak: %d worlds opened and closed, %d notifications: the heap of %d KiB grew by %d KiB", 2*s.rounds.Load(),
		notifications.Load(), filled>>10, grown>>10)
	if most := int64(1 << 20); grown > most { // half of it is what lint remembers of 4,096 requests
		t.Errorf("the heap grew by %d bytes, want at most %d", grown, most)
	}
}

// soak is the programs that use a server.
type soak struct {
	t         *testing.T
	srv       *mockserver.Server
	receiver  *httptest.Server
	transport *http.Transport
	rounds    atomic.Int64
}

// run lets each program do rounds as long as more returns true for their number.
func (s *soak) run(more func(round int) bool) {
	var programs, readers sync.WaitGroup
	for range 2 {
		programs.Go(func() {
			for round := 0; more(round) && !s.t.Failed(); round++ {
				s.round(fmt.Sprint("soak", s.rounds.Add(1)))
			}
		})
	}
	ctx, leave := context.WithCancel(s.t.Context())
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil && !s.t.Failed() {
				if err := s.follow(ctx); ctx.Err() == nil {
					s.check("the state of a world", err)
				}
			}
		})
	}
	programs.Wait()
	leave()
	readers.Wait()
}

// rest waits until goroutines and worlds are those from before the programs ran, and returns the size of the heap.
func (s *soak) rest(idle goleak.Option) int64 {
	s.transport.CloseIdleConnections()
	s.receiver.CloseClientConnections()
	err := goleak.Find(idle)
	for begun := time.Now(); err != nil && time.Since(begun) < 30*time.Second; err = goleak.Find(idle) {
	}
	if err != nil {
		s.t.Errorf("goroutines are left: %v", err)
	}
	if open := len(s.srv.Worlds()); open != 1 {
		s.t.Errorf("%d worlds are open, want 1", open)
	}
	return liveHeap()
}

// round reads in the home world, works in a new world, and closes it.
func (s *soak) round(name string) {
	world, err := s.srv.Open("instant_" + name)
	if err != nil {
		s.check("open", err)
		return
	}
	defer world.Close()
	_, err = world.AddWebhook(notify.Webhook{URL: s.receiver.URL})
	s.check("prepare", errors.Join(err, world.Inject(soakFaults()...)))

	s.read(s.srv.World)
	s.read(world)
	s.purchase(world)
	_, err = s.client(world).Webhooks.Replay(s.t.Context(),
		&shipping.ReplayRequest{ShipmentID: world.Shipments()[0], Event: "shipment.created"})
	s.checkResponse(err)
	s.check("the ledger", world.Check())
	world.Reset()
	s.purchase(world)
	s.check("the ledger after a reset", world.Check())
}

// soakFaults have no response that a defect of the server would have.
func soakFaults() []fault.Rule {
	return []fault.Rule{
		{Operation: shipping.OpListRates, Probability: 0.05, Fault: fault.Status(http.StatusServiceUnavailable, nil)},
		{Operation: shipping.OpListRates, Probability: 0.05, Fault: fault.Malformed()},
		{Operation: shipping.OpListTransactions, Probability: 0.05, Fault: fault.Drop()},
		{Operation: shipping.OpListTransactions, Probability: 0.05, Fault: fault.Latency(5 * time.Millisecond)},
		{Operation: shipping.OpListCountries, Probability: 0.1, Fault: fault.Truncate(100)},
		{Operation: shipping.OpAnalyze, Probability: 0.05, Fault: fault.Reset()},
		{Operation: shipping.OpPurchase, Probability: 0.1, Committed: true, Fault: fault.Drop()},
		{Operation: shipping.OpPurchase, Probability: 0.1, Point: fault.BeforeCharge},
	}
}

func (s *soak) client(w *mockserver.World) *shipping.Client {
	client, err := shipping.NewClient(w.SecretKey, shipping.WithBaseURL(w.URL),
		shipping.WithHTTPClient(&http.Client{Transport: s.transport}),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MinWait: time.Millisecond, MaxWait: 10 * time.Millisecond,
			ExtraLoad: -1}))
	s.check("new client", err)
	return client
}

// read reads pages of lists, and a record that does not exist.
func (s *soak) read(w *mockserver.World) {
	client, ctx := s.client(w), s.t.Context()
	for page := range 4 {
		_, err := client.Rates.List(ctx, &shipping.RateListOptions{Page: page + 1})
		s.checkResponse(err)
		_, err = client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: w.Wallets()[0], Page: page + 1})
		s.checkResponse(err)
	}
	_, err := client.Countries.List(ctx)
	s.checkResponse(err)
	if _, err := client.Regulatory.Get(ctx, "RD-0000000000000000"); !errors.Is(err, shipping.ErrNotFound) {
		s.t.Errorf("a request that does not exist: %v", err)
	}
}

// purchase purchases the customs documents of a shipment and waits for them.
func (s *soak) purchase(w *mockserver.World) {
	_, err := s.client(w).Regulatory.AnalyzeAndPoll(s.t.Context(), &shipping.AnalyzeRequest{ShipmentID: w.Shipments()[0]},
		&shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectOnly("CUSTOMS"),
			Poll: shipping.PollOptions{MinInterval: time.Millisecond, MaxInterval: 20 * time.Millisecond,
				DraftFor: 100 * time.Millisecond},
		})
	s.checkResponse(err)
}

// follow reads the state of a world, as the console does.
func (s *soak) follow(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.srv.URL+"/_mock/live", nil)
	if err != nil {
		return err
	}
	response, err := s.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

func (s *soak) check(what string, err error) {
	if err != nil {
		s.t.Errorf("%s: %v", what, err)
	}
}

// checkResponse accepts the errors that the faults cause.
func (s *soak) checkResponse(err error) {
	failed, isResponse := errors.AsType[*shipping.Error](err)
	if isResponse && slices.Contains([]int{400, 401, 403, 404, 405, 413, 415, 500}, failed.StatusCode) {
		s.t.Error(err)
	}
}
