package batch

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// lockFile takes the lock that keeps a second run out, or returns [ErrInUse]. The system
// releases it when the process ends, however it ends.
func lockFile(file *os.File) error {
	const (
		exclusiveAtOnce = 1 | 2 // LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK
		lockViolation   = syscall.Errno(33)
	)
	// A byte far behind the end is locked, so that the file itself stays readable.
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	lock := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	ok, _, err := lock.Call(file.Fd(), exclusiveAtOnce, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return ErrInUse
	}
	return err
}

// unlockFile does nothing: the lock ends with the file.
func unlockFile(*os.File) error { return nil }
