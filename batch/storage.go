package batch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/shipping-go/shipping/internal/filelock"
)

// journalFile is a locked file.
type journalFile struct {
	*os.File
	path string // absolute
}

// openJournalFile opens and locks the file at path, and creates it if it does not exist.
func openJournalFile(path string) (*journalFile, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(absolute, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, openError(absolute, err)
	}
	if err := filelock.TryLock(file); err != nil {
		return nil, errors.Join(lockError(path, err), file.Close())
	}
	return &journalFile{file, absolute}, nil
}

func openError(path string, err error) error {
	folder := filepath.Dir(path)
	if _, missing := os.Stat(folder); errors.Is(missing, os.ErrNotExist) {
		return fmt.Errorf("shipping: the batch journal cannot be created: make the folder %s first: %w", folder, err)
	}
	return fmt.Errorf("shipping: the batch journal cannot be opened: %w", err)
}

func lockError(path string, err error) error {
	if errors.Is(err, filelock.ErrInUse) {
		return fmt.Errorf("%w: %s: it is open in another process, or in this one; close it there, or pass the same *File to every Run", ErrInUse, path)
	}
	return fmt.Errorf("shipping: the batch journal %s cannot be locked: %w", path, err)
}

func (f *journalFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Close releases the lock and closes the file.
func (f *journalFile) Close() error { return errors.Join(filelock.Unlock(f.File), f.File.Close()) }

func (f *journalFile) InPlace() error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(f.path)
	if err == nil && os.SameFile(opened, named) {
		return nil
	}
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrMoved, f.path)
	}
	return fmt.Errorf("shipping: the batch journal %s cannot be found: %w", f.path, err)
}

// SyncDirectory does nothing if the system or the file system cannot flush a directory.
func (f *journalFile) SyncDirectory() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	directory, err := os.Open(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer directory.Close()
	if err := directory.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
