package main

import (
	"context"
	"slices"
	"testing"
	"time"
)

// The server returns memory to the operating system once after load, not under load, and not while it is almost idle.
func TestFreeWhenIdle_OnceAfterLoad(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	ctx, cancel := context.WithCancel(t.Context())
	looks, figures := make(chan time.Time), make(chan uint64)
	var freed []uint64
	latest, ended := uint64(0), make(chan struct{})
	go func() {
		defer close(ended)
		freeWhenIdle(ctx, looks, func() uint64 { latest = <-figures; return latest }, func() { freed = append(freed, latest) })
	}()
	figures <- 0
	for _, figure := range []uint64{0, 1000, 50 * mega, 90 * mega, 90*mega + 1, 90*mega + 2, 91 * mega, 91 * mega, 120 * mega, 120 * mega} {
		looks <- time.Time{}
		figures <- figure
	}
	cancel()
	<-ended
	if want := []uint64{90*mega + 1, 120 * mega}; !slices.Equal(freed, want) {
		t.Errorf("memory was given back at %d, want %d", freed, want)
	}
}
