package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// The control surface of worlds, for tests in other languages. What these routes do, Server.Open,
// World.Fork, World.Snapshot, World.Restore, World.Reset and World.Close do in Go.

// worldView is a world as GET /_mock/worlds shows it.
type worldView struct {
	Name      string             `json:"name"`
	Scenario  string             `json:"scenario"`
	SecretKey string             `json:"secret_key,omitempty"` // in the list, and when a world is opened or forked; not with keys=false
	Clock     string             `json:"clock"`
	Now       jsontext.Timestamp `json:"now"`
	Requests  int                `json:"regulatory_requests"`
	Waiting   int                `json:"pending"` // on its clock
	Snapshots []string           `json:"snapshots"`
}

// viewFor is view without the key for those who do not want to be trusted with it: a page that shows
// worlds, for one.
func viewFor(w *world.World, c *control) worldView {
	v := viewWorld(w)
	if c.Query().Get("keys") == "false" {
		v.SecretKey = ""
	}
	return v
}

func viewWorld(w *world.World) worldView {
	v := worldView{
		Name: w.Name(), Scenario: w.Plan.Scenario, SecretKey: w.SecretKey, Clock: "real", Now: jsontext.Timestamp(w.Now()), Waiting: w.Waiting(),
	}
	if w.Clock.IsVirtual() {
		v.Clock = "virtual"
	}
	w.Lock()
	defer w.Unlock()
	v.Requests = w.Desk.Len()
	v.Snapshots = append([]string{}, slices.Sorted(maps.Keys(w.Snapshots))...)
	return v
}

func (s *Admin) listScenarios(*control) wire.Reply {
	return wire.Succeed("Scenarios, for keys of the form sk_test_<scenario>_<name>; join several with hyphens", world.Scenarios())
}

func (s *Admin) listWorlds(c *control) wire.Reply {
	worlds := s.Worlds.Worlds()
	return pageOf(c, spelling.Counted(len(worlds), "world is open", "worlds are open"), worlds, func(w *world.World) worldView { return viewFor(w, c) })
}

// getWorld serves GET /_mock/worlds/{world}.
func (s *Admin) getWorld(c *control) wire.Reply {
	return s.onWorld(c, &struct{}{}, func(w *world.World) wire.Reply {
		return wire.Succeed("The world", viewDetails(w, c))
	})
}

// worldDetails is a world with the identifiers that a program needs to use it.
type worldDetails struct {
	worldView
	Wallets   []string `json:"wallets"`
	Shipments []string `json:"shipments"`
	Invoices  []string `json:"invoices"`
	Webhooks  []string `json:"webhooks"`
}

func viewDetails(w *world.World, c *control) worldDetails {
	return worldDetails{viewFor(w, c), notNull(w.Wallets()), notNull(w.Shipments()), notNull(w.Invoices()), notNull(w.Webhooks())}
}

// notNull returns a list whose JSON is never null.
func notNull(all []string) []string { return append([]string{}, all...) }

func (s *Admin) openWorld(c *control) wire.Reply {
	var order struct {
		Name        string                     `json:"name"`
		Scenario    string                     `json:"scenario"`
		Preset      string                     `json:"preset"`
		Assumptions map[string]json.RawMessage `json:"assumptions"`
	}
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &order); refusal != nil {
		return *refusal
	}
	w, err := s.Worlds.OpenWith(fullName(order.Scenario, order.Name), world.Changes{Preset: order.Preset, Values: order.Assumptions})
	return replyOpened(c, w, "The world is open", err)
}

// fullName returns the name of a world with its scenario: the given one, else the one at the start of the name, else
// the scenario default.
func fullName(scenario, name string) string {
	if scenario == "" && (name == "" || name == world.HomeName || strings.Contains(name, "_")) {
		return name
	}
	return cmp.Or(scenario, "default") + "_" + name
}

func (s *Admin) forkWorld(c *control) wire.Reply {
	var order struct {
		Name     string `json:"name"`
		Snapshot string `json:"snapshot"`
	}
	return s.onWorld(c, &order, func(w *world.World) wire.Reply {
		base := w.Snapshot()
		if order.Snapshot != "" {
			var err error
			if base, err = w.Named(order.Snapshot); err != nil {
				return refusedFor(err)
			}
		}
		fork, err := s.Worlds.Fork(w, order.Name, base)
		return replyOpened(c, fork, "The fork is open", err)
	})
}

func (s *Admin) resetWorld(c *control) wire.Reply {
	return s.onWorld(c, &struct{}{}, func(w *world.World) wire.Reply {
		w.Reset()
		return replyWorld(w, "The world is as it began", nil)
	})
}

func (s *Admin) takeSnapshot(c *control) wire.Reply {
	var order snapshotOrder
	return s.onWorld(c, &order, func(w *world.World) wire.Reply {
		return replyWorld(w, "The snapshot is taken", w.Keep(order.Snapshot))
	})
}

func (s *Admin) restoreSnapshot(c *control) wire.Reply {
	var order snapshotOrder
	return s.onWorld(c, &order, func(w *world.World) wire.Reply {
		base, err := w.Named(order.Snapshot)
		if err == nil {
			w.Restore(base)
		}
		return replyWorld(w, "The snapshot is restored", err)
	})
}

// removeSnapshot serves DELETE /_mock/worlds/{world}/snapshot.
func (s *Admin) removeSnapshot(c *control) wire.Reply {
	return s.onWorld(c, &struct{}{}, func(w *world.World) wire.Reply {
		return replyWorld(w, "The snapshot is removed", w.Remove(c.Query().Get("snapshot")))
	})
}

func (s *Admin) closeWorld(c *control) wire.Reply {
	return s.onWorld(c, &struct{}{}, func(w *world.World) wire.Reply {
		if w == s.Worlds.Home() {
			return refusedFor(errors.New("the home world closes with its server: reset it instead"))
		}
		s.Worlds.Close(w)
		return replyWorld(w, "The world is closed", nil)
	})
}

// onWorld reads the body and does something with the world that the path names.
func (s *Admin) onWorld(c *control, order any, do func(*world.World) wire.Reply) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, order); refusal != nil {
		return *refusal
	}
	name := c.PathValue("world")
	w := s.named(name)
	if w == nil || w == s.Worlds.Unauthenticated {
		return wire.Refused(http.StatusNotFound, wire.CodeNotFound, s.noWorld(name))
	}
	return do(w)
}

// noWorld says that no world of a name is open, and which one was perhaps meant.
func (s *Admin) noWorld(name string) string {
	known := list.Map(s.Worlds.Worlds(), func(w *world.World) string { return w.Name() })
	if nearest := spelling.Nearest(name, known); nearest != "" {
		return fmt.Sprintf("no world %q is open: did you mean %s?", name, nearest)
	}
	return fmt.Sprintf("no world %q is open: GET %sworlds lists them", name, wire.ControlPrefix)
}

// replyOpened shows a world to the one who opened it, with its key.
func replyOpened(c *control, w *world.World, message string, err error) wire.Reply {
	if err != nil {
		return refusedFor(err)
	}
	p := wire.Succeed(message, viewDetails(w, c))
	p.Header = http.Header{worldHeader: {w.Name()}}
	return p
}

// replyWorld shows a world without its key, which only the one who opens it needs.
func replyWorld(w *world.World, message string, err error) wire.Reply {
	if err != nil {
		return refusedFor(err)
	}
	view := viewWorld(w)
	view.SecretKey = ""
	return wire.Succeed(message, view)
}

func (s *Admin) saveState(c *control) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &struct{}{}); refusal != nil {
		return *refusal
	}
	if s.Save == nil {
		return wire.Refused(409, wire.CodeInvalid, "the server has no state file: start it with -state FILE (in Go: WithState)")
	}
	if err := s.Save(); err != nil {
		return wire.Refused(500, wire.CodeInternal, err.Error())
	}
	return wire.Succeed("The state is saved", struct {
		Worlds int                `json:"worlds"`
		At     jsontext.Timestamp `json:"at"`
	}{len(s.Worlds.Worlds()), jsontext.Timestamp(time.Now())})
}

// snapshotOrder is the body of the routes about a snapshot that a world keeps.
type snapshotOrder struct {
	Snapshot string `json:"snapshot"`
}
