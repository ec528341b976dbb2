//go:build unix && !solaris && !illumos && !aix

package shipping

import (
	"os"
	"syscall"
)

// lockFile takes the lock that keeps a second run out. The system gives it up when the process ends,
// however it ends.
func lockFile(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return ErrBatchFileInUse
	}
	return nil
}
