package webhook

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipping-go/shipping/internal/logfile"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// fullDisk is a file to which nothing can be written.
type fullDisk struct{ logfile.Storage }

var errFull = errors.New("no space left on device")

func (fullDisk) WriteAt([]byte, int64) (int, error) { return 0, errFull }

// After a full disk, a receiver responded 503 to each notification until it was started again, also to those that it
// had accepted.
func TestFileStore_ContinuesAfterAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	open := func() *FileStore { return shippingtest.Must(OpenFileStore(path, StoreOptions{}))(t) }
	s := open()
	claim := func(id string, want ClaimState, wantErr error) {
		t.Helper()
		if got, err := s.Claim(t.Context(), id, "one"); got != want || !errors.Is(err, wantErr) {
			t.Errorf("the claim of %s: %d, %v; want %d, %v", id, got, err, want, wantErr)
		}
	}
	claim("before", Claimed, nil)
	shippingtest.NoError(t, s.Accept(t.Context(), "before", "one"))
	claim("during", Claimed, nil)

	// The disk is full: neither the file nor the one that replaces it can be written.
	shippingtest.NoError(t, s.log.Close())
	storage := shippingtest.Must(logfile.OpenStorage(path, storeFormat()))(t)
	s.log = shippingtest.Must(logfile.Open(path, fullDisk{storage}, storeFormat(), func([]byte) error { return nil }))(t)
	shippingtest.NoError(t, os.Mkdir(path+".new", 0o700))
	shippingtest.WantError(t, "accepted on a full disk", s.Accept(t.Context(), "during", "one"), errFull)
	for range 2 {
		if _, err := s.Claim(t.Context(), "refused", "one"); err == nil {
			t.Error("claimed on a full disk")
		}
	}

	shippingtest.NoError(t, os.Remove(path+".new"))
	for range 2 { // the second time after a restart
		claim("before", Accepted, nil)
		claim("during", Accepted, nil)
		claim("after", Claimed, nil)
		shippingtest.NoError(t, s.Close())
		s = open()
	}
	shippingtest.NoError(t, s.Close())
}
