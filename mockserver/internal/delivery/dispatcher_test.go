package delivery

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{199: false, 200: true, 299: true, 300: false, 404: false} {
		shippingtest.Diff(t, strconv.Itoa(status), want, accepts(status))
	}
	for attempt, want := range map[int]time.Duration{1: time.Second / 2, 2: time.Second, 3: 2 * time.Second,
		11: 512 * time.Second, 12: 512 * time.Second} {
		shippingtest.Diff(t, strconv.Itoa(attempt), want, backoff(attempt))
	}
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
		if err := d.WaitAll(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3 are") {
			t.Errorf("too early: %v", err)
		}
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
