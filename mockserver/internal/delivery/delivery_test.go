package delivery

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// open returns a dispatcher on a real clock that closes with the test.
func open(t *testing.T, config Config) *Dispatcher {
	t.Helper()
	c := clock.Real(time.Time{})
	config.Clock, config.Scheme, config.Attempts = c, signature.Of(nil), cmp.Or(config.Attempts, 3)
	config.Running = cmp.Or(config.Running, make(chan struct{}, MaxAttempts))
	config.Strike = func(notify.Delivery) Strike { return Strike{} }
	d := New(config)
	t.Cleanup(func() {
		c.Stop()
		d.Close()
	})
	return d
}

// Record adds a delivery that has ended to the log, such as one of the seeded history.
func (d *Dispatcher) Record(past notify.Delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	past.Due = time.Time{}
	d.add(&past)
}

// An attempt ends after ten seconds, and the next follows after half a second, and after another: without the timeout a
// delivery to a receiver that does not respond never ends.
func TestSend_FollowsThePolicy(t *testing.T) {
	t.Parallel()
	const here = "http://localhost/"
	type result struct {
		State    notify.DeliveryState
		Attempts int
		Took     time.Duration
	}
	type row struct {
		target   string
		receiver *slow
		attempts int
		want     result
	}
	shippingtest.EachInBubble(t, map[string]row{
		"accepted":         {here, answering(204), 3, result{notify.Delivered, 1, 0}},
		"never accepted":   {here, answering(500), 3, result{notify.Failed, 3, 1500 * time.Millisecond}},
		"no redirect":      {here, answering(307), 3, result{notify.Failed, 3, 1500 * time.Millisecond}},
		"no target":        {"nowhere", answering(200), 3, result{notify.Refused, 0, 0}},
		"off this machine": {"https://192.0.2.1/", answering(200), 3, result{notify.Refused, 0, 0}},
		"once":             {here, answering(404), 1, result{notify.Failed, 1, 0}},
		"times out":        {here, &slow{takes: always(time.Hour)}, 3, result{notify.Failed, 3, 31500 * time.Millisecond}},
	}, func(t *testing.T, test row) {
		d := open(t, Config{Transport: test.receiver, Attempts: test.attempts, Running: make(chan struct{}, 1)})
		started := time.Now()
		sent := d.Send(notify.Delivery{ID: "WD-1", URL: test.target})
		got := shippingtest.Must(d.Wait(context.Background(), sent.ID))(t)
		shippingtest.Diff(t, "the end", test.want, result{got.State, len(got.Attempts), time.Since(started)})
		if sent.Attempts == nil || !got.Due.IsZero() ||
			slices.ContainsFunc(got.Attempts, func(a notify.DeliveryAttempt) bool {
				return strings.Contains(a.Error, test.target) || (a.StatusCode == 0) != (a.Error != "")
			}) {
			t.Errorf("it is due again, or its errors are wrong: %+v", got)
		}
		clear(got.Attempts)
		if again, _ := d.Find(sent.ID); test.want.Attempts > 0 && again.Attempts[0].At.IsZero() {
			t.Error("the log has changed")
		}
	})
}

// A name under .localhost passes the first check; the dialled address is checked again.
func TestTransport_DialsLoopbackOnly(t *testing.T) {
	t.Parallel()
	transport := NewTransport(false)
	_, err := transport.DialContext(t.Context(), "tcp", "192.0.2.1:80")
	shippingtest.WantError(t, "another machine", err, ErrNotLoopback)
	for _, address := range []string{"169.254.169.254:80", "[::ffff:169.254.169.254]:80", "[fe80::1]:80"} {
		_, err := NewTransport(true).DialContext(t.Context(), "tcp", address)
		shippingtest.WantError(t, address, err, errLinkLocal)
	}
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	conn := shippingtest.Must(transport.DialContext(t.Context(), "tcp", srv.Listener.Addr().String()))(t)
	conn.Close()
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"localhost": true, "LOCALHOST.": true, "shop.localhost": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true,
		"::ffff:127.0.0.1": true,
		"":                 false, "localhost.example": false, "notlocalhost": false, "10.0.0.1": false, "0.0.0.0": false,
		"2130706433": false, "::ffff:10.0.0.1": false,
		"b\u00fccher.localhost": false, "evil\u3002localhost": false,
	}
	for host, want := range tests {
		shippingtest.Diff(t, host, want, IsLoopback(host))
	}
}

func TestLog_KeepsNoMorePayloadThanItMay(t *testing.T) {
	t.Parallel()
	const each = 256 // that a delivery counts for, besides its payload
	d := open(t, Config{Bytes: 100 + 2*each})
	kept := func() string {
		var ids []string
		for _, delivery := range d.Deliveries() {
			ids = append(ids, delivery.ID)
		}
		return strings.Join(ids, " ")
	}
	for _, test := range []struct {
		id    string
		bytes int
		want  string
	}{{"WD-1", 60, "WD-1"}, {"WD-2", 40, "WD-2 WD-1"}, {"WD-3", 1, "WD-3 WD-2"}, {"WD-4", 99, "WD-4 WD-3"},
		{"WD-5", 5_000, "WD-5"}, {"WD-6", 1, "WD-6"}} {
		d.Record(notify.Delivery{ID: test.id, State: notify.Delivered, Payload: make([]byte, test.bytes)})
		shippingtest.Diff(t, "the log after "+test.id, test.want, kept())
	}
	d.Reset([]*notify.Delivery{{ID: "WD-0", State: notify.Delivered}})
	before := d.Bytes()
	d.Record(notify.Delivery{ID: "WD-7", State: notify.Delivered, Payload: make([]byte, 50)})
	if got := kept(); got != "WD-7 WD-0" || before != 0 || d.Bytes() != each+50 {
		t.Errorf("after a reset the log has %s, and %d bytes after %d", got, d.Bytes(), before)
	}
	d.Record(notify.Delivery{ID: "WD-8", State: notify.Delivered, Payload: make([]byte, 100)})
	shippingtest.Diff(t, "the log in the end", "WD-8", kept())
}

// A reset cancels the deliveries of the former log, and ends the calls that wait for them. An attempt or a timer that a
// reset forgets would add to the new log, and the call would never return.
func TestReset_CancelsDeliveries(t *testing.T) {
	t.Parallel()
	t.Run("an attempt", func(t *testing.T) { resetCancels(t, &slow{takes: always(time.Second)}, 0) })
	t.Run("a retry", func(t *testing.T) { resetCancels(t, answering(503), 1) })
}

func resetCancels(t *testing.T, receiver *slow, responses int) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, Config{Transport: receiver})
		d.Send(notification(1, "WA-1"))
		waited := make(chan error, 1)
		go func() {
			_, err := d.Wait(t.Context(), "WD-1")
			waited <- err
		}()
		synctest.Wait()
		before := d.Changes()
		d.Reset([]*notify.Delivery{{ID: "WD-0", State: notify.Delivered}})
		if err := <-waited; !errors.Is(err, ErrUnknown) || d.Changes() == before {
			t.Errorf("waiting for a former delivery: %v; %d changes, and %d before", err, d.Changes(), before)
		}
		<-time.After(time.Minute)
		if log := d.Deliveries(); len(log) != 1 || log[0].ID != "WD-0" {
			t.Errorf("the log is %+v", log)
		}
		shippingtest.Diff(t, "responses", responses, len(receiver.got))
	})
}

// A delivery is found in a log that drops entries between its attempts; one that is dropped itself ends. A place in the
// log that was computed before an attempt is that of another delivery after it.
func TestLog_DropsEntriesWhileDeliveriesAreOnTheirWay(t *testing.T) {
	t.Parallel()
	type row struct {
		limit    int
		later    []string // recorded after the first attempt
		attempts int      // 0: it is dropped
	}
	shippingtest.EachInBubble(t, map[string]row{
		"nothing is dropped": {10, []string{"WD-2"}, 2},
		"others are":         {4, []string{"WD-2", "WD-3"}, 2},
		"all others are":     {3, []string{"WD-2", "WD-3"}, 2},
		"it is too":          {2, []string{"WD-2", "WD-3"}, 0},
	}, func(t *testing.T, test row) {
		receiver := new(slow)
		receiver.answers = func(*http.Request) int { return 500 - 300*min(len(receiver.got), 1) } // 500, then 200
		d := open(t, Config{Limit: test.limit, Transport: receiver})
		for _, id := range []string{"WD-A", "WD-B"} {
			d.Record(notify.Delivery{ID: id, State: notify.Delivered})
		}
		d.Send(notify.Delivery{ID: "WD-1", URL: "http://localhost/"})
		synctest.Wait()
		first, _ := d.Find("WD-1")
		shippingtest.Diff(t, "time to the second attempt", 500*time.Millisecond, first.Due.Sub(first.Attempts[0].At))
		for _, id := range test.later {
			d.Record(notify.Delivery{ID: id, State: notify.Delivered})
		}
		got, err := d.Wait(t.Context(), "WD-1")
		if test.attempts == 0 {
			if !errors.Is(err, ErrUnknown) {
				t.Errorf("%+v, %v", got, err)
			}
		} else if err != nil || got.State != notify.Delivered || len(got.Attempts) != test.attempts {
			t.Errorf("%+v, %v", got, err)
		}
		for _, other := range d.Deliveries() {
			if other.ID != "WD-1" && (other.State != notify.Delivered || len(other.Attempts) != 0) {
				t.Errorf("another delivery has changed: %+v", other)
			}
		}
		shippingtest.Diff(t, "deliveries and queues that are left", [2]int{}, [2]int{len(d.pending), len(d.queues)})
	})
}

// WaitAll ends when no delivery is queued, and not before, or with its context or the dispatcher: a wait that nothing
// wakes would never end.
func TestWaitAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		receiver := &slow{takes: always(time.Second)}
		d := open(t, Config{Transport: receiver})
		shippingtest.NoError(t, d.WaitAll(t.Context()))
		for n := range 3 {
			d.Send(notification(n, "WA-1"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		shippingtest.WantErrorWith(t, "too early", d.WaitAll(ctx), context.DeadlineExceeded, "queued: 3")
		shippingtest.WantError(t, "too early for a delivery", shippingtest.Err(d.Wait(ctx, "WD-0")), context.DeadlineExceeded)
		if err := d.WaitAll(t.Context()); err != nil || len(d.pending) != 0 {
			t.Errorf("%v, and %d are on their way", err, len(d.pending))
		}
		receiver.answers = func(*http.Request) int { return http.StatusServiceUnavailable }
		d.Send(notification(3, "WA-1"))
		<-time.After(1200 * time.Millisecond) // until it waits for its second attempt
		waited := make(chan error, 1)
		go func() { waited <- d.WaitAll(t.Context()) }()
		synctest.Wait()
		d.Close()
		shippingtest.WantError(t, "closed", <-waited, ErrClosed)
	})
}

func TestCheckTarget(t *testing.T) {
	t.Parallel()
	for target, want := range map[string][2]bool{ // on this machine only, anywhere
		"http://localhost/": {true, true}, "https://127.0.0.1:8080/x": {true, true},
		"http://192.0.2.1/": {false, true}, "https://example.test": {false, true},
		"ftp://localhost/": {}, "localhost": {}, "/hook": {}, "http:///": {}, "": {}, "http://[": {},
	} {
		shippingtest.Diff(t, target, want, [2]bool{CheckTarget(target, false) == nil, CheckTarget(target, true) == nil})
	}
}
