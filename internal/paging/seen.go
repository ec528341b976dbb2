package paging

import "slices"

// remembered is how many rows can arrive between two reads without one being returned twice.
const remembered = 1 << 14

// seen remembers the identifiers of the records returned last, in bounded memory however long the walk.
type seen struct {
	ring  []uint64
	next  int // the index of the oldest, once the ring is full
	known map[uint64]struct{}
}

func (s *seen) has(id uint64) bool {
	_, ok := s.known[id]
	return ok
}

// add remembers a record that is returned now. It ignores 0, which stands for a record without an identifier.
func (s *seen) add(id uint64) {
	switch {
	case !s.enter(id):
	case len(s.ring) < remembered:
		s.ring = append(s.ring, id)
	default:
		delete(s.known, s.ring[s.next])
		s.ring[s.next] = id
		s.next = (s.next + 1) % remembered
	}
}

// addOlder remembers records that were returned before all others, as long as there is room.
func (s *seen) addOlder(ids []uint64) {
	var older []uint64
	for _, id := range ids {
		if len(s.ring)+len(older) < remembered && s.enter(id) {
			older = append(older, id)
		}
	}
	s.ring = slices.Concat(older, s.ring)
}

// enter reports whether an identifier is new.
func (s *seen) enter(id uint64) bool {
	if id == 0 || s.has(id) {
		return false
	}
	if s.known == nil {
		s.known = map[uint64]struct{}{}
	}
	s.known[id] = struct{}{}
	return true
}

// last returns up to n identifiers, newest last.
func (s *seen) last(n int) []uint64 {
	n = min(n, len(s.ring))
	out := make([]uint64, n)
	for i := range out {
		out[i] = s.ring[(s.next+len(s.ring)-n+i)%len(s.ring)]
	}
	return out
}

// Hash is stable across processes (FNV-1a).
func Hash(text string) uint64 { return extend(14695981039346656037, text) }

// ID stands for a record. Records are the same if both identifiers are, because some services repeat one of
// them. 0 stands for a record that has neither.
func ID(id, storage string) uint64 {
	if id == "" && storage == "" {
		return 0
	}
	return max(extend(extend(Hash(id), "/"), storage), 1)
}

func extend(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}
