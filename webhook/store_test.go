package webhook_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

func TestMemoryStore_DoesAsAReceiverNeeds(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) webhook.Store { return webhook.NewMemoryStore(webhook.StoreOptions{}) })
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
			store := webhook.NewMemoryStore(webhook.StoreOptions{Limit: test.limit, Keep: test.keep})
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

// plainMap does what a store does, by looking at all entries.
type plainMap map[string]*plainEntry

type plainEntry struct {
	at       time.Time
	claim    string
	accepted bool
}

func (m plainMap) get(id string) *plainEntry {
	maps.DeleteFunc(m, func(_ string, e *plainEntry) bool { return time.Since(e.at) >= keep })
	return m[id]
}

func (m plainMap) add(id string, e *plainEntry) {
	if len(m) == limit {
		delete(m, slices.MinFunc(slices.Collect(maps.Keys(m)), func(a, b string) int {
			return m[a].at.Compare(m[b].at)
		}))
	}
	m[id] = e
}

func (m plainMap) claim(id, claim string) webhook.ClaimState {
	switch e := m.get(id); {
	case e == nil:
		m.add(id, &plainEntry{at: time.Now(), claim: claim})
		return webhook.Claimed
	case e.accepted:
		return webhook.Accepted
	case e.claim == claim:
		return webhook.Claimed
	}
	return webhook.Pending
}

func (m plainMap) accept(id, claim string) error {
	switch e := m.get(id); {
	case e == nil:
		m.add(id, &plainEntry{at: time.Now(), accepted: true})
	case !e.accepted && e.claim != claim:
		return webhook.ErrClaimLost
	default:
		e.accepted = true
	}
	return nil
}

func (m plainMap) release(id, claim string) {
	if e := m.get(id); e != nil && !e.accepted && e.claim == claim {
		delete(m, id)
	}
}

const (
	limit = 4 // of the stores in random tests
	keep  = time.Hour
)

var options = webhook.StoreOptions{Limit: limit, Keep: keep}

// call is one call of a store, after a pause.
type call struct {
	pause           time.Duration
	name, id, claim string
}

func drawCall(t *rapid.T) call {
	return call{
		pause: rapid.SampledFrom([]time.Duration{1, 1, 1, time.Minute, keep / 2, keep - time.Minute}).Draw(t, "pause"),
		name:  rapid.SampledFrom([]string{"claim", "claim", "accept", "release"}).Draw(t, "name"),
		id:    rapid.SampledFrom([]string{"a", "", "a\x00b", "\xff", `%2F"\`, "a\nb"}).Draw(t, "id"),
		claim: rapid.SampledFrom([]string{"one", "two", ""}).Draw(t, "claim"),
	}
}

// make makes the call, and returns how its result differs from that of the plain map.
func (c call) make(ctx context.Context, store webhook.Store, model plainMap) error {
	time.Sleep(c.pause)
	switch c.name {
	case "claim":
		got, err := store.Claim(ctx, c.id, c.claim)
		if want := model.claim(c.id, c.claim); got != want || err != nil {
			return fmt.Errorf("%+v: %d, %v, want %d", c, got, err, want)
		}
	case "accept":
		if got, want := store.Accept(ctx, c.id, c.claim), model.accept(c.id, c.claim); !errors.Is(got, want) {
			return fmt.Errorf("%+v: %v, want %v", c, got, want)
		}
	default:
		model.release(c.id, c.claim)
		return store.Release(ctx, c.id, c.claim)
	}
	return nil
}

// Released ids kept their place in the order in which a store forgets, so that it forgot accepted ones although it was
// not full. A store forgets only what has expired or does not fit; a store in a file has what it accepted after a restart,
// and nothing that was never accepted.
func TestStores_ForgetAsAPlainMapDoes(t *testing.T) {
	t.Parallel()
	memory := func(string) (webhook.Store, error) { return webhook.NewMemoryStore(options), nil }
	file := func(path string) (webhook.Store, error) { return webhook.OpenFileStore(path, options) }
	for name, open := range map[string]func(path string) (webhook.Store, error){"memory": memory, "file": file} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				calls := rapid.SliceOfN(rapid.Custom(drawCall), 1, 60).Draw(rt, "calls")
				var err error
				synctest.Test(t, func(t *testing.T) { err = agree(t, calls, open) })
				if err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

// agree makes the calls, and returns the first result that is not that of a plain map.
func agree(t *testing.T, calls []call, open func(path string) (webhook.Store, error)) error {
	path, model := filepath.Join(t.TempDir(), "store"), plainMap{}
	store, err := open(path)
	for n := 0; n < len(calls) && err == nil; n++ {
		err = calls[n].make(t.Context(), store, model)
	}
	file, ok := store.(*webhook.FileStore)
	if !ok || err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if store, err = open(path); err != nil {
		return err
	}
	defer store.(*webhook.FileStore).Close()
	for id, e := range model {
		want := webhook.Claimed // the handler of a claim may not have ended
		if e.accepted && time.Since(e.at) < keep {
			want = webhook.Accepted
		}
		// A file may still have what did not fit any more: the notification was accepted.
		wasAccepted := slices.ContainsFunc(calls, func(c call) bool { return c.name == "accept" && c.id == id })
		if got := state(t, store, id); got != want && (got != webhook.Accepted || !wasAccepted) {
			err = errors.Join(err, fmt.Errorf("%q is %d after a restart, want %d", id, got, want))
		}
	}
	return err
}
