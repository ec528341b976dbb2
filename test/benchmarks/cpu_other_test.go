//go:build !unix

package benchmarks

import "time"

var started = time.Now()

// processorTime is elapsed time, because the system has no other clock that package syscall reads everywhere.
func processorTime() time.Duration { return time.Since(started) }
