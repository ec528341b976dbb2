package filelock_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/shipping-go/shipping/internal/filelock"
)

// A directory that cannot be flushed is not an error; one that is missing is.
func TestSyncDirectory(t *testing.T) {
	t.Parallel()
	if err := filelock.SyncDirectory("/proc"); err != nil { // fsync reports EINVAL
		t.Error(err)
	}
	if err := filelock.SyncDirectory(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}
