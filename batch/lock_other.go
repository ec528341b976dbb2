//go:build !windows && (!unix || aix || (solaris && !illumos))

package batch

import "os"

// lockFile does nothing: the standard library offers no lock on these systems. Do not run the same
// batch twice at once there.
func lockFile(*os.File) error { return nil }

// unlockFile does nothing: there is no lock.
func unlockFile(*os.File) error { return nil }
