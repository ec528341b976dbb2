package delivery

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
)

// slow is a receiver inside a bubble. It takes its time, and notes when it responded to what.
type slow struct {
	mu      sync.Mutex
	takes   func(*http.Request) time.Duration
	answers func(*http.Request) int // nil: 200
	got     []string
	busy    map[string]int // by webhook
	most    int            // that were received from one webhook at once
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	payload, _ := io.ReadAll(r.Body)
	webhook := r.Header.Get(HeaderWebhookID)
	s.mu.Lock()
	if s.busy == nil {
		s.busy = map[string]int{}
	}
	s.busy[webhook]++
	s.most = max(s.most, s.busy[webhook])
	status := http.StatusOK
	if s.answers != nil {
		status = s.answers(r)
	}
	takes := s.takes(r)
	s.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[webhook]--
	s.got = append(s.got, string(payload))
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// received returns the deliveries in the order of their responses, and how many of one webhook came at once.
func (s *slow) received() ([]string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got), s.most
}

func always(d time.Duration) func(*http.Request) time.Duration {
	return func(*http.Request) time.Duration { return d }
}

func notification(n int, webhook string) notify.Delivery {
	id := strconv.Itoa(n)
	return notify.Delivery{ID: "WD-" + id, WebhookID: webhook, URL: "http://localhost/", Payload: []byte(id)}
}

// When Advance returns, a receiver that refuses twice has accepted the delivery, and every attempt was made at its due
// time.
func TestAdvance_WaitsForDeliveries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		receiver := &slow{takes: always(300 * time.Millisecond), answers: func(*http.Request) int {
			if asked++; asked < 3 {
				return http.StatusServiceUnavailable
			}
			return http.StatusOK
		}}
		start := time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)
		virtual := clock.Virtual(start)
		d := New(Config{Transport: receiver, Clock: virtual})
		defer d.Close()
		virtual.Settle(d.Settle)
		d.Send(notification(1, "WA-1"))
		if _, err := virtual.Advance(time.Minute); err != nil {
			t.Fatal(err)
		}
		got := d.Deliveries()[0]
		var at []time.Duration
		for _, attempt := range got.Attempts {
			at = append(at, attempt.At.Sub(start))
		}
		want := []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond}
		if diff := cmp.Diff(want, at); diff != "" || got.State != notify.Delivered || !got.Due.IsZero() {
			t.Errorf("%s, due %v; attempts (-want +got):\n%s", got.State, got.Due, diff)
		}
	})
}

// Deliveries that are sent together leave the same log and the same fired functions, however long each receiver takes.
func TestAdvance_IsTheSameWhoeverIsSlow(t *testing.T) {
	t.Parallel()
	seed := randomtest.New(t).Seed()
	run := func(speed uint64) (log []notify.Delivery, fired []journal.Fired) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, speed))
			count := map[string]int{}
			receiver := &slow{
				takes: func(*http.Request) time.Duration { return time.Duration(random.IntN(900)) * time.Millisecond },
				answers: func(r *http.Request) int {
					webhook := r.Header.Get(HeaderWebhookID)
					if count[webhook]++; count[webhook]%3 != 0 {
						return http.StatusServiceUnavailable
					}
					return http.StatusOK
				},
			}
			virtual := clock.Virtual(time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC))
			d := New(Config{Transport: receiver, Clock: virtual})
			defer d.Close()
			virtual.Settle(d.Settle)
			for n := range 40 {
				d.Send(notification(n, "WA-"+strconv.Itoa(n%5)))
				if n%7 == 0 {
					more, err := virtual.Advance(60 * time.Millisecond)
					if err != nil {
						t.Fatal(err)
					}
					fired = append(fired, more...)
				}
			}
			more, err := virtual.Advance(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			fired, log = append(fired, more...), d.Deliveries()
		})
		return log, fired
	}
	log, fired := run(0)
	for speed := range uint64(20) {
		again, firedAgain := run(speed + 1)
		if diff := cmp.Diff(log, again); diff != "" {
			t.Fatalf("log with receivers of speed %d (-first +this):\n%s", speed, diff)
		}
		if diff := cmp.Diff(fired, firedAgain); diff != "" {
			t.Fatalf("fired with receivers of speed %d (-first +this):\n%s", speed, diff)
		}
	}
}

// However many notifications are queued for a slow receiver, a notification to another webhook is sent at once.
func TestSend_ASlowReceiverDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		receiver := &slow{takes: func(r *http.Request) time.Duration {
			if r.Header.Get(HeaderWebhookID) == "WA-slow" {
				return 4 * time.Second
			}
			return 0
		}}
		d := open(t, Config{Transport: receiver})
		for n := range 100 {
			d.Send(notification(n, "WA-slow"))
		}
		began := time.Now()
		d.Send(notification(100, "WA-fast"))
		if got, err := d.Wait(t.Context(), "WD-100"); err != nil || got.State != notify.Delivered || time.Since(began) != 0 {
			t.Errorf("%s after %v (%v), want it at once", got.State, time.Since(began), err)
		}
		synctest.Wait()
		if _, most := receiver.received(); most != maxInFlight {
			t.Errorf("%d at once to one webhook, want %d", most, maxInFlight)
		}
	})
}

// A restored delivery keeps the rest of its wait, here half a second.
func TestRestore_KeepsWhatWasLeftOfTheWait(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)
	virtual := clock.Virtual(start)
	d := New(Config{Transport: answering(500), Clock: virtual})
	defer d.Close()
	virtual.Settle(d.Settle)
	advance := func(wait time.Duration) {
		if _, err := virtual.Advance(wait); err != nil {
			t.Fatal(err)
		}
	}
	d.Send(notification(1, "WA-1"))
	advance(time.Second) // the second attempt was after half of it, the third is due after as much again
	log := d.Log()
	taken := virtual.Now()

	advance(time.Hour)
	d.Restore(log, virtual.Now().Sub(taken), true)
	began := virtual.Now()
	advance(99 * time.Millisecond)
	if got := d.Log(); len(got[0].Attempts) != 2 {
		t.Errorf("tried before their time: %+v", got)
	}
	fired, err := virtual.Advance(401 * time.Millisecond)
	if err != nil || len(fired) != 1 {
		t.Fatalf("fired %v, %v", fired, err)
	}
	got, _ := d.Find("WD-1")
	if at := got.Attempts[2].At.Sub(began); at != 500*time.Millisecond || got.State != notify.Failed {
		t.Errorf("the last attempt was after %v, and it is %s", at, got.State)
	}
}

// Wait ends when the world of the delivery is closed.
func TestWait_EndsWithTheDispatcher(t *testing.T) {
	t.Parallel()
	d := New(Config{Transport: answering(500), Clock: clock.Virtual(time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC))})
	d.Send(notification(1, "WA-1"))
	failed := make(chan error)
	go func() {
		_, err := d.Wait(context.Background(), "WD-1")
		failed <- err
	}()
	d.Close()
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
