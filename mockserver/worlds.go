package mockserver

import (
	"cmp"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Scenario is a word that a world's key may hold, and what it makes of the world. Words are put together
// with hyphens: "lowfunds-seed7".
type Scenario struct {
	// Word is how the key says it; a word that takes a number ends in N, for which the number stands.
	Word string `json:"word"`
	// Summary says what is special about such a world.
	Summary string `json:"summary"`
	// Max is the largest number that the word takes; 0 for a word that takes none.
	Max int `json:"max,omitempty"`
}

// Scenarios returns every word that a key may hold. The slice is the caller's own.
func Scenarios() []Scenario {
	return list.Map(world.Scenarios(), func(s world.ScenarioWord) Scenario { return Scenario{Word: s.Word, Summary: s.Summary, Max: s.Max} })
}

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
