//go:build !unix

package process

import "time"

var started = time.Now()

// OwnTime returns elapsed time, because the system has no other clock that package syscall reads everywhere.
func OwnTime() time.Duration { return time.Since(started) }
