package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipping-go/shipping/internal/filelock"
)

func TestAcquire_KeepsASecondOneOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	first, err := filelock.Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Acquire(path); !errors.Is(err, filelock.ErrInUse) {
		t.Errorf("a second lock: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
	second, err := filelock.Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}

func TestAcquire_TakesALockFileThatWasLeft(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestAcquire_FailsWithoutAFolder(t *testing.T) {
	t.Parallel()
	if _, err := filelock.Acquire(filepath.Join(t.TempDir(), "missing", "state.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A file is locked by one that opened it, can be read by others, and is free once it is unlocked or closed.
func TestTryLock_KeepsASecondOneOutOfTheFileItself(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	open := func() *os.File {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	first, second, third := open(), open(), open()
	if err := filelock.TryLock(first); err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryLock(second); !errors.Is(err, filelock.ErrInUse) {
		t.Errorf("a second lock: %v", err)
	}
	if _, err := first.WriteString("record"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "record" {
		t.Errorf("read %q, %v", text, err)
	}
	if err := filelock.Unlock(first); err != nil {
		t.Error(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := filelock.TryLock(second); err != nil {
		t.Errorf("after it is free: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := filelock.TryLock(third); err != nil {
		t.Errorf("after it is closed: %v", err)
	}
}
