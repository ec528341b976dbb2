//go:build unix && !aix && (!solaris || illumos)

package batch

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the lock that keeps a second run out, or returns [ErrInUse]. The system
// releases it when the process ends, however it ends.
func lockFile(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

// unlockFile releases the lock at once, also while a process that is being started has a copy of the file.
func unlockFile(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
