package shipping

import (
	"runtime"
	"sync"
)

// workerGroup runs functions on goroutines of their own, and brings a panic in one of them back to the
// goroutine that started them. There a caller can recover it; on a goroutine of this package it would end
// the process.
type workerGroup struct {
	// crashed is called, from the goroutine that panicked, once for each panic. It must let the others end.
	crashed func()

	running sync.WaitGroup
	mu      sync.Mutex
	ended   bool // by a panic or by runtime.Goexit
	value   any  // of the first panic; nil for runtime.Goexit
}

// Go runs a function on a goroutine of its own.
func (g *workerGroup) Go(work func()) {
	g.running.Go(func() {
		returned := false
		defer func() {
			if !returned {
				g.crash(recover())
			}
		}()
		work()
		returned = true
	})
}

func (g *workerGroup) crash(value any) {
	g.mu.Lock()
	if !g.ended {
		g.ended, g.value = true, value
	}
	g.mu.Unlock()
	g.crashed()
}

// Wait waits until all functions have ended.
func (g *workerGroup) Wait() { g.running.Wait() }

// Repanic panics with the value of the first panic, or calls runtime.Goexit if a function did. It is
// called after Wait.
func (g *workerGroup) Repanic() {
	switch {
	case g.value != nil:
		panic(g.value)
	case g.ended:
		runtime.Goexit()
	}
}
