package mockserver

import (
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// World is one account of a server: its key, its data, its time, its faults and its journal. Worlds share
// nothing that can change, so tests that run at the same time each take their own: see [Server.NewWorld]
// and [Server.Open]. Every method of a world is one of [Server] too, and there means the home world. It is
// safe for concurrent use.
//
// URL is its base address and SecretKey opens it: requests that carry that key are this world's.
type World struct {
	*access
	core   *world.World
	server *Server
}

// Fired is something that fell due while the clock was advanced.
type Fired struct {
	Due   time.Time `json:"due"`
	Label string    `json:"label"`
}

// access is what a program needs to use a world. It is behind a pointer of its own, because fmt prints the
// fields of a pointer that it meets with a verb that fits no pointer, but none of the pointers in those.
type access struct {
	// URL is the base address, such as "http://127.0.0.1:41234". Without a listener it is an address
	// that no network resolves, for use with [World.Transport].
	URL string
	// SecretKey opens the world.
	SecretKey string
}

// facade returns what the users of the server hold of a world.
func (s *Server) facade(w *world.World) *World { return w.Facade.(*World) }

// newFacade makes it, once for each world.
func (s *Server) newFacade(w *world.World) any {
	return &World{access: &access{URL: w.URL, SecretKey: w.SecretKey}, core: w, server: s}
}

// Unauthenticated returns the latest requests that were refused for their key, or that carried a key which
// opens no world, oldest first. They are in the journal of no world and use up the fault rules of none. GET
// /_mock/calls?world=unauthenticated lists them too.
func (s *Server) Unauthenticated() []journal.Call { return s.worlds.Unauthenticated.Journal() }
