package webhook_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

func TestMemoryStore_RemembersForItsTimeAndUpToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := webhook.NewMemoryStore(3, time.Hour)
		claim := func(id string) bool {
			state, err := store.Claim(t.Context(), id, rand.Text())
			if err != nil {
				t.Fatal(err)
			}
			return state == webhook.Claimed
		}
		if !claim("a") || claim("a") {
			t.Error("a is claimed once")
		}
		<-time.After(time.Hour)
		if !claim("a") {
			t.Error("a's time is over")
		}
		for n := range 3 {
			claim(fmt.Sprint(n))
		}
		if claim("2") || claim("1") || !claim("a") {
			t.Error("the oldest goes first when there are too many")
		}
	})
}

func TestMemoryStore_DoesAsAReceiverNeeds(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) webhook.Store { return webhook.NewMemoryStore(0, 0) })
}

// Zero and negative settings are the defaults: 100,000 ids, for 72 hours.
func TestMemoryStore_Defaults(t *testing.T) {
	t.Parallel()
	for _, none := range []int{0, -1} {
		synctest.Test(t, func(t *testing.T) {
			store := webhook.NewMemoryStore(none, time.Duration(none))
			standing := func(id string) webhook.ClaimState {
				standing, err := store.Claim(t.Context(), id, rand.Text())
				if err != nil {
					t.Fatal(err)
				}
				return standing
			}
			for n := range 100_000 {
				if got := standing(fmt.Sprint(n)); got != webhook.Claimed {
					t.Fatalf("%d is %d", n, got)
				}
			}
			<-time.After(72*time.Hour - 1)
			if got := standing("0"); got != webhook.Pending {
				t.Errorf("the first of 100,000 is %d after nearly 72 hours", got)
			}
			if standing("one more"); standing("1") != webhook.Pending || standing("0") != webhook.Claimed {
				t.Error("of 100,001 the first is not the one that is forgotten")
			}
			<-time.After(1)
			if got := standing("1"); got != webhook.Claimed {
				t.Errorf("the second of 100,000 is %d after 72 hours", got)
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

// An accepted id is released by nobody, and a claim without a text is not the one of an accepted id.
func TestMemoryStore_AcceptedIDsStay(t *testing.T) {
	t.Parallel()
	store := webhook.NewMemoryStore(0, 0)
	if err := store.Accept(t.Context(), "a", "1"); err != nil { // the claim had expired
		t.Fatal(err)
	}
	for _, claim := range []string{"", "1", "2"} {
		if err := errors.Join(store.Release(t.Context(), "a", claim), store.Accept(t.Context(), "a", claim)); err != nil {
			t.Errorf("%q: %v", claim, err)
		}
		if standing, err := store.Claim(t.Context(), "a", claim); standing != webhook.Accepted || err != nil {
			t.Errorf("%q: %d, %v", claim, standing, err)
		}
	}
}
