//go:build unix

// Package processor measures the processor time of this process.
package processor

import (
	"syscall"
	"time"
)

// Time returns how much processor time this process has used, in the kernel and outside.
func Time() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for other arguments only
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
