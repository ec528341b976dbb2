package admin

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func serverRoutes() []Route {
	return []Route{
		route("GET", "healthz", "getHealth", "Check whether the server is ready, and has room for another world; "+
			"anybody may, without a token and under any host name", "", (*Admin).getHealth),
		route("GET", "openapi.json", "getOpenAPI", "Get the OpenAPI 3.1 document of this server", "",
			(*Admin).getOpenAPI).with("application/json"),
		route("GET", "dialect", "getDialect", "List every open point of the specification, and what the world decides", "",
			(*Admin).getDialect),
		route("POST", "clock/advance", "advanceClock", "Advance a virtual clock", `{"duration":"1h30m"}`,
			(*Admin).advanceClock),
	}
}

// healthPath is the route that answers everybody.
const healthPath = wire.ControlPrefix + "healthz"

func (s *Admin) getHealth(*control, none, none) (string, none, error) {
	return "Ready", none{}, s.Worlds.Full()
}

func clockKind(w *world.World) string {
	if w.Clock.IsVirtual() {
		return "virtual"
	}
	return "real"
}

// getOpenAPI returns the document of a world, with the routes and the open operations of its server and the
// dialect of the world.
func (s *Admin) getOpenAPI(c *control, _, _ none) (string, none, error) {
	document, err := Document(s.Operations, c.world.Declared())
	if err != nil {
		return "", none{}, internal(err)
	}
	c.raw = &wire.Reply{Status: http.StatusOK, Body: document, Tag: fmt.Sprintf(`"%x"`, sha256.Sum256(document))}
	c.raw.Revalidate(c.Request)
	return "", none{}, nil
}

type advanceOrder struct {
	Duration string `json:"duration" doc:"How far the clock of the world moves." example:"90s"`
}

type advanced struct {
	Now   time.Time       `json:"now"`
	Fired []journal.Fired `json:"fired" doc:"The timers that fell due."`
}

func (s *Admin) advanceClock(c *control, _ none, order advanceOrder) (string, advanced, error) {
	d, err := time.ParseDuration(order.Duration)
	if err != nil || d < 0 {
		return "", advanced{}, fmt.Errorf(`duration is %q: write one of zero or more, such as {"duration":"1h30m"}`,
			order.Duration)
	}
	due, err := c.world.Advance(d)
	return "The clock was advanced", advanced{c.world.Now(), due}, err
}

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

// worldMarks has a checksum for each route: it changes when the data that GET returns there changes, even if the data
// was the same at an earlier time.
type worldMarks struct {
	Ledger     uint32 `json:"ledger"`
	Requests   uint32 `json:"regulatory_requests"`
	Deliveries uint32 `json:"deliveries"`
	Inbox      uint32 `json:"inbox"`
	Webhooks   uint32 `json:"webhooks"`
	Faults     uint32 `json:"faults"`
	Worlds     uint32 `json:"worlds"`
}

// watchWorld serves GET /_mock/live, which the console polls.
func (s *Admin) watchWorld(c *control, _, _ none) (string, worldState, error) {
	w, opened := c.world, s.Worlds.Worlds()
	p := worldState{
		World: w.Name(), Entries: w.Log.Last(), Unauthenticated: s.Worlds.Unauthenticated.Log.Last(),
		Marks: worldMarks{Faults: checksum(w.Faults.Changes(), w.Operations()),
			Worlds: checksum(len(opened), opened[len(opened)-1].Name())},
		Pending: w.Clock.Waiting(), Clock: clockKind(w), Now: w.Clock.Now(),
	}
	deliveries, inbox := w.Dispatcher.Changes(), w.Inbox.Received()
	w.Lock()
	defer w.Unlock()
	p.LedgerEntries, p.Requests = w.Account.Ledger.Len(), w.Regulatory.Len()
	p.Marks.Deliveries = checksum(w.Replaced, deliveries)
	p.Marks.Inbox = checksum(w.Replaced, inbox)
	p.Marks.Ledger = checksum(w.Replaced, p.LedgerEntries, w.Account.ExchangeRates)
	p.Marks.Requests = checksum(w.Replaced, w.Regulatory.Stored())
	hooks := []any{w.Replaced}
	for _, h := range w.Account.Webhooks.All {
		hooks = append(hooks, h.WebhookID, h.Revision)
	}
	p.Marks.Webhooks = checksum(hooks...)
	return "The state of the world", p, nil
}

func checksum(parts ...any) uint32 {
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, parts...) // a hash does not fail
	return hash.Sum32()
}
