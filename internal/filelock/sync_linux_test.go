package filelock_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A directory that cannot be flushed is not an error; one that is missing is.
func TestSyncDirectory(t *testing.T) {
	t.Parallel()
	if err := filelock.SyncDirectory("/proc"); err != nil { // fsync reports EINVAL
		t.Error(err)
	}
	shippingtest.WantError(t, "a missing directory", filelock.SyncDirectory(filepath.Join(t.TempDir(), "none")),
		fs.ErrNotExist)
}
