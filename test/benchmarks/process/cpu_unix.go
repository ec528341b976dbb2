//go:build unix

package process

import (
	"syscall"
	"time"
)

// OwnTime returns how long this process has used processors, for the garbage collector too.
func OwnTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for other arguments only
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
