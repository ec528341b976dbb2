package webhook_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/webhook"
	"github.com/shipping-go/shipping/webhook/storetest"
)

func openFileStore(t *testing.T, path string, limit int) *webhook.FileStore {
	t.Helper()
	store, err := webhook.OpenFileStore(path, webhook.StoreOptions{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
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
	state, err := store.Claim(t.Context(), id, "state")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Release(t.Context(), id, "state"); err != nil {
		t.Fatal(err)
	}
	return state
}

func TestFileStore_IsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) webhook.Store {
		return openFileStore(t, filepath.Join(t.TempDir(), "store"), 0)
	})
}

// An accepted id is accepted after a restart. One that was only claimed can be claimed again, because its handler may
// not have ended. Ids are any text.
func TestFileStore_RemembersAcrossARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	ids := []string{"WD-1", "", "a\x00b", "\xff", "\xfe", `"\`, "%2F", "a\nb", "ł", strings.Repeat("x", 10_000)}
	store := openFileStore(t, path, 0)
	for _, id := range ids {
		take(t, store, id)
	}
	if _, err := store.Claim(t.Context(), "claimed", "one"); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = openFileStore(t, path, 0)
	for _, id := range ids {
		if got := state(t, store, id); got != webhook.Accepted {
			t.Errorf("%.20q is %d after the restart", id, got)
		}
	}
	if got := state(t, store, "claimed"); got != webhook.Claimed {
		t.Errorf("a claim of the process that ended is %d", got)
	}
}

// A crash at any byte of a write leaves a file that opens with everything that was acknowledged before, whether the
// write was cut off or left zeros.
func TestFileStore_OpensAfterACrashInAnyWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	store := openFileStore(t, path, 0)
	take(t, store, "first")
	acknowledged, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	take(t, store, "second")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for end := len(acknowledged); end < len(whole); end++ {
		zeros := append(bytes.Clone(whole[:end]), make([]byte, len(whole)-end)...)
		holes := append(append(bytes.Clone(acknowledged), make([]byte, end-len(acknowledged)+1)...), whole[end+1:]...)
		for name, text := range map[string][]byte{"cut": whole[:end], "zeros at the end": zeros, "zeros at the beginning": holes} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			store := openFileStore(t, path, 0)
			if got := state(t, store, "first"); got != webhook.Accepted {
				t.Errorf("%s at %d: the first id is %d", name, end, got)
			}
			take(t, store, "second")
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			store = openFileStore(t, path, 0)
			if got := state(t, store, "second"); got != webhook.Accepted {
				t.Errorf("%s at %d: the second id is %d", name, end, got)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A file that another program wrote, or whose acknowledged lines are damaged, is refused and stays as it is.
func TestOpenFileStore_RefusesAFileThatItCannotUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	store := openFileStore(t, path, 0)
	take(t, store, "first")
	take(t, store, "second")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"another file":     {"orders\n", "not a store of notifications"},
		"a batch journal":  {`{"format":"shipping-batch-journal","version":1}` + "\n", "not a store of notifications"},
		"only zeros":       {strings.Repeat("\x00", 300), "line 1: damaged"},
		"a later version":  {strings.Replace(string(whole), `"version":1`, `"version":2`, 1), "version 2"},
		"a changed id":     {strings.Replace(string(whole), "first", "worst", 1), "line 2: damaged"},
		"a line is gone":   {strings.Replace(string(whole), `{"crc"`, "\n"+`{"crc"`, 1), "line 2: damaged"},
		"the last changed": {strings.Replace(string(whole), "second", "beyond", 1), "line 3: damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := webhook.OpenFileStore(path, webhook.StoreOptions{}); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if left, err := os.ReadFile(path); err != nil || string(left) != test.text {
				t.Errorf("the file is now %q, %v", left, err)
			}
		})
	}
	if _, err := webhook.OpenFileStore(filepath.Join(t.TempDir(), "missing", "store"), webhook.StoreOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

func TestOpenFileStore_IsForOneProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	store := openFileStore(t, path, 0)
	if _, err := webhook.OpenFileStore(path, webhook.StoreOptions{}); !errors.Is(err, webhook.ErrStoreInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("a second one: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, err := store.Claim(t.Context(), "a", "one"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	openFileStore(t, path, 0)
}

// A file that is removed, replaced or truncated while it is open would forget accepted ids. It is noticed before
// another notification is handled.
func TestFileStore_NoticesThatItsFileIsGone(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(path string) error{
		"removed":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 0) },
		"cut":       func(path string) error { return os.Truncate(path, 60) },
		"replaced": func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+"2", text, 0o600), os.Rename(path+"2", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "store")
			store := openFileStore(t, path, 0)
			take(t, store, "first")
			if _, err := store.Claim(t.Context(), "under way", "one"); err != nil {
				t.Fatal(err)
			}
			if err := harm(path); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Claim(t.Context(), "second", "one"); !errors.Is(err, webhook.ErrStoreMoved) || !strings.Contains(err.Error(), path) {
				t.Errorf("the next claim: %v", err)
			}
			if err := store.Accept(t.Context(), "under way", "one"); !errors.Is(err, webhook.ErrStoreMoved) {
				t.Errorf("the end of a claim: %v", err)
			}
		})
	}
}

// The file does not grow with the number of notifications, and has those that are remembered.
func TestFileStore_IsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	store := openFileStore(t, path, 10)
	largest := 0
	for n := range 200 {
		take(t, store, fmt.Sprint("WD-", n))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, bytes.Count(text, []byte("\n")))
	}
	if largest > 21 {
		t.Errorf("%d lines", largest)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	store = openFileStore(t, path, 10)
	for n, want := range map[int]webhook.ClaimState{0: webhook.Claimed, 189: webhook.Claimed, 199: webhook.Accepted} {
		if got := state(t, store, fmt.Sprint("WD-", n)); got != want {
			t.Errorf("WD-%d is %d, want %d", n, got, want)
		}
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) != 1 {
		t.Errorf("beside the file there are %q, %v", left, err)
	}
}
