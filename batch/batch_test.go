package batch_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping/internal/batchtest"
	"github.com/shipping-go/shipping/internal/randomtest"
)

// A job that runs every night, is killed at any record and begun again buys each shipment once, within the budget of
// each night, and reports exactly the open items. If a record were written after its purchase, a kill between them
// would lose it, and the next run would purchase again.
func TestRun_ThirtyNightsOnOneFile(t *testing.T) {
	t.Parallel()
	seed := randomtest.New(t).Seed()
	path := filepath.Join(t.TempDir(), "journal")
	synctest.Test(t, func(t *testing.T) {
		batchtest.Nights(t, seed, 1, func() batchtest.Machine {
			journal := openJournal(t, path)
			return batchtest.Machine{Journal: journal, Abandon: func([]string) {
				if err := journal.Close(); err != nil {
					t.Error(err)
				}
			}}
		})
	})
}
