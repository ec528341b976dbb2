package shipping

import (
	"os"
	"syscall"
	"unsafe"
)

// lockFile takes the lock that keeps a second run out. The system gives it up when the process ends,
// however it ends.
func lockFile(file *os.File) error {
	const exclusiveAtOnce = 1 | 2 // LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK
	// A byte far behind the end is locked, so that the file itself stays readable.
	at := syscall.Overlapped{OffsetHigh: 1 << 30}
	lock := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	if ok, _, _ := lock.Call(file.Fd(), exclusiveAtOnce, 0, 1, 0, uintptr(unsafe.Pointer(&at))); ok == 0 {
		return ErrBatchFileInUse
	}
	return nil
}
