package admin

import (
	"fmt"
	"hash/fnv"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// worldState is a summary of a world: its counts, and a checksum for each kind of data that a page can show.
type worldState struct {
	World         string `json:"world"`
	Entries       uint64 `json:"journal_entries"` // since the world was opened, or its initial contents were restored
	LedgerEntries int    `json:"ledger_entries"`
	Requests      int    `json:"regulatory_requests"`
	// Unauthenticated counts the requests of the server whose key opens no world.
	Unauthenticated uint64     `json:"unauthenticated_entries"`
	Pending         int        `json:"pending"` // timers on the clock
	Clock           string     `json:"clock" enum:"real virtual"`
	Now             time.Time  `json:"now"`
	Marks           worldMarks `json:"marks"`
}

// worldMarks has a checksum for each route: it changes when the data that GET returns there changes, also if the data was the
// same at an earlier time.
type worldMarks struct {
	Assumptions uint32 `json:"assumptions"`
	Ledger      uint32 `json:"ledger"`
	Requests    uint32 `json:"regulatory_requests"`
	Deliveries  uint32 `json:"deliveries"`
	Inbox       uint32 `json:"inbox"`
	Webhooks    uint32 `json:"webhooks"`
	Faults      uint32 `json:"faults"`
	Worlds      uint32 `json:"worlds"`
}

// watchWorld serves GET /_mock/live, which the console polls.
func (s *Admin) watchWorld(c *control, _, _ none) (string, worldState, error) {
	w := c.world
	p := worldState{
		World: w.Name(), Entries: w.Log.Last(), Unauthenticated: s.Worlds.Unauthenticated.Log.Last(),
		Marks:   worldMarks{Faults: checksum(w.Faults.Changes()), Worlds: checksumWorlds(s.Worlds.Worlds())},
		Pending: w.Waiting(), Clock: clockKind(w), Now: w.Clock.Now(),
	}
	deliveries, inbox := w.Dispatcher.Changes(), w.Inbox.Received()
	w.Lock()
	defer w.Unlock()
	p.LedgerEntries, p.Requests = w.Account.Ledger.Len(), w.Regulatory.Len()
	p.Marks.Assumptions = checksum(w.Replaced, *w.Assume())
	p.Marks.Deliveries = checksum(w.Replaced, deliveries)
	p.Marks.Inbox = checksum(w.Replaced, inbox)
	p.Marks.Ledger = checksum(w.Replaced, p.LedgerEntries)
	p.Marks.Requests = checksum(w.Replaced, w.Regulatory.Stored())
	hooks := []any{w.Replaced}
	for _, h := range w.Account.Webhooks.All {
		hooks = append(hooks, h.WebhookID, h.Revision)
	}
	p.Marks.Webhooks = checksum(hooks...)
	return "The state of the world", p, nil
}

// checksum returns a hash of its arguments.
func checksum(parts ...any) uint32 {
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, parts...) // a hash does not fail
	return hash.Sum32()
}

// checksumWorlds returns a number that changes when a world is opened or closed.
func checksumWorlds(opened []*world.World) uint32 {
	return checksum(len(opened), opened[len(opened)-1].Name())
}
