package mockserver

import "github.com/shipping-go/shipping/mockserver/internal/world"

// Snapshot is the contents of a world at one moment. It is immutable, shares memory with the world, and may be
// restored any number of times, into any world.
//
// Time does not pass in a snapshot: a document that needed three more seconds needs three seconds after it
// is restored, however long that took, and so does a notification that was to be retried in three seconds.
type Snapshot struct{ kept *world.Snapshot }

// Snapshot returns the current contents of the world: its data, its ledger, its requests with their pending
// changes, its delivery log, and the requests that arrive late (see fault.ArriveLate). Faults and journal are not part of it.
func (w *World) Snapshot() *Snapshot { return &Snapshot{w.core.Snapshot()} }

// Restore replaces the contents of the world by a snapshot. The world keeps its key, faults, journal and
// settings. Its clock never moves back: if the snapshot is of a later time, the clock moves forward to it.
//
// A world sends only the notifications that it queued itself. If the snapshot is of another world, such as a
// fork, its queued notifications are marked as failed: the other world sends them, signed with its key.
func (w *World) Restore(s *Snapshot) { w.core.Restore(s.kept) }

// Reset restores the initial contents of the world, undoes changes of its assumptions, clears its faults and empties
// its journal, its findings and its inbox. The clock keeps its time.
func (w *World) Reset() { w.core.Reset() }
