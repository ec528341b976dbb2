package delivery

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/notify"
)

// The seed decides the order of a shuffle, also if it is 0.
func TestShuffle_FollowsTheSeed(t *testing.T) {
	t.Parallel()
	orders := map[string]uint64{}
	for seed := range uint64(20) {
		var gathered []*pending
		for n := range 10 {
			gathered = append(gathered, &pending{id: fmt.Sprint("WD-", n)})
		}
		sent := slices.Clone(gathered)
		arrange(notify.Shuffle, gathered, seed)
		if slices.Equal(sent, gathered) {
			t.Errorf("with the seed %d nothing is shuffled", seed)
		}
		var ids []string
		for _, f := range gathered {
			ids = append(ids, f.id)
		}
		orders[strings.Join(ids, " ")] = seed
	}
	if len(orders) != 20 {
		t.Errorf("20 seeds make %d orders", len(orders))
	}
}
