package webhook_test

import (
	"crypto/rand"
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
			standing, err := store.Claim(t.Context(), id, rand.Text())
			if err != nil {
				t.Fatal(err)
			}
			return standing == webhook.Claimed
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
