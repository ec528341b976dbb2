// Package filelock keeps two processes from using one file at the same time. [TryLock] locks an open file, which stays
// at its path. [Acquire] locks a separate file beside a path, so that the file at the path can be replaced. The system
// releases a lock when its process ends in any way. On systems for which the standard library has no lock, TryLock does
// nothing. [SyncDirectory] flushes the names of such files.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// ErrInUse is returned if somebody else holds the lock.
var ErrInUse = errors.New("it is in use")

// suffix is the end of a lock file's name.
const suffix = ".lock"

// Lock is a lock that is held.
type Lock struct{ file *os.File }

// Acquire locks a path, or returns [ErrInUse].
func Acquire(path string) (*Lock, error) {
	name := path + suffix
	for {
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := TryLock(file); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %s", err, name), file.Close())
		}
		if isAt(file, name) {
			return &Lock{file}, nil
		}
		// Somebody has released the lock and removed its file in between.
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
}

// Release removes the locked file, if the system allows it, and releases the lock.
func (l *Lock) Release() error {
	_ = os.Remove(l.file.Name()) // Windows keeps a file that is open
	return errors.Join(Unlock(l.file), l.file.Close())
}

// isAt reports whether the open file is still at this path.
func isAt(file *os.File, name string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(opened, there)
}

// SyncDirectory flushes the names of a directory's files to the disk. It does nothing if the system or the file system
// cannot.
func SyncDirectory(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	defer directory.Close()
	if err := directory.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
