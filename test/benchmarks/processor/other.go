//go:build !unix

package processor

import "time"

var started = time.Now()

// Time returns elapsed time: package syscall reads processor time in the same way on unix only.
func Time() time.Duration { return time.Since(started) }
