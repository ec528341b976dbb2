package delivery

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// receiver remembers the payloads in the order in which they came.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, string(body))
		if strings.Contains(string(body), "no") {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func TestOrder_GathersAndSendsInThatOrder(t *testing.T) {
	t.Parallel()
	sent := func(order notify.Order, seed uint64) []string {
		r := newReceiver(t)
		virtual := clock.Virtual(time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC))
		d := New(Config{Secret: "sk_test_1", Clock: virtual, Seed: seed})
		t.Cleanup(d.Close)
		for i := range 5 {
			d.Send(notify.Delivery{ID: "WD-" + strconv.Itoa(i), WebhookID: "WA-1", URL: r.URL, Order: order, Payload: []byte(strconv.Itoa(i))})
		}
		fired, err := virtual.Advance(GatherFor)
		if err != nil || len(fired) != 1 {
			t.Fatalf("fired %v, %v", fired, err)
		}
		for i := range 5 {
			if ended, err := d.Wait(t.Context(), "WD-"+strconv.Itoa(i)); err != nil || ended.State != notify.Delivered {
				t.Errorf("delivery %d: %+v, %v", i, ended, err)
			}
		}
		return r.got
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, sent(notify.FIFO, 1)); diff != "" {
		t.Errorf("fifo (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"4", "3", "2", "1", "0"}, sent(notify.Reverse, 1)); diff != "" {
		t.Errorf("reverse (-want +got):\n%s", diff)
	}
	first := sent(notify.Shuffle, 7)
	if diff := cmp.Diff(first, sent(notify.Shuffle, 7)); diff != "" {
		t.Errorf("the same seed shuffles otherwise (-first +second):\n%s", diff)
	}
	if cmp.Equal(first, []string{"0", "1", "2", "3", "4"}) {
		t.Error("nothing was shuffled")
	}
}

// The seed decides the order of a shuffle, also if it is 0.
func TestShuffle_FollowsTheSeed(t *testing.T) {
	t.Parallel()
	orders := map[string]uint64{}
	for seed := range uint64(20) {
		var gathered []*pending
		for n := range 10 {
			gathered = append(gathered, &pending{id: fmt.Sprint("WD-", n)})
		}
		sent := slices.Clone(gathered)
		arrange(notify.Shuffle, gathered, seed)
		if slices.Equal(sent, gathered) {
			t.Errorf("with the seed %d nothing is shuffled", seed)
		}
		var ids []string
		for _, f := range gathered {
			ids = append(ids, f.id)
		}
		orders[strings.Join(ids, " ")] = seed
	}
	if len(orders) != 20 {
		t.Errorf("20 seeds make %d orders", len(orders))
	}
}

func TestNewTransport_ClosesIdleConnections(t *testing.T) {
	t.Parallel()
	if got := NewTransport(false); got.IdleConnTimeout != 30*time.Second || got.MaxIdleConnsPerHost != 16 || got.Proxy != nil {
		t.Errorf("%+v", got)
	}
}
