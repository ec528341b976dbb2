//go:build unix && !aix && (!solaris || illumos)

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// TryLock locks a file, or returns [ErrInUse].
func TryLock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return err
}

// Unlock releases the lock at once, even while a process that is being started has a copy of the file.
func Unlock(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
