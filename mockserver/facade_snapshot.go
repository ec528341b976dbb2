package mockserver

import (
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Snapshot is what a world held at one moment. It never changes, costs next to nothing as long as the
// world does not change either, and may be restored any number of times, into any world.
//
// In a snapshot time stands still: a document that needed three more seconds needs three seconds after it
// is restored, however long that took, and so does a notification that was to be retried in three seconds.
type Snapshot struct{ kept *world.Snapshot }

// At returns when the snapshot was taken, by the world's clock.
func (s *Snapshot) At() time.Time { return s.kept.At() }

// Save writes the snapshot to a file, as [Server.SaveState] does.
func (s *Snapshot) Save(path string) error { return s.kept.Save(path) }

// LoadSnapshot reads the snapshot of a file that [Snapshot.Save] wrote; of one that [Server.SaveState]
// wrote, the home world's.
func LoadSnapshot(path string) (*Snapshot, error) {
	kept, err := world.LoadSnapshot(path)
	if err != nil {
		return nil, err
	}
	return &Snapshot{kept}, nil
}
