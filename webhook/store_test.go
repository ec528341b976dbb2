package webhook_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

func TestMemoryStore_RemembersForItsTimeAndUpToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := webhook.NewMemoryStore(3, time.Hour)
		claim := func(id string) bool {
			standing, err := store.Claim(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return standing == webhook.Claimed
		}
		if !claim("a") || claim("a") {
			t.Error("a is claimed once")
		}
		if err := store.Release(t.Context(), "a"); err != nil || !claim("a") {
			t.Error("a was released")
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

func TestMemoryStore_TellsWhatIsAcceptedFromWhatIsNotYet(t *testing.T) {
	t.Parallel()
	store := webhook.NewMemoryStore(0, 0)
	stands := func(want webhook.Standing) {
		t.Helper()
		if standing, err := store.Claim(t.Context(), "a"); standing != want || err != nil {
			t.Errorf("a stands at %d (%v), want %d", standing, err, want)
		}
	}
	stands(webhook.Claimed)
	stands(webhook.Pending)
	if err := store.Accept(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	stands(webhook.Accepted)
	if err := store.Release(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	stands(webhook.Accepted)
}
