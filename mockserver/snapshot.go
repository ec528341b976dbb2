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

// SaveState writes what every world holds to a file: atomically, so that the file that was there stays until
// the new one is complete on disk. It fails for a file that another server has with [WithState].
func (s *Server) SaveState(path string) error { return s.worlds.Save(path) }

// LoadState makes the worlds of a file those of the server: the home world holds what the file's does, and
// the others are opened, or restored where they are open. A file that cannot be used changes nothing.
func (s *Server) LoadState(path string) error { return s.worlds.Load(path) }

// Snapshot returns what the world holds now: its data, its money, its requests with what is still to
// happen to them, and its delivery log. Faults and journal are not in it.
func (w *World) Snapshot() *Snapshot { return &Snapshot{w.core.Snapshot()} }

// Restore makes the world hold what a snapshot does. Its key, faults, journal and settings stay as they
// are, and so does its time: a clock never goes back. Where the snapshot is of a later time than the
// world's, the clock moves forward to it.
//
// Notifications that were still to be sent are sent by the world that queued them. In another world, such
// as a fork, they have failed: the world that queued them sends them, signed with its own key.
func (w *World) Restore(s *Snapshot) { w.core.Restore(s.kept) }

// Reset makes the world hold what it began with, clears its faults and empties its journal and its lint.
// The time stays what it is.
func (w *World) Reset() { w.core.Reset() }
