package delivery

import (
	"cmp"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// GatherFor is how long deliveries are gathered, by the world's clock, from the first one on.
const GatherFor = 100 * time.Millisecond

// arrange sorts gathered deliveries into an order. The relative order of two deliveries does not depend on the others,
// so that the rest of a batch of which a part was sent keeps its order.
func arrange(o notify.Order, gathered []*pending, seed uint64) {
	switch o {
	case notify.Reverse:
		slices.Reverse(gathered)
	case notify.Shuffle:
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
