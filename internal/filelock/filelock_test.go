package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Without the lock, two processes that open one file would both write to it. If the file alone were the lock, one that
// a killed process left would keep later processes out.
func TestAcquire_KeepsASecondOneOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path+".lock", nil, 0o600); err != nil { // it was left
		t.Fatal(err)
	}
	for range 2 {
		lock := shippingtest.Must(filelock.Acquire(path))(t)
		shippingtest.WantError(t, "a second lock", shippingtest.Err(filelock.Acquire(path)), filelock.ErrInUse)
		shippingtest.NoError(t, lock.Release())
	}
}

func TestAcquire_FailsWithoutAFolder(t *testing.T) {
	t.Parallel()
	if _, err := filelock.Acquire(filepath.Join(t.TempDir(), "missing", "state.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
