package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Keep takes a snapshot and stores it under a name.
func (w *World) Keep(name string) error {
	if name == "" || len(name) > longestName {
		return fmt.Errorf(`a snapshot needs a name of at most %d bytes: send {"snapshot":"before"}`, longestName)
	}
	taken := w.Snapshot()
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, again := w.Snapshots[name]; !again && len(w.Snapshots) >= maxNamedSnapshots {
		return fmt.Errorf("the world has %d snapshots, which is the limit: remove one, or reuse its name", maxNamedSnapshots)
	}
	if err := w.RoomForBytes(taken.State.RequestBytes + taken.State.Webhooks.Bytes); err != nil {
		return err
	}
	if w.Snapshots == nil {
		w.Snapshots = map[string]*Snapshot{}
	}
	w.Snapshots[name] = taken
	w.SnapshotChanges++
	return nil
}

// Remove removes a snapshot that Keep has stored.
func (w *World) Remove(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Snapshots[name] == nil {
		return w.noSnapshot(name)
	}
	delete(w.Snapshots, name)
	w.SnapshotChanges++
	return nil
}

// noSnapshot returns the error for an unknown name of a snapshot. The caller holds the lock.
func (w *World) noSnapshot(name string) error {
	if len(w.Snapshots) == 0 {
		return fmt.Errorf(`the world has no snapshot %q, and no other: POST %sworlds/%s/snapshot takes one`, name, wire.ControlPrefix, w.name)
	}
	known := slices.Sorted(maps.Keys(w.Snapshots))
	return fmt.Errorf("the world has no snapshot %q: it has %s", name, strings.Join(known, ", "))
}

// Named returns a snapshot that Keep has stored.
func (w *World) Named(name string) (*Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.Snapshots[name]
	if taken == nil {
		return nil, w.noSnapshot(name)
	}
	return taken, nil
}
