package delivery

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
)

// Order is the order in which deliveries to one webhook are sent.
type Order string

// Orders. In all except Together, deliveries are gathered for [GatherFor], and one attempt to the webhook
// is made at a time.
const (
	Together Order = ""        // concurrently: no order is promised
	FIFO     Order = "fifo"    // oldest first
	Reverse  Order = "reverse" // newest first
	Shuffle  Order = "shuffle" // random, derived from the seed and the delivery ids
)

// Any is the name of [Together] on the control surface.
const Any = "any"

// Orders returns the orders with a name.
func Orders() []Order { return []Order{FIFO, Reverse, Shuffle} }

// GatherFor is how long deliveries are gathered, by the world's clock, from the first one on.
const GatherFor = 100 * time.Millisecond

// arrange sorts gathered deliveries into the order. The relative order of two deliveries does not depend on the others,
// so that the rest of a batch of which a part was sent keeps its order.
func (o Order) arrange(gathered []*pending, seed uint64) {
	switch o {
	case Reverse:
		slices.Reverse(gathered)
	case Shuffle:
		slices.SortFunc(gathered, func(a, b *pending) int { return cmp.Compare(a.chance(seed), b.chance(seed)) })
	}
}

// chance returns a number derived from the seed and the id.
func (p *pending) chance(seed uint64) uint64 {
	hash := fnv.New64a()
	// A hash does not fail.
	_, _ = io.WriteString(hash, p.id)
	return splitmix.Mix(hash.Sum64() ^ seed) // so that the last characters of an id reach every bit
}
