package world

import (
	"sync"
	"time"
)

// use counts the requests to a world, on the machine's clock.
type use struct {
	mu    sync.Mutex
	now   int       // requests under way
	ended time.Time // the end of the latest one
}

// begin counts a request until its result is called.
func (u *use) begin() (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.now--
		u.ended = time.Now()
	}
}

// isOver reports whether no request is under way and the latest one ended some time ago.
func (u *use) isOver(ago time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.now == 0 && time.Since(u.ended) >= ago
}

// Use counts a request, and keeps the world open until end is called, unless somebody closes it by name.
func (w *World) Use() (end func()) { return w.use.begin() }
