package cow

import (
	"iter"
	"slices"
)

// List is a list whose copies share their common part: appending to a copy costs the same however
// long the list is. The zero value is an empty list. It is not safe for concurrent use, with the exception
// of [Map].
type List[T any] struct {
	shared [][]T // oldest first, never written again; each at least twice as long as the next
	before int   // elements in shared
	own    []T   // nobody else's
}

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.before + len(l.own) }

// At returns the i-th element, counted from 0.
func (l *List[T]) At(i int) T {
	if i >= l.before {
		return l.own[i-l.before]
	}
	for _, layer := range l.shared {
		if i < len(layer) {
			return layer[i]
		}
		i -= len(layer)
	}
	panic("cow: index out of range")
}

// All returns the elements in order, each with its index.
func (l *List[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		i := 0
		for _, layer := range append(slices.Clip(l.shared), l.own) {
			for _, element := range layer {
				if !yield(i, element) {
					return
				}
				i++
			}
		}
	}
}

// Slice returns the elements. The slice is the caller's own.
func (l *List[T]) Slice() []T {
	return slices.Concat(append(slices.Clip(l.shared), l.own)...)
}

// Append adds an element at the end.
func (l *List[T]) Append(element T) { l.own = append(l.own, element) }

// Freeze makes everything that the list holds ready to be shared.
func (l *List[T]) Freeze() {
	if len(l.own) == 0 {
		return
	}
	top, rest := slices.Clip(l.own), l.shared
	// As in a Map, a layer is merged into one that is not much larger.
	for len(rest) > 0 && len(rest[len(rest)-1]) < 2*len(top) {
		last := len(rest) - 1
		top, rest = slices.Concat(rest[last], top), rest[:last]
	}
	l.before += len(l.own)
	l.own, l.shared = nil, append(slices.Clip(rest), top)
}

// Clone returns a list that starts out equal and goes its own way.
func (l *List[T]) Clone() List[T] {
	l.Freeze()
	return List[T]{shared: l.shared, before: l.before}
}
