// Package servers starts the real servers that the tests of this module run against, each in its own folder with a
// socket, and stops them at the end.
package servers

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// Main runs the tests of a package with the servers of start, and exits. stop stops them.
func Main(m *testing.M, start func() (stop func() error, err error)) {
	stop, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Another starts another server, for a test that damages it.
func Another[S interface{ Close() error }](t *testing.T, start func() (S, error)) S {
	t.Helper()
	server, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// missing returns an error that states how to install a server.
func missing(server string) error {
	return errors.New("these tests need " + server + "; stores/run.sh installs it, from Debian's packages, and runs them")
}

// Server is a server that can crash.
type Server interface {
	Stop() error
	Start() error
}

// Outlasts tests that a store handles each notification once while two machines get all of them and their
// connections end, and that every acknowledged write survives a crash of the server.
func Outlasts(t *testing.T, store webhook.Store, server Server, interrupt func() error) {
	const notifications = 40
	var handled [notifications]atomic.Int32
	var machines sync.WaitGroup
	var oneAtATime sync.Mutex // so that interruptions do not end each other's connections
	for n := range 2 * notifications {
		machines.Go(func() {
			id, claim := fmt.Sprint("WD-", n/2), fmt.Sprint("machine ", n%2)
			if n%8 == 0 {
				oneAtATime.Lock()
				err := interrupt()
				oneAtATime.Unlock()
				if err != nil {
					t.Error(err)
				}
			}
			state, err := store.Claim(t.Context(), id, claim)
			for ; err != nil || state == webhook.Pending; state, err = store.Claim(t.Context(), id, claim) {
				time.Sleep(10 * time.Millisecond)
			}
			if state == webhook.Accepted {
				return
			}
			handled[n/2].Add(1)
			for err := store.Accept(t.Context(), id, claim); err != nil; err = store.Accept(t.Context(), id, claim) {
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	machines.Wait()
	for n := range handled {
		if times := handled[n].Load(); times != 1 {
			t.Errorf("WD-%d was handled %d times", n, times)
		}
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if state, err := store.Claim(t.Context(), "WD-new", "one"); err == nil {
		t.Errorf("without its server the store returned %d", state)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]webhook.ClaimState{"WD-0": webhook.Accepted, "WD-new": webhook.Claimed} {
		if state, err := store.Claim(t.Context(), id, "two"); state != want || err != nil {
			t.Errorf("after a crash of the server, %s is %d, %v, want %d", id, state, err, want)
		}
	}
}
