package webhook_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

func TestMemoryStore_DoesAsAReceiverNeeds(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) webhook.Store { return webhook.NewMemoryStore(0, 0) })
}

// A store remembers up to its limit of ids, each for its time. Zero and negative settings are the defaults: 100,000 ids, for
// 72 hours.
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
			store := webhook.NewMemoryStore(test.limit, test.keep)
			standing := func(id string) webhook.ClaimState {
				standing, err := store.Claim(t.Context(), id, rand.Text())
				if err != nil {
					t.Fatal(err)
				}
				return standing
			}
			for n := range test.wantLimit {
				if got := standing(fmt.Sprint(n)); got != webhook.Claimed {
					t.Fatalf("%d is %d", n, got)
				}
			}
			<-time.After(test.wantKeep - 1)
			if got := standing("0"); got != webhook.Pending {
				t.Errorf("the first of %d is %d after nearly %s", test.wantLimit, got, test.wantKeep)
			}
			if standing("one more"); standing("1") != webhook.Pending || standing("0") != webhook.Claimed {
				t.Errorf("of %d and one more the first is not the one that is forgotten", test.wantLimit)
			}
			<-time.After(1)
			if got := standing("2"); got != webhook.Claimed {
				t.Errorf("the third of %d is %d after %s", test.wantLimit, got, test.wantKeep)
			}
		})
	}
}

// Ids that are claimed and released again and again take no more memory than twice the limit: the oldest are forgotten.
func TestMemoryStore_ReleasedIDsAreBoundedToo(t *testing.T) {
	t.Parallel()
	store := webhook.NewMemoryStore(3, time.Hour)
	claim := func(id, claim string, want webhook.ClaimState) {
		t.Helper()
		if got, err := store.Claim(t.Context(), id, claim); got != want || err != nil {
			t.Errorf("%s is %d, %v, want %d", id, got, err, want)
		}
	}
	claim("a", "1", webhook.Claimed)
	for range 5 {
		claim("x", "2", webhook.Claimed)
		if err := store.Release(t.Context(), "x", "2"); err != nil {
			t.Fatal(err)
		}
	}
	claim("a", "3", webhook.Pending) // six ids came
	claim("x", "2", webhook.Claimed)
	claim("a", "3", webhook.Claimed)
}
