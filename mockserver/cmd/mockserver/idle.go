package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Load has ended when next to nothing was allocated between two looks, and much since memory was given back last.
const (
	betweenLooks = time.Second
	nextToNone   = 256 << 10 // bytes
	much         = 4 << 20
)

// freeWhenIdle gives memory back to the operating system when load has ended: a server that answered a thousand
// connections would keep their memory otherwise. It returns when the context ends.
func freeWhenIdle(ctx context.Context, looks <-chan time.Time, allocated func() uint64, free func()) {
	before := allocated()
	freed := before
	for {
		select {
		case <-ctx.Done():
			return
		case <-looks:
		}
		now := allocated()
		if now-before < nextToNone && now-freed > much {
			free()
			freed = now
		}
		before = now
	}
}

// allocated returns how many bytes the process has allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// startFreeing starts freeWhenIdle until the context ends.
func startFreeing(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ticker, ended := time.NewTicker(betweenLooks), make(chan struct{})
	go func() {
		defer close(ended)
		freeWhenIdle(ctx, ticker.C, allocated, debug.FreeOSMemory)
	}()
	return func() {
		cancel()
		ticker.Stop()
		<-ended
	}
}
