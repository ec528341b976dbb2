package shippingtest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Violation is a test whose failure is the violation of a rule.
type Violation struct {
	*testing.T
	found atomic.Bool
}

// Violates reports whether a check of a rule fails.
func Violates(t *testing.T, check func(*Violation)) bool {
	t.Helper()
	v := &Violation{T: t}
	var checked sync.WaitGroup
	checked.Go(func() { check(v) })
	checked.Wait()
	return v.found.Load()
}

// Errorf logs a violation.
func (v *Violation) Errorf(format string, args ...any) {
	v.Logf(format, args...)
	v.found.Store(true)
}

// Fatalf logs a violation, and ends the check.
func (v *Violation) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}
