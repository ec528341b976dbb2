package delivery

import (
	"context"
	"errors"
	"fmt"
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

func notification(n int, webhook string, order notify.Order) notify.Delivery {
	id := strconv.Itoa(n)
	return notify.Delivery{ID: "WD-" + id, WebhookID: webhook, URL: "http://localhost/", Order: order, Payload: []byte(id)}
}

// A receiver that takes longer than deliveries are gathered still receives them in order, one at a time.
func TestOrder_HoldsForASlowReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		takes := []time.Duration{900 * time.Millisecond, 400 * time.Millisecond, 10 * time.Millisecond, 400 * time.Millisecond, 0}
		receiver := &slow{takes: func(r *http.Request) time.Duration {
			n, _ := strconv.Atoi(strings.TrimPrefix(r.Header.Get(HeaderDeliveryID), "WD-"))
			return takes[n]
		}}
		d := open(t, Config{Transport: receiver})
		var want []string
		for n := range takes {
			d.Send(notification(n, "WA-1", notify.FIFO))
			want = append(want, strconv.Itoa(n))
			<-time.After(150 * time.Millisecond)
		}
		d.Wait(t.Context(), "WD-4")
		got, most := receiver.received()
		if diff := cmp.Diff(want, got); diff != "" || most != 1 {
			t.Errorf("received %d at a time (-want +got):\n%s", most, diff)
		}
	})
}

// The retry of an ordered delivery takes its turn: it is not sent while the receiver handles another delivery.
func TestOrder_RetriesTakeTheirTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := true
		receiver := &slow{takes: always(400 * time.Millisecond), answers: func(*http.Request) int {
			if first {
				first = false
				return http.StatusServiceUnavailable
			}
			return http.StatusOK
		}}
		d := open(t, Config{Transport: receiver})
		for n := range 3 {
			d.Send(notification(n, "WA-1", notify.FIFO))
		}
		d.Wait(t.Context(), "WD-0")
		d.Wait(t.Context(), "WD-2")
		got, most := receiver.received()
		if diff := cmp.Diff([]string{"0", "1", "2", "0"}, got); diff != "" || most != 1 {
			t.Errorf("received %d at a time (-want +got):\n%s", most, diff)
		}
	})
}

// Advance waits for ordered deliveries, too: when it returns, a receiver that refuses twice has accepted the delivery,
// and every attempt was made at its due time.
func TestAdvance_WaitsForOrderedDeliveries(t *testing.T) {
	t.Parallel()
	for _, order := range append(notify.Orders(), notify.Together) {
		t.Run(string("order "+order), func(t *testing.T) {
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
				d.Send(notification(1, "WA-1", order))
				if _, err := virtual.Advance(time.Minute); err != nil {
					t.Fatal(err)
				}
				got := d.Deliveries()[0]
				var at []time.Duration
				for _, attempt := range got.Attempts {
					at = append(at, attempt.At.Sub(start))
				}
				began := GatherFor
				if order == notify.Together {
					began = 0
				}
				want := []time.Duration{began, began + 500*time.Millisecond, began + 1500*time.Millisecond}
				if diff := cmp.Diff(want, at); diff != "" || got.State != notify.Delivered || !got.Due.IsZero() {
					t.Errorf("%s, due %v; attempts (-want +got):\n%s", got.State, got.Due, diff)
				}
			})
		})
	}
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
			d := New(Config{Transport: receiver, Clock: virtual, Seed: 9})
			defer d.Close()
			virtual.Settle(d.Settle)
			for n := range 40 {
				d.Send(notification(n, "WA-"+strconv.Itoa(n%5), append(notify.Orders(), notify.Together, notify.Together)[n%5]))
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

// A webhook whose order changes again and again still receives one notification at a time.
func TestOrder_ChangesOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		receiver := &slow{takes: always(170 * time.Millisecond)}
		d := open(t, Config{Transport: receiver})
		for n := range 40 {
			d.Send(notification(n, "WA-1", notify.Orders()[n%3]))
			<-time.After(30 * time.Millisecond)
		}
		for n := range 40 {
			if got, err := d.Wait(t.Context(), fmt.Sprint("WD-", n)); err != nil || got.State != notify.Delivered {
				t.Errorf("delivery %d is %s (%v)", n, got.State, err)
			}
		}
		if got, most := receiver.received(); len(got) != 40 || most != 1 {
			t.Errorf("%d received, %d at a time", len(got), most)
		}
		synctest.Wait()
		if len(d.queues) != 0 || len(d.pending) != 0 {
			t.Errorf("%d queues and %d deliveries are left", len(d.queues), len(d.pending))
		}
	})
}

// However many notifications are queued for a slow receiver, a notification to another webhook is sent at once.
func TestSend_ASlowReceiverDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	for _, order := range []notify.Order{notify.Together, notify.FIFO} {
		t.Run(string("order "+order), func(t *testing.T) {
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
					d.Send(notification(n, "WA-slow", order))
				}
				began := time.Now()
				d.Send(notification(100, "WA-fast", notify.Together))
				if got, err := d.Wait(t.Context(), "WD-100"); err != nil || got.State != notify.Delivered || time.Since(began) != 0 {
					t.Errorf("%s after %v (%v), want it at once", got.State, time.Since(began), err)
				}
				synctest.Wait()
				if _, most := receiver.received(); most != d.width(order) {
					t.Errorf("%d at once to one webhook, want %d", most, d.width(order))
				}
			})
		})
	}
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
	d.Send(notification(1, "WA-1", notify.Together))
	advance(time.Second) // the second attempt was after half of it, the third is due after as much again
	d.Send(notification(2, "WA-1", notify.Reverse))
	d.Send(notification(3, "WA-1", notify.Reverse))
	log := d.Log()
	taken := virtual.Now()

	advance(time.Hour)
	d.Restore(log, virtual.Now().Sub(taken), true)
	began := virtual.Now()
	advance(99 * time.Millisecond)
	if got := d.Log(); len(got[0].Attempts) != 2 || len(got[1].Attempts) != 0 {
		t.Errorf("tried before their time: %+v", got)
	}
	fired, err := virtual.Advance(401 * time.Millisecond)
	if err != nil || len(fired) != 2 {
		t.Fatalf("fired %v, %v", fired, err)
	}
	got, _ := d.Find("WD-1")
	if at := got.Attempts[2].At.Sub(began); at != 500*time.Millisecond || got.State != notify.Failed {
		t.Errorf("the last attempt was after %v, and it is %s", at, got.State)
	}
	if gathered, _ := d.Find("WD-2"); len(gathered.Attempts) != 1 || gathered.Attempts[0].At.Sub(began) != GatherFor {
		t.Errorf("the gathered deliveries were attempted as %+v", gathered.Attempts)
	}
}

// Deliveries that were gathered, or released but not sent, keep their order when they are restored.
func TestRestore_KeepsTheOrderOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, order := range notify.Orders() {
		t.Run(string(order), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				all := &slow{takes: always(time.Second)}
				undisturbed := open(t, Config{Transport: all, Seed: 5})
				cut := &slow{takes: always(time.Second)}
				before := open(t, Config{Transport: cut, Seed: 5})
				for n := range 6 {
					undisturbed.Send(notification(n, "WA-1", order))
					before.Send(notification(n, "WA-1", order))
				}
				<-time.After(2500 * time.Millisecond)
				rest := &slow{takes: always(time.Second)}
				after := open(t, Config{Transport: rest, Seed: 5})
				log := before.Log()
				before.Restore(nil, 0, true)
				after.Restore(log, 0, true)
				<-time.After(time.Minute)
				want, _ := all.received()
				early, _ := cut.received()
				late, _ := rest.received()
				if diff := cmp.Diff(want, slices.Concat(early, late)); diff != "" || len(early) != 2 {
					t.Errorf("sent %d before and the rest after (-want +got):\n%s", len(early), diff)
				}
			})
		})
	}
}

// Wait ends when the world of the delivery is closed.
func TestWait_EndsWithTheDispatcher(t *testing.T) {
	t.Parallel()
	d := New(Config{Transport: answering(500), Clock: clock.Virtual(time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC))})
	d.Send(notification(1, "WA-1", notify.Together))
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
