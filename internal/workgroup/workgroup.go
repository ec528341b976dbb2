// Package workgroup runs functions on separate goroutines and returns a panic to the goroutine that
// started them, where a caller can recover it.
package workgroup

import (
	"runtime"
	"sync"
)

// Group is a group of goroutines. Crashed must be set.
type Group struct {
	// Crashed is called, from the goroutine that panicked, once for each panic. It must let the others end.
	Crashed func()

	running sync.WaitGroup
	mu      sync.Mutex
	ended   bool // by a panic or by runtime.Goexit
	value   any  // of the first panic; nil for runtime.Goexit
}

// Go runs a function on its own goroutine.
func (g *Group) Go(work func()) {
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

func (g *Group) crash(value any) {
	g.mu.Lock()
	if !g.ended {
		g.ended, g.value = true, value
	}
	g.mu.Unlock()
	g.Crashed()
}

// Wait waits until all functions have ended.
func (g *Group) Wait() { g.running.Wait() }

// Repanic panics with the value of the first panic, or calls runtime.Goexit if a function did. It is
// called after Wait.
func (g *Group) Repanic() {
	switch {
	case g.value != nil:
		panic(g.value)
	case g.ended:
		runtime.Goexit()
	}
}
