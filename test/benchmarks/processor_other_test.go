//go:build !unix

package benchmarks

import "time"

var started = time.Now()

// processorTime returns elapsed time: package syscall reads processor time in the same way on unix only.
func processorTime() time.Duration { return time.Since(started) }
