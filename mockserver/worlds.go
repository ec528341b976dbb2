package mockserver

import (
	"cmp"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Scenario is one term of the scenario in a world's key, and its effect. Terms are joined with hyphens:
// "lowfunds-seed7".
type Scenario struct {
	// Word is the term as the key has it. The N at the end of a term stands for a number.
	Word string `json:"word"`
	// Summary describes such a world.
	Summary string `json:"summary"`
	// Max is the largest number that the term accepts; 0 for a term without a number.
	Max int `json:"max,omitempty"`
}

// Scenarios returns every term that a key may contain. The caller may change the slice.
func Scenarios() []Scenario {
	return list.Map(world.Scenarios(), func(s world.ScenarioWord) Scenario { return Scenario{Word: s.Word, Summary: s.Summary, Max: s.Max} })
}

// Open returns the world of a name, such as "lowfunds_ci42", or of its key, "sk_test_lowfunds_ci42", and opens
// it on first use. A name consists of a scenario (see [Scenarios]), an underscore, and at most 64 letters,
// digits, dots, hyphens and underscores. "home" is the home world.
//
// Clients in other languages do not need Open: the first request with such a key opens the world.
//
// Assumption: keys open worlds. To switch, see [Assumptions.OneWorld].
func (s *Server) Open(name string) (*World, error) {
	w, err := s.worlds.Open(name)
	if err != nil {
		return nil, err
	}
	return s.facade(w), nil
}

// NewWorld opens a new world, named after the test, and closes it when the test ends. The scenario consists of
// any number of terms; the default is "default".
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

// Worlds returns the open worlds in the order in which they were opened, the home world first.
func (s *Server) Worlds() []*World {
	return list.Map(s.worlds.Worlds(), s.facade)
}

// Fork opens a new world with the contents, the time and the next identifiers of this one. From then on both
// change independently. Its key has the scenario of this world and the given name.
func (w *World) Fork(name string) (*World, error) {
	fork, err := w.server.worlds.Fork(w.core, name)
	if err != nil {
		return nil, err
	}
	return w.server.facade(fork), nil
}

// Close closes the world and drops its data. The next use of its key opens a new world. The home world closes
// with its server.
func (w *World) Close() {
	w.server.worlds.Close(w.core)
}
