package webhook_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
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

func openFileStore(t *testing.T, path string, limit int) *webhook.FileStore {
	t.Helper()
	store := shippingtest.Must(webhook.OpenFileStore(path, webhook.StoreOptions{Limit: limit}))(t)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// take claims and accepts an id.
func take(t *testing.T, store webhook.Store, id string) {
	t.Helper()
	if state, err := store.Claim(t.Context(), id, "one"); err != nil || state != webhook.Claimed {
		t.Fatalf("claim of %q: %d, %v", id, state, err)
	}
	if err := store.Accept(t.Context(), id, "one"); err != nil {
		t.Fatalf("accept of %q: %v", id, err)
	}
}

// state returns the state of an id, and leaves an id without a claim as it was.
func state(t *testing.T, store webhook.Store, id string) webhook.ClaimState {
	t.Helper()
	state := shippingtest.Must(store.Claim(t.Context(), id, "state"))(t)
	shippingtest.NoError(t, store.Release(t.Context(), id, "state"))
	return state
}

func TestFileStore_IsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) webhook.Store {
		return openFileStore(t, filepath.Join(t.TempDir(), "store"), 0)
	})
}

// A file that another program wrote, whose lines are damaged, or that is in use, is refused and stays as it is. Package
// logfile tests what else can happen to it.
func TestOpenFileStore_RefusesAFileThatItCannotUse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"format":"shipping-batch-journal","version":1}` + "\n": "not a store of notifications",
		strings.Repeat("\x00", 300):                              "line 1: damaged: restore the file from a copy",
	} {
		path := filepath.Join(t.TempDir(), "store")
		shippingtest.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		shippingtest.Contains(t, "error", shippingtest.Err(webhook.OpenFileStore(path, webhook.StoreOptions{})), want, path)
		shippingtest.Diff(t, "the file", text, string(shippingtest.Must(os.ReadFile(path))(t)))
	}
	empty := filepath.Join(t.TempDir(), "empty") // as touch makes it
	shippingtest.NoError(t, os.WriteFile(empty, nil, 0o600))
	for range 2 {
		shippingtest.NoError(t, shippingtest.Must(webhook.OpenFileStore(empty, webhook.StoreOptions{}))(t).Close())
	}
	for path, want := range map[string]string{filepath.Join(t.TempDir(), "missing", "store"): "; make its folder first",
		"": "the path is empty", t.TempDir(): "is a folder: pass the path of a file in it"} {
		none, err := webhook.OpenFileStore(path, webhook.StoreOptions{})
		shippingtest.Contains(t, fmt.Sprintf("the path %q", path), err, want)
		// A program that defers Close before it checks the error panicked.
		_, claim := none.Claim(t.Context(), "a", "one")
		for _, err := range []error{claim, none.Accept(t.Context(), "a", "one"), none.Release(t.Context(), "a", "one"),
			none.Close()} {
			shippingtest.Contains(t, "a nil store", err, "check the error of OpenFileStore")
		}
	}
	path := filepath.Join(t.TempDir(), "store")
	store := openFileStore(t, path, 0)
	shippingtest.WantErrorWith(t, "a second one", shippingtest.Err(webhook.OpenFileStore(path, webhook.StoreOptions{})),
		webhook.ErrStoreInUse, path)
	for range 2 {
		shippingtest.NoError(t, store.Close())
	}
	shippingtest.WantError(t, "after Close", shippingtest.Err(store.Claim(t.Context(), "a", "one")), os.ErrClosed)
	openFileStore(t, path, 0)
}

// A file that is removed or truncated while it is open would forget accepted ids. It is noticed before another
// notification is handled. Package logfile tests what else can happen to it.
func TestFileStore_NoticesThatItsFileIsGone(t *testing.T) {
	t.Parallel()
	shippingtest.EachRow(t, map[string]func(path string) error{
		"removed":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 0) },
	}, func(t *testing.T, harm func(path string) error) {
		path := filepath.Join(t.TempDir(), "store")
		store := openFileStore(t, path, 0)
		take(t, store, "first")
		shippingtest.Must(store.Claim(t.Context(), "under way", "one"))(t)
		shippingtest.NoError(t, harm(path))
		shippingtest.WantErrorWith(t, "the next claim", shippingtest.Err(store.Claim(t.Context(), "second", "one")),
			webhook.ErrStoreMoved, path)
		shippingtest.WantError(t, "the end of a claim", store.Accept(t.Context(), "under way", "one"),
			webhook.ErrStoreMoved)
	})
}

// The file does not grow with the number of notifications, and has those that are remembered. One that was only claimed
// can be claimed again after a restart, because its handler may not have ended.
func TestFileStore_IsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	store := openFileStore(t, path, 10)
	largest := 0
	for n := range 200 {
		if take(t, store, fmt.Sprint("WD-", n)); n == 194 {
			shippingtest.Must(store.Claim(t.Context(), "WD-claimed", "one"))(t)
		}
		text := shippingtest.Must(os.ReadFile(path))(t)
		largest = max(largest, bytes.Count(text, []byte("\n")))
	}
	if largest > 21 {
		t.Errorf("%d lines", largest)
	}
	for range 2 { // it is rewritten when it is opened
		shippingtest.NoError(t, store.Close())
		store = openFileStore(t, path, 10)
	}
	for id, want := range map[string]webhook.ClaimState{
		"WD-0": webhook.Claimed, "WD-189": webhook.Claimed, "WD-claimed": webhook.Claimed,
		"WD-191": webhook.Accepted, "WD-199": webhook.Accepted,
	} {
		shippingtest.Diff(t, id, want, state(t, store, id))
	}
	shippingtest.Diff(t, "files beside it", 1, len(shippingtest.Must(filepath.Glob(path+".*"))(t)))
}
