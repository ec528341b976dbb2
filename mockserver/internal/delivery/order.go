package delivery

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"time"
)

// Order is in which order deliveries to one webhook go out.
type Order string

// The orders. In all but Together deliveries are gathered for [GatherFor], and one attempt to the webhook
// is made at a time.
const (
	Together Order = ""        // each at once, several at a time: no order is promised
	FIFO     Order = "fifo"    // as they were queued
	Reverse  Order = "reverse" // the latest first
	Shuffle  Order = "shuffle" // in an order that follows from the seed and the delivery ids
)

// Orders returns every order by name.
func Orders() []Order { return []Order{FIFO, Reverse, Shuffle} }

// GatherFor is how long deliveries are gathered, by the world's clock, from the first one on.
const GatherFor = 100 * time.Millisecond

// arrange puts deliveries that were gathered, as they were queued, into the order. What it does with some
// of them it does with all of them: so those that are left after a part was sent keep their order.
func (o Order) arrange(gathered []*flight, seed uint64) {
	switch o {
	case Reverse:
		slices.Reverse(gathered)
	case Shuffle:
		slices.SortFunc(gathered, func(a, b *flight) int { return cmp.Compare(a.chance(seed), b.chance(seed)) })
	}
}

// chance returns a number that follows from the seed and the id.
func (f *flight) chance(seed uint64) uint64 {
	hash := fnv.New64a()
	// A hash takes every write.
	_, _ = io.WriteString(hash, f.id)
	n := hash.Sum64() ^ seed
	// The finalizer of splitmix64: the last characters of an id reach every bit.
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
