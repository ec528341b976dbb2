package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// TryLock locks a file, or returns [ErrInUse].
func TryLock(file *os.File) error {
	const (
		exclusiveAtOnce = 1 | 2 // LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK
		lockViolation   = syscall.Errno(33)
	)
	// A byte far behind the end is locked, so that the file itself stays readable.
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	call := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	ok, _, err := call.Call(file.Fd(), exclusiveAtOnce, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return ErrInUse
	}
	return err
}

// Unlock does nothing: the lock ends with the file.
func Unlock(*os.File) error { return nil }
