package webhook

import (
	"container/list"
	"iter"
)

// bounded is a map of a limited number of entries, in the order in which they were set. Its zero value is empty.
type bounded[V any] struct {
	entries map[string]*list.Element // of order
	order   list.List                // of bound values, oldest first
}

type bound[V any] struct {
	key   string
	value V
}

func (b *bounded[V]) get(key string) (value V, found bool) {
	element, found := b.entries[key]
	if !found {
		return value, false
	}
	return element.Value.(bound[V]).value, true
}

// set makes an entry the newest. It removes the oldest ones while there are more than limit.
func (b *bounded[V]) set(key string, value V, limit int) {
	b.remove(key)
	if b.entries == nil {
		b.entries = map[string]*list.Element{}
	}
	b.entries[key] = b.order.PushBack(bound[V]{key, value})
	for len(b.entries) > limit {
		b.remove(b.order.Front().Value.(bound[V]).key)
	}
}

func (b *bounded[V]) remove(key string) {
	if element, found := b.entries[key]; found {
		b.order.Remove(element)
		delete(b.entries, key)
	}
}

// all returns the entries, oldest first. The loop may remove the entry that it got.
func (b *bounded[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for element := b.order.Front(); element != nil; {
			entry, next := element.Value.(bound[V]), element.Next()
			if !yield(entry.key, entry.value) {
				return
			}
			element = next
		}
	}
}
