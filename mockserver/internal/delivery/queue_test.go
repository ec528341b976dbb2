package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// slow is a receiver inside a bubble. It takes its time, and notes when it responded to what.
type slow struct {
	mu      sync.Mutex
	takes   func(*http.Request) time.Duration // nil: no time
	answers func(*http.Request) int           // nil: 200
	got     []string
	busy    map[string]int // by webhook
	most    int            // that were received from one webhook at once
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	payload, _ := io.ReadAll(r.Body)
	webhook := r.Header.Get(signature.WebhookID)
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
	takes := time.Duration(0)
	if s.takes != nil {
		takes = s.takes(r)
	}
	s.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[webhook]--
	s.got = append(s.got, string(payload))
	header := http.Header{"Location": {"/elsewhere"}} // which a redirect leads to
	return &http.Response{StatusCode: status, Header: header, Body: http.NoBody}, nil
}

// answering returns a receiver that responds with a status, and with 200 where a redirect leads.
func answering(status int) *slow {
	return &slow{answers: func(r *http.Request) int {
		return map[bool]int{true: http.StatusOK, false: status}[r.URL.Path == "/elsewhere"]
	}}
}

func always(d time.Duration) func(*http.Request) time.Duration {
	return func(*http.Request) time.Duration { return d }
}

func notification(n int, webhook string) notify.Delivery {
	id := strconv.Itoa(n)
	return notify.Delivery{ID: "WD-" + id, WebhookID: webhook, URL: "http://localhost/", Payload: []byte(id)}
}

// Deliveries that are sent together leave the same log and the same fired functions, however long each receiver takes.
// If retries were scheduled in the order of the responses, the journal would differ between runs.
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
					webhook := r.Header.Get(signature.WebhookID)
					if count[webhook]++; count[webhook]%3 != 0 {
						return http.StatusServiceUnavailable
					}
					return http.StatusOK
				},
			}
			virtual := clock.Virtual(time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC))
			d := New(Config{Transport: receiver, Clock: virtual, Running: make(chan struct{}, 1),
				Strike: func(notify.Delivery) Strike { return Strike{} }})
			defer d.Close()
			virtual.Settle(d.Settle)
			advance := func(by time.Duration) {
				more := shippingtest.Must(virtual.Advance(by))(t)
				fired = append(fired, more...)
			}
			for n := range 40 {
				d.Send(notification(n, "WA-"+strconv.Itoa(n%5)))
				if n%7 == 0 {
					advance(60 * time.Millisecond)
				}
			}
			advance(time.Minute)
			log = d.Deliveries()
		})
		return log, fired
	}
	log, fired := run(0)
	for speed := range uint64(20) {
		again, firedAgain := run(speed + 1)
		if diff := cmp.Diff(log, again) + cmp.Diff(fired, firedAgain); diff != "" {
			t.Fatalf("with receivers of speed %d (-first +this):\n%s", speed, diff)
		}
	}
}

// However many notifications are queued for a slow receiver, a notification to another webhook is sent at once. One
// queue for all webhooks, or one without a limit, would delay it, or open a connection for each.
func TestSend_ASlowReceiverDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		receiver := &slow{takes: func(r *http.Request) time.Duration {
			if r.Header.Get(signature.WebhookID) == "WA-slow" {
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
		receiver.mu.Lock()
		shippingtest.Diff(t, "attempts at once to one webhook", maxInFlight, receiver.most)
		receiver.mu.Unlock()
		d.Close()
		shippingtest.Diff(t, "attempts that run after Close", 0, d.trying)
	})
}

func newInbox() *Inbox {
	return NewInbox("secret", signature.Of(nil),
		func() time.Time { return time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC) })
}

func TestInbox_IsBounded(t *testing.T) {
	t.Parallel()
	in := newInbox()
	for range maxInbox + 3 {
		in.Receive(nil, []byte(`{}`), 200)
	}
	if kept := in.Notifications(0, ""); len(kept) != maxInbox || kept[0].Number != 4 {
		t.Errorf("%d notifications, the first is %d", len(kept), kept[0].Number)
	}
	in.Clear()
	half := []byte(`"` + strings.Repeat("a", 4<<20-2) + `"`)
	for number, want := range []int{1, 2, 2, 2} {
		if kept := in.Receive(nil, half, 200); kept.Number != number+1 || len(in.Notifications(0, "")) != want {
			t.Errorf("after number %d: %d notifications, want %d", kept.Number, len(in.Notifications(0, "")), want)
		}
	}
	in.Receive(nil, []byte(`1`), 200)
	if kept := in.Notifications(0, ""); len(kept) != 2 || kept[1].Number != 5 {
		t.Errorf("after another byte: %d notifications", len(kept))
	}
	in.Receive(nil, []byte(`"`+strings.Repeat("a", 9<<20)+`"`), 200)
	if kept := in.Notifications(0, ""); len(kept) != 1 || kept[0].Number != 6 {
		t.Errorf("a payload beyond the limit: %d notifications", len(kept))
	}
}

// A wait for the inbox ends with the notification that completes its count, not with one that another query matches,
// and with its context.
func TestInbox_FindsAndAwaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		in.Receive(http.Header{signature.DeliveryID: {"D-1"}}, []byte(`{"a":"needle"}`), 200)
		in.Receive(http.Header{signature.EventID: {"E-2"}, signature.WebhookID: {"WA-2"}}, []byte(`{"a":"D-1"}`), 200)
		for _, test := range []struct {
			after int
			text  string
			want  []int
		}{
			{0, "", []int{1, 2}}, {1, "", []int{2}}, {2, "", nil}, {0, "needle", []int{1}}, {0, "D-1", []int{1, 2}},
			{0, "E-2", []int{2}},
			{0, "WA-2", []int{2}}, {0, "D", []int{2}}, {1, "needle", nil},
		} {
			var got []int
			for _, n := range in.Notifications(test.after, test.text) {
				got = append(got, n.Number)
			}
			shippingtest.Diff(t, fmt.Sprint(test.text, " after ", test.after), test.want, got)
		}
		ended := make(chan []notify.Received)
		go func() {
			found, err := in.Await(t.Context(), 2, "late", 2)
			if err != nil {
				t.Error(err)
			}
			ended <- found
		}()
		for _, payload := range []string{`"late"`, `"other"`, `"late"`} {
			synctest.Wait()
			select {
			case <-ended:
				t.Errorf("the wait has ended before %s", payload)
			default:
			}
			in.Receive(nil, []byte(payload), 200)
		}
		if found := <-ended; len(found) != 2 || found[1].Number != 5 {
			t.Errorf("%+v", found)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		shippingtest.WantErrorWith(t, "two of three", shippingtest.Err(in.Await(ctx, 0, "late", 3)), context.DeadlineExceeded,
			"received 2 of 3")
		broken := errors.New("broken")
		r := httptest.NewRequest(http.MethodPost, notify.InboxURL, iotest.ErrReader(broken))
		shippingtest.WantError(t, "a body that cannot be read", shippingtest.Err(in.Transport(nil).RoundTrip(r)), broken)
		if r, err := in.Transport(nil).RoundTrip(httptest.NewRequest("POST", notify.InboxURL+"?status=a", nil)); err == nil {
			t.Errorf("an impossible status: %v", r)
		}
	})
}
