package mockserver

import (
	"cmp"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/list"
)

// Open returns the world of a name, such as "lowfunds_ci42", or of its key, "sk_test_lowfunds_ci42". The
// first use opens it: a scenario (see [Scenarios]), an underscore, and a name of at most 64 letters,
// digits, dots, hyphens and underscores. "home" is the server's own world.
//
// Over HTTP there is nothing to open: the first request with such a key does.
//
// Assumption: that keys open worlds. To switch, see [Assumptions.OneWorld].
func (s *Server) Open(name string) (*World, error) {
	w, err := s.worlds.Open(name)
	if err != nil {
		return nil, err
	}
	return s.facade(w), nil
}

// NewWorld opens a world that no other test has, named for the test, and closes it when the test ends. The
// scenario is made of any number of words; without one it is "default".
func (s *Server) NewWorld(tb testing.TB, scenario ...string) *World {
	tb.Helper()
	if s.err != nil {
		tb.Fatal(s.err)
	}
	w, err := s.worlds.OpenForTest(tb.Name(), cmp.Or(strings.Join(scenario, "-"), "default"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.worlds.Close(w) })
	return s.facade(w)
}

// Worlds returns the open worlds in the order of their opening; the first is the home world.
func (s *Server) Worlds() []*World {
	return list.Map(s.worlds.Worlds(), s.facade)
}

// Fork opens another world that begins as this one is now and goes its own way, with the same time and the
// same identifiers to come. Its key has the scenario of this world and the given name.
func (w *World) Fork(name string) (*World, error) {
	fork, err := w.server.worlds.Fork(w.core, name, w.core.Snapshot())
	if err != nil {
		return nil, err
	}
	return w.server.facade(fork), nil
}

// Close closes the world: its data is dropped, and its key opens a new one. The home world closes with its
// server.
func (w *World) Close() {
	w.server.worlds.Close(w.core)
}

// WithState restores the worlds of a file when the server starts, if the file exists, and saves them to it on
// [Server.Shutdown]. A file that cannot be used is left as it is, and [Server.Err] returns why. Until the server is
// closed no other server can use the file: it is locked with a file beside it, whose name ends in ".lock".
func WithState(path string) Option { return func(c *config) { c.state = path } }

// SaveState writes what every world holds to a file: atomically, so that the file that was there stays until
// the new one is complete on disk. It fails for a file that another server has with [WithState].
func (s *Server) SaveState(path string) error { return s.worlds.Save(path) }

// LoadState makes the worlds of a file those of the server: the home world holds what the file's does, and
// the others are opened, or restored where they are open. A file that cannot be used changes nothing.
func (s *Server) LoadState(path string) error { return s.worlds.Load(path) }
