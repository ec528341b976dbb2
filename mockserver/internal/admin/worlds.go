package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func worldRoutes() []Route {
	return []Route{
		route("GET", "worlds", "listWorlds", "List the open worlds, the home world first", "", (*Admin).listWorlds),
		route("POST", "worlds", "openWorld", "Open a world, as the first request with its key does",
			`{"scenario":"lowfunds","name":"ci42"}`, (*Admin).openWorld),
		route("DELETE", "worlds", "closeIdleWorlds", "Close the worlds, except the home world, that had no request for the "+
			"time of idle, and have no waiting delivery", "", (*Admin).closeIdle),
		route("GET", "worlds/{world}", "getWorld",
			"Get a world, with its wallets, shipments, invoices, webhooks and pending timers", "", (*Admin).getWorld),
		route("DELETE", "worlds/{world}", "closeWorld", "Close a world", "", (*Admin).closeWorld),
		route("POST", "worlds/{world}/reset", "resetWorld",
			"Reset a world: restore its initial contents, and clear its faults, stubs, journal and "+
				"inbox", "", (*Admin).resetWorld),
	}
}

type keysQuery struct {
	Keys *bool `query:"keys" doc:"false omits secret keys." example:"false"`
}

func (q keysQuery) areShown() bool { return q.Keys == nil || *q.Keys }

type worldParameters struct {
	Name string `path:"world" doc:"Name of an open world." example:"home"`
}

type detailsParameters struct {
	worldParameters
	keysQuery
}

type worldSummary struct {
	Name      string    `json:"name"`
	Scenario  string    `json:"scenario"`
	SecretKey string    `json:"secret_key,omitempty" doc:"Opens the world. Absent from the responses of routes that only change it, and with keys=false."`
	Clock     string    `json:"clock" enum:"real virtual"`
	Now       time.Time `json:"now"`
	Requests  int       `json:"regulatory_requests" doc:"Number of regulatory requests."`
	Waiting   int       `json:"pending" doc:"Number of pending timers."`
}

// worldDetails is a world with the identifiers that a program needs to use it.
type worldDetails struct {
	worldSummary
	Wallets      []string        `json:"wallets" doc:"The first is the default."`
	Shipments    []string        `json:"shipments" doc:"Newest first."`
	Invoices     []string        `json:"invoices"`
	Webhooks     []string        `json:"webhooks" doc:"Newest first."`
	Consignments []consignment   `json:"consignments" doc:"The shipments."`
	Timers       []journal.Fired `json:"timers" doc:"The first pending timers, at most 100."`
}

const maxTimers = 100

type consignment struct {
	ShipmentID  string   `json:"shipment_id"`
	Status      string   `json:"status"`
	Origin      string   `json:"origin" doc:"Country code."`
	Destination string   `json:"destination" doc:"Country code."`
	Items       []string `json:"items" doc:"Descriptions of the goods."`
}

func viewWorld(w *world.World, withKey bool) worldSummary {
	v := worldSummary{Name: w.Name(), Scenario: w.Plan.Scenario, Clock: clockKind(w), Now: w.Now(),
		Waiting: w.Clock.Waiting()}
	if withKey {
		v.SecretKey = w.SecretKey
	}
	w.Lock()
	defer w.Unlock()
	v.Requests = w.Regulatory.Len()
	return v
}

func viewDetails(w *world.World, withKey bool) worldDetails {
	return worldDetails{
		viewWorld(w, withKey), w.Wallets(), w.Shipments(), w.Invoices(), w.Webhooks(), viewConsignments(w),
		w.Clock.Pending(maxTimers),
	}
}

func viewConsignments(w *world.World) []consignment {
	w.Lock()
	defer w.Unlock()
	rows := []consignment{}
	for _, id := range w.Account.ShipmentIDs {
		shipment := w.Account.Shipments[id]
		row := consignment{id, shipment.Status, shipment.AddressFrom.Country, shipment.AddressTo.Country, []string{}}
		for _, item := range shipment.Parcel.Items {
			row.Items = append(row.Items, item.Description)
		}
		rows = append(rows, row)
	}
	return rows
}

type worldsQuery struct {
	paging
	keysQuery
}

func (s *Admin) listWorlds(c *control, query worldsQuery, _ none) (string, []worldSummary, error) {
	worlds := s.Worlds.Worlds()
	page := []worldSummary{}
	for _, w := range pageOf(c, query.paging, worlds) {
		page = append(page, viewWorld(w, query.areShown()))
	}
	return spelling.Counted(len(worlds), "world is open", "worlds are open"), page, nil
}

type newWorld struct {
	Name     string          `json:"name" doc:"At most 64 letters, digits, dots, hyphens and underscores." example:"ci42"`
	Scenario string          `json:"scenario,omitempty" doc:"Default: the part of name before an underscore, or default." example:"lowfunds"`
	Dialect  json.RawMessage `json:"dialect,omitempty" doc:"A dialect, as in its file, or a text such as contrary,list.max_per_page=2. It changes that of the server; GET /_mock/dialect lists it."`
}

func (s *Admin) openWorld(c *control, query keysQuery, order newWorld) (string, worldDetails, error) {
	w, err := s.open(order)
	if err != nil {
		return "", worldDetails{}, err
	}
	c.header = http.Header{worldHeader: {w.Name()}}
	return "The world is open", viewDetails(w, query.areShown()), nil
}

func (s *Admin) open(order newWorld) (*world.World, error) {
	over, err := readDialect(order.Dialect)
	if err != nil {
		return nil, err
	}
	name, err := fullName(order.Scenario, order.Name)
	if err != nil {
		return nil, err
	}
	return s.Worlds.OpenWith(name, over)
}

// fullName returns the name of a world with its scenario: the given scenario, or the one at the start of the name, or
// "default".
func fullName(scenario, name string) (string, error) {
	if scenario == "" && (name == world.HomeName || strings.Contains(name, "_")) {
		return name, nil
	}
	return world.NameOf(cmp.Or(scenario, "default"), name)
}

func (s *Admin) getWorld(c *control, parameters detailsParameters, _ none) (string, worldDetails, error) {
	return "The world", viewDetails(c.world, parameters.areShown()), nil
}

func (s *Admin) closeWorld(c *control, _ worldParameters, _ none) (string, worldSummary, error) {
	w := c.world
	if w == s.Worlds.Home() {
		return "", worldSummary{}, fmt.Errorf("the home world closes with its server: reset it with POST "+
			"%sworlds/home/reset instead", wire.ControlPrefix)
	}
	s.Worlds.Close(w)
	return "The world is closed", viewWorld(w, false), nil
}

type idleQuery struct {
	keysQuery
	Idle time.Duration `query:"idle" most:"8760h" doc:"Time on the machine's clock since the latest request to a world. It is required." example:"1h"`
}

func (s *Admin) closeIdle(_ *control, query idleQuery, _ none) (string, []worldSummary, error) {
	if query.Idle == 0 {
		return "", nil, errors.New("idle is required: send ?idle=10m")
	}
	closed := []worldSummary{}
	for _, w := range s.Worlds.CloseIdle(query.Idle) {
		closed = append(closed, viewWorld(w, false)) // never with keys
	}
	return spelling.Counted(len(closed), "world closed", "worlds closed"), closed, nil
}

func (s *Admin) resetWorld(c *control, _ worldParameters, _ none) (string, worldSummary, error) {
	c.world.Reset()
	return "The world has its initial contents", viewWorld(c.world, false), nil
}

// opened returns the open world of a name.
func (s *Admin) opened(name string) (*world.World, error) {
	if w := s.named(name); w != nil && w != s.Worlds.Unauthenticated {
		return w, nil
	}
	return nil, s.noWorld(name)
}

// noWorld returns the error for a name that no open world has.
func (s *Admin) noWorld(name string) error {
	such, known := "", []string(nil)
	for _, w := range s.Worlds.Worlds() {
		known = append(known, w.Name())
	}
	if nearest := spelling.Nearest(name, known); nearest != "" {
		such = ", such as " + nearest
	}
	return notFound("no world %q is open: open it with POST %[2]sworlds {\"name\":%[1]q}, or use one that GET "+
		"%[2]sworlds lists%[3]s", name, wire.ControlPrefix, such)
}
