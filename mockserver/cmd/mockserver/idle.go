package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Load has ended if almost nothing was allocated between two checks, and much since memory was last released.
const (
	checkInterval = time.Second
	almostNone    = 256 << 10 // bytes
	much          = 4 << 20
)

// freeWhenIdle releases memory to the operating system when load has ended. Otherwise a server keeps the memory of its
// peak number of connections. It returns when the context ends.
func freeWhenIdle(ctx context.Context, checks <-chan time.Time, allocated func() uint64, free func()) {
	before := allocated()
	freed := before
	for {
		select {
		case <-ctx.Done():
			return
		case <-checks:
		}
		now := allocated()
		if now-before < almostNone && now-freed > much {
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
	ticker, ended := time.NewTicker(checkInterval), make(chan struct{})
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
