// Package cow contains maps and lists that are copied by sharing: the cost of a copy depends on the changes since the
// last copy, not on the size.
package cow

import (
	"maps"
)

// Map is a map whose copies share their common part. The zero value is an empty map. It is not
// safe for concurrent use, except that any number of goroutines may read and [Map.Clone] one that
// [Map.Freeze] was called on and nothing was set in since.
type Map[K comparable, V any] struct {
	own    map[K]V   // nobody else's; may be nil
	shared []map[K]V // newest first, never written again
}

// Get returns the value of a key, and whether there is one.
func (m *Map[K, V]) Get(key K) (V, bool) {
	if value, known := m.own[key]; known {
		return value, true
	}
	for _, layer := range m.shared {
		if value, known := layer[key]; known {
			return value, true
		}
	}
	var none V
	return none, false
}

// Set gives a key a value.
func (m *Map[K, V]) Set(key K, value V) {
	if m.own == nil {
		m.own = make(map[K]V)
	}
	m.own[key] = value
}

// Freeze makes everything that the map holds ready to be shared.
func (m *Map[K, V]) Freeze() {
	if len(m.own) == 0 {
		return
	}
	top, rest := m.own, m.shared
	m.own = nil
	// A layer is merged into one that is not much larger, so that their number stays small:
	// each is at least twice as large as the one above it.
	for len(rest) > 0 && len(rest[0]) < 2*len(top) {
		merged := make(map[K]V, len(rest[0])+len(top))
		maps.Copy(merged, rest[0])
		maps.Copy(merged, top)
		top, rest = merged, rest[1:]
	}
	m.shared = append([]map[K]V{top}, rest...)
}

// Clone returns a map that starts out equal and goes its own way.
func (m *Map[K, V]) Clone() Map[K, V] {
	m.Freeze()
	return Map[K, V]{shared: m.shared}
}
