package webhook

import (
	"strings"
	"sync"
	"time"
)

// Tracker detects notifications that arrive after newer ones. It remembers the latest state of each shipment.
//
// The zero Tracker is ready, remembers 100,000 shipments, and is safe for concurrent use.
type Tracker struct {
	// Limit is how many shipments are remembered; the one that was updated longest ago is forgotten first.
	Limit int

	mu   sync.Mutex
	seen bounded[progress]
}

type progress struct {
	updatedAt time.Time
	rank      int
}

// Late reports whether the notification is older than one seen before, and otherwise remembers it. The one with the
// later updated_at is newer. If updated_at is missing in one or equal in both, the one with the further state is
// newer; delivered and cancelled are the last states.
//
// Assumption: updated_at is the time of the change.
func (t *Tracker) Late(shipment *Shipment) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.seen.get(shipment.ShipmentID)
	rank, ranked := shipment.Status.rank()
	if known {
		switch order := shipment.UpdatedAt.Compare(before.updatedAt); {
		case !shipment.UpdatedAt.IsZero() && !before.updatedAt.IsZero() && order != 0:
			if order < 0 {
				return true
			}
		case ranked && rank < before.rank: // delivered and cancelled have the highest rank
			return true
		}
	}
	if !ranked {
		rank = before.rank
	}
	updatedAt := shipment.UpdatedAt
	if updatedAt.IsZero() {
		updatedAt = before.updatedAt
	}
	limit := t.Limit
	if limit <= 0 {
		limit = 100_000
	}
	t.seen.set(strings.Clone(shipment.ShipmentID), progress{updatedAt, rank}, limit)
	return false
}
