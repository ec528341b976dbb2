// Package world contains the worlds of a server: the account of each with its lock, clock, faults, journal and
// notifications; their snapshots and differences; and the file that stores them.
package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// World is one account of a server: its key, data, time, faults and journal. It is safe for concurrent
// use.
type World struct {
	*Access
	Log        *watch.Log
	Faults     *inject.Rules
	Lint       *watch.Lint
	name       string
	settings   *Settings
	Plan       worldPlan
	Clock      *clock.Clock
	Dispatcher *delivery.Dispatcher
	Inbox      *delivery.Inbox
	assume     atomic.Pointer[assumption.Set]
	closed     context.Context // ends when the world is closed
	shut       context.CancelFunc
	working    pending    // exchanges for which Advance waits
	performing sync.Mutex // held while the operation of an arriving request is performed
	base       *Snapshot  // the initial contents
	origin     *template  // the template that the contents began with, or nil

	// Mutex guards the fields below. It is held while a handler reads or changes the world, never while
	// something is read from or written to a connection.
	sync.Mutex
	Account    account.Account // replaced by Reset and Restore
	Regulatory *regulatory.Service
	timers     *clock.Scope // of regulatory requests and of arriving requests
	arriving   []*Arriving
	Replaced   int   // how often the contents or the assumptions were replaced
	counted    int64 // bytes of memory that the world accounts for
}

// Access contains the address and the key of a world. World embeds a pointer to it, because fmt follows a pointer at the
// top level only, so that printing a World does not reveal the key.
type Access struct {
	URL       string // the base address
	SecretKey string // opens the world
}

// HomeName is the name of the home world.
const HomeName = "home"

// newWorld returns a world with the contents of a snapshot.
func (b *Worlds) newWorld(name, key string, p worldPlan, base *Snapshot) *World {
	w := &World{
		Access: &Access{URL: b.url, SecretKey: key}, name: name, settings: b.settings, Plan: p, base: base,
		Log:    watch.NewLog(b.settings.Journal, b.settings.JournalBody, b.settings.Journals),
		Faults: inject.New(p.Seed),
		Lint:   watch.NewLint(operations.Names(operations.Once), b.settings.Parameters, b.settings.BodyFields),
	}
	w.assume.Store(&p.assume)
	w.working.ended.L = &w.working.mu
	start := base.At
	if start.Before(b.settings.Start) {
		start = b.settings.Start
	}
	w.Clock = clock.Real(base.At)
	if p.virtual {
		w.Clock = clock.Virtual(start)
	}
	w.timers = w.Clock.Scope()
	w.Inbox = delivery.NewInbox(key, w.Clock.Now)
	w.Dispatcher = delivery.New(delivery.Config{
		Secret:    key,
		Assume:    *w.Assume(),
		Transport: w.Inbox.Transport(b.settings.Deliver),
		Clock:     w.Clock,
	})
	w.closed, w.shut = context.WithCancel(context.Background())
	w.Clock.Settle(func() {
		w.working.wait()
		w.Dispatcher.Settle()
	})
	w.Restore(base)
	return w
}

// Name returns the scenario and the name that follow "sk_test_" in the key, such as "lowfunds_ci42", or "home" for the
// home world.
func (w *World) Name() string { return w.name }

func (w *World) Close() {
	w.shut()
	w.Clock.Stop()
	w.Dispatcher.Close()
	w.Log.End()
	w.Lock()
	defer w.Unlock()
	w.count()
}

// Decoding returns how the world reads bodies.
func (w *World) Decoding() wire.Decoding {
	return wire.Decoding{Set: w.Assume()}
}

// Advance moves a virtual clock forward and returns what fell due on the way, in order.
func (w *World) Advance(d time.Duration) ([]journal.Fired, error) {
	fired, err := w.Clock.Advance(d)
	if errors.Is(err, clock.ErrReal) {
		return nil, ErrRealClock
	}
	return fired, err
}

// ErrRealClock is returned by [World.Advance] in a world that follows the real time.
var ErrRealClock = errors.New("mockserver: the clock follows the real time; start the server with -clock virtual (in Go: WithVirtualClock), or use a world of the scenario virtual")

// Now returns the current time of the world's clock.
func (w *World) Now() time.Time { return w.Clock.Now() }

// Assume returns the current assumptions. The caller does not change them.
func (w *World) Assume() *assumption.Set { return w.assume.Load() }

// ChangeAssumptions changes assumptions of the world for what happens from now on. If one of the changes is invalid, it
// changes nothing.
func (w *World) ChangeAssumptions(c assumption.Change) error {
	return w.change(func(next *assumption.Set) error { return next.Apply(c, &w.Plan.server, assumption.ScopeWorld) })
}

// SetAssumptions edits the assumptions of the world for what happens from now on.
func (w *World) SetAssumptions(edit func(*assumption.Set)) error {
	return w.change(func(next *assumption.Set) error {
		edit(next)
		return next.Check()
	})
}

// adopt sets the assumptions to those of the server and the scenario, changed by the values of a state file.
func (w *World) adopt(values map[string]json.RawMessage) error {
	return w.change(func(next *assumption.Set) error {
		*next = w.Plan.server
		return next.Apply(assumption.Change{Assumptions: values}, &w.Plan.server)
	})
}

// change edits a copy of the assumptions, and makes it those of the world.
func (w *World) change(edit func(*assumption.Set) error) error {
	w.Lock()
	defer w.Unlock()
	next := *w.Assume()
	if err := edit(&next); err != nil {
		return fmt.Errorf("mockserver: no assumption was changed: %w", err)
	}
	for _, row := range next.Differences(w.Assume()) {
		switch row.Scope {
		case assumption.ScopeServer:
			return errServerAssumption(row.Field)
		case assumption.ScopeOpening:
			return fmt.Errorf("mockserver: %w with other assumptions: %s applies when a world opens; open another world with it", ErrWorldExists, row.Field)
		}
	}
	w.apply(next)
	return nil
}

// changed returns the values of the assumptions that differ from those of the server and the scenario.
func (w *World) changed() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, row := range w.Assume().Differences(&w.Plan.server) {
		// A value of an assumption that is in its range always encodes.
		values[row.Field], _ = json.Marshal(row.Value)
	}
	return values
}

func errServerAssumption(name string) error {
	return fmt.Errorf("mockserver: no assumption was changed: assumption %s applies to the whole server: start it with -assume %s=… (in Go: WithAssumptions)", name, name)
}

// apply makes assumptions those of the world. The caller holds the lock.
func (w *World) apply(next assumption.Set) {
	w.assume.Store(&next)
	w.Replaced++
	w.Regulatory.Configure(next)
	w.Dispatcher.Configure(&next)
}
