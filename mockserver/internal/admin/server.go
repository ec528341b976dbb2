package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

func serverRoutes() []Route {
	return []Route{
		route("GET", "healthz", "getHealth", "Check whether the server is ready, and get the time of the world and its pending timers", "", (*Admin).getHealth),
		route("GET", "openapi.json", "getOpenAPI", "Get the OpenAPI 3.1 document of this server", "", (*Admin).getOpenAPI).with("application/json"),
		route("GET", "assumptions", "listAssumptions", "List every open point of the specification, its switch and its value in the world", "", (*Admin).listAssumptions),
		route("PATCH", "assumptions", "changeAssumptions",
			"Change assumptions of the world for what happens from now on; null undoes a change, and so does restoring the world",
			`{"assumptions":{"PerPageCap":2}}`, (*Admin).changeAssumptions),
		route("POST", "clock/advance", "advanceClock", "Advance a virtual clock", `{"duration":"1h30m"}`, (*Admin).advanceClock),
	}
}

// health is the state of a server, and the clock of a world.
type health struct {
	Now     jsontext.Timestamp `json:"now"`
	Clock   string             `json:"clock" enum:"real virtual"`
	Total   int                `json:"total" doc:"Number of pending timers."`
	Pending []fired            `json:"pending" doc:"The first of them, at most 100."`
}

// fired is a timer, such as that of a document that is generated.
type fired struct {
	Due   jsontext.Timestamp `json:"due"`
	Label string             `json:"label"`
}

// maxPending is the maximum number of pending timers in a response.
const maxPending = 100

func (s *Admin) getHealth(c *control, _, _ none) (string, health, error) {
	total := c.world.Waiting()
	return "Ready; " + spelling.Counted(total, "pending timer", "pending timers"), health{
		jsontext.Timestamp(c.world.Now()), clockKind(c.world), total, viewFired(c.world.Clock.Pending(maxPending)),
	}, nil
}

func clockKind(w *world.World) string {
	if w.Clock.IsVirtual() {
		return "virtual"
	}
	return "real"
}

// getOpenAPI returns the document of a world, with the routes and the open operations of its server and the
// assumptions of the world.
func (s *Admin) getOpenAPI(c *control, _, _ none) (string, none, error) {
	document, tag, err := s.OpenAPI(c.world)
	if err != nil {
		return "", none{}, internal(err)
	}
	c.raw = &wire.Reply{Status: http.StatusOK, Body: document, Header: http.Header{"Etag": {tag}}}
	if wire.MatchesTag(c.Header.Values("If-None-Match"), tag) {
		c.raw.Status, c.raw.Body = http.StatusNotModified, nil
	}
	return "", none{}, nil
}

// Assumption is an open point of the specification, and the choice of a world.
type Assumption struct {
	Field   string `json:"field"`
	Open    string `json:"open" doc:"The open point."`
	Default string `json:"default"`
	Basis   string `json:"basis"`
	Changed bool   `json:"changed"`
	Kind    string `json:"kind" enum:"boolean number duration names function"`
	Scope   string `json:"scope" enum:"server opening world" doc:"When it can be set: when the server starts, also when a world opens, or also later."`
	Value   any    `json:"value" doc:"A boolean, a number, a duration such as 5s, a list of names, or null for a function."`
}

func (s *Admin) listAssumptions(c *control, _, _ none) (string, []Assumption, error) {
	return "The assumptions of this world for open points of the specification; PATCH assumptions changes them", s.Assumptions(c.world), nil
}

// assumptionChanges are changes of assumptions.
type assumptionChanges struct {
	Preset      string                     `json:"preset,omitempty" enum:"default contrary" doc:"contrary makes every other choice, default none."`
	Assumptions map[string]json.RawMessage `json:"assumptions,omitempty" doc:"Values by field; GET /_mock/assumptions lists them."`
}

func (s *Admin) changeAssumptions(c *control, _ none, order assumptionChanges) (string, []Assumption, error) {
	changes := world.Changes{Preset: order.Preset, Values: order.Assumptions}
	if changes.IsZero() {
		return "", nil, errors.New(`nothing is changed: send {"assumptions":{"PerPageCap":2}}, with null to undo a change, or {"preset":"contrary"}`)
	}
	if err := c.world.ChangeAssumptions(changes); err != nil {
		return "", nil, err
	}
	return "The assumptions are changed", s.Assumptions(c.world), nil
}

// advanceOrder is how far to advance a clock.
type advanceOrder struct {
	Duration string `json:"duration" example:"90s"`
}

// advanced is a clock after it was advanced.
type advanced struct {
	Now   jsontext.Timestamp `json:"now"`
	Fired []fired            `json:"fired" doc:"The timers that fell due."`
}

func (s *Admin) advanceClock(c *control, _ none, order advanceOrder) (string, advanced, error) {
	d, err := time.ParseDuration(order.Duration)
	if err != nil || d < 0 {
		return "", advanced{}, fmt.Errorf(`duration is %q: write one of zero or more, such as {"duration":"1h30m"}`, order.Duration)
	}
	due, err := c.world.Advance(d)
	return "The clock was advanced", advanced{jsontext.Timestamp(c.world.Now()), viewFired(due)}, err
}

func viewFired(all []clock.Fired) []fired {
	return list.Map(all, func(f clock.Fired) fired { return fired{jsontext.Timestamp(f.Due), f.Label} })
}
