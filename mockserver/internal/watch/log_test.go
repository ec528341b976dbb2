package watch

import (
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// All logs count the calls that they record; one that has ended, or was cleared, leaves its room.
func TestLog_CountsWhatItRecords(t *testing.T) {
	t.Parallel()
	var all atomic.Int64
	log := NewLog(4, 10, &all, 100)
	see := func(times int) {
		for range times {
			log.See(&wire.Exchange{Request: httptest.NewRequest("GET", "/", nil)})
		}
	}
	for _, step := range []struct {
		do   func()
		want int64
	}{
		{func() { see(3) }, 3}, {func() { see(3) }, 4}, {log.Clear, 0}, {func() { see(2) }, 2}, {log.End, 0},
		{func() { see(1) }, 0},
		{log.Clear, 0},
	} {
		step.do()
		shippingtest.Diff(t, "calls that are counted", step.want, all.Load())
	}
}

func TestRemember_IsBounded(t *testing.T) {
	t.Parallel()
	m := map[int]bool{}
	for i := range maxWatched + 1 {
		remember(m, i, true)
	}
	shippingtest.Diff(t, "what is remembered", map[int]bool{maxWatched: true}, m)
}
