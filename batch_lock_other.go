//go:build !windows && (!unix || solaris || illumos || aix)

package shipping

import "os"

// lockFile does nothing here: the standard library offers no lock on these systems. Take care not to
// run the same batch twice at once.
func lockFile(*os.File) error { return nil }
