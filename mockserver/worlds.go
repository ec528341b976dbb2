package mockserver

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Open returns the world of a name, such as "lowfunds_ci42", or of its key, "sk_test_lowfunds_ci42", and opens
// it on first use. A name consists of a scenario (see [WithScenario]), an underscore, and at most 64 letters,
// digits, dots, hyphens and underscores. "home" is the home world.
//
// Clients in other languages do not need Open: the first request with such a key opens the world.
//
// Assumption: keys open worlds. To switch, set [WithOneWorld].
func (s *Server) Open(name string) (*World, error) {
	w, err := s.worlds.Open(name)
	if err != nil {
		return nil, err
	}
	return s.public(w), nil
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
	return s.public(w)
}

// Worlds returns the open worlds in the order in which they were opened, the home world first.
func (s *Server) Worlds() []*World {
	var worlds []*World
	for _, w := range s.worlds.Worlds() {
		worlds = append(worlds, s.public(w))
	}
	return worlds
}

// CloseIdle closes the worlds, besides the home world, that had no request for some time of the machine's clock, and
// in which no delivery is waiting. It returns their names. A request under way keeps its world open; calls in Go do
// not. The command serve calls CloseIdle with -close-idle, and so does DELETE /_mock/worlds?idle=1h.
func (s *Server) CloseIdle(idle time.Duration) []string {
	var names []string
	for _, w := range s.worlds.CloseIdle(idle) {
		names = append(names, w.Name())
	}
	return names
}

// Close closes the world and drops its data. The next use of its key opens a new world. The home world closes
// with its server.
func (w *World) Close() {
	w.server.worlds.Close(w.core)
}

// Errors of worlds. They are wrapped with an explanation.
var (
	// ErrNoWorld is returned for a name that no world can have.
	ErrNoWorld = world.ErrNoWorld
	// ErrWorldExists is returned if a new world has the name of one that is open.
	ErrWorldExists = world.ErrWorldExists
	// ErrTooManyWorlds is returned if the server has 10,000 worlds, or no room for the records of another one.
	ErrTooManyWorlds = world.ErrTooManyWorlds
	// ErrTooManyRows is returned if the worlds of the server have 400,000 records.
	ErrTooManyRows = world.ErrTooManyRows
	// ErrRealClock is returned by [World.Advance] in a world that follows the real time.
	ErrRealClock = world.ErrRealClock
)
