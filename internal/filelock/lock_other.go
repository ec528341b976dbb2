//go:build !windows && (!unix || aix || (solaris && !illumos))

package filelock

import "os"

// TryLock does nothing: the standard library has no lock for these systems.
func TryLock(*os.File) error { return nil }

// Unlock does nothing, because TryLock locks nothing.
func Unlock(*os.File) error { return nil }
