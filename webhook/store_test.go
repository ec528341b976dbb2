package webhook_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

func TestMemoryStore_DoesAsAReceiverNeeds(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) webhook.Store { return webhook.NewMemoryStore(webhook.StoreOptions{}) })
}

// A store remembers up to its limit of ids, each for its time. Zero and negative settings are the defaults: 100,000
// ids, for 72 hours. Released ids kept their place in the order in which a store forgets, so that it forgot others
// although it was not full.
func TestMemoryStore_RemembersForItsTimeAndUpToItsLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit, wantLimit int
		keep, wantKeep   time.Duration
	}{
		{3, 3, time.Hour, time.Hour},
		{0, 100_000, 0, 72 * time.Hour},
		{-1, 100_000, -1, 72 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := webhook.NewMemoryStore(webhook.StoreOptions{Limit: test.limit, Keep: test.keep})
			claim := func(id string, want webhook.ClaimState) {
				t.Helper()
				if got, err := store.Claim(t.Context(), id, rand.Text()); got != want || err != nil {
					t.Fatalf("with a limit of %d for %s, %s is %d, %v, want %d", test.limit, test.keep, id, got, err, want)
				}
			}
			for range 3 {
				if got := state(t, store, rand.Text()); got != webhook.Claimed { // and released
					t.Fatal(got)
				}
			}
			for n := range test.wantLimit {
				claim(fmt.Sprint(n), webhook.Claimed)
			}
			<-time.After(test.wantKeep - 1)
			claim("0", webhook.Pending)
			claim("one more", webhook.Claimed)
			claim("1", webhook.Pending)
			claim("0", webhook.Claimed) // the oldest was forgotten
			<-time.After(1)
			claim("2", webhook.Claimed)
			claim("one more", webhook.Pending)
		})
	}
}
