//go:build unix

package benchmarks

import (
	"syscall"
	"time"
)

// processorTime returns how much processor time this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for other arguments only
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
