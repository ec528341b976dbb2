// Package world contains the worlds of a server: the account of each with its lock, clock, faults, journal and
// notifications; and its initial contents.
package world

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// World is one account of a server: its key, data, time, faults and journal. It is safe for concurrent
// use.
type World struct {
	URL        string // the base address; set before the server accepts requests
	SecretKey  string // opens the world
	Log        *watch.Log
	Faults     *inject.Rules
	Lint       *watch.Lint
	name       string
	settings   *Settings
	Plan       worldPlan
	Clock      *clock.Clock
	Dispatcher *delivery.Dispatcher
	Inbox      *delivery.Inbox
	closed     context.Context // ends when the world is closed
	shut       context.CancelFunc
	stubs      stubs
	use        use            // its requests
	working    sync.WaitGroup // exchanges for which Advance waits; none is added while it waits
	performing sync.Mutex     // held while the operation of an arriving request is performed
	base       *contents      // the initial contents

	// Mutex guards the fields below. It is held while a handler reads or changes the world, never while
	// something is read from or written to a connection. It is taken before the locks of Faults and Dispatcher.
	sync.Mutex
	Account    account.Account // replaced by Reset
	Regulatory *regulatory.Service
	timers     *clock.Scope // of regulatory requests and of arriving requests
	arriving   []*Arriving
	Replaced   int // how often the contents were replaced
	bodies     int // bytes of the bodies from which regulatory requests were made
	counted    int // records that the world adds to those of the server
}

const HomeName = "home"

func (b *Worlds) newWorld(name, key string, p worldPlan, base *contents) *World {
	w := &World{
		URL: b.url, SecretKey: key, name: name, settings: b.settings, Plan: p, base: base,
		Log:    watch.NewLog(b.settings.Journal, b.settings.JournalBody, b.settings.Entries, b.settings.Limits.Entries),
		Faults: inject.New(p.Seed),
		Lint:   watch.NewLint(byname.Names(byname.Once), b.settings.Parameters, b.settings.BodyFields),
	}
	w.use.begin()()
	w.Clock = clock.Real(seed.Epoch)
	if p.virtual {
		start := b.settings.Start
		if end := p.End(); start.Before(end) {
			start = end
		}
		w.Clock = clock.Virtual(start)
	}
	w.timers = w.Clock.Scope()
	scheme := signature.Of(w.Dialect())
	w.Inbox = delivery.NewInbox(key, scheme, w.Clock.Now)
	w.Dispatcher = delivery.New(delivery.Config{
		Secret:    key,
		Scheme:    scheme,
		Attempts:  w.Dialect().Notification.Attempts,
		Anywhere:  b.settings.Anywhere,
		Transport: w.Inbox.Transport(b.settings.Deliver),
		Running:   b.attempts,
		Clock:     w.Clock,
		Strike:    w.strike,
	})
	w.closed, w.shut = context.WithCancel(context.Background())
	w.Clock.Settle(func() {
		w.working.Wait()
		w.Dispatcher.Settle()
	})
	w.fill()
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

// Stored adds the body of a request, from which a record was made, to the stored bytes of the world. The caller holds
// the lock.
func (w *World) Stored(body []byte) { w.bodies += len(body) }

func (w *World) Decoding() wire.Decoding {
	return wire.Decoding{Strict: w.Dialect().Request.UnknownFields == "refused"}
}

// Advance moves a virtual clock forward and returns the events that fell due, in order.
func (w *World) Advance(d time.Duration) ([]journal.Fired, error) {
	fired, err := w.Clock.Advance(d)
	if errors.Is(err, clock.ErrReal) {
		return nil, ErrRealClock
	}
	return fired, err
}

// ErrRealClock is returned by [World.Advance] in a world that follows the real time.
var ErrRealClock = errors.New("mockserver: the clock follows real time; start the server with -clock virtual " +
	"(in Go: WithVirtualClock), or open a world with the scenario virtual")

func (w *World) Now() time.Time { return w.Clock.Now() }

// Dialect returns what the world decides, with the default of each point that it leaves open. The caller does not
// change it.
func (w *World) Dialect() *Dialect { return w.Plan.resolved }

// Declared returns what the world decides. The caller does not change it.
func (w *World) Declared() *Dialect { return &w.Plan.dialect }

// Shapes reports whether the world decides something about the format of responses.
func (w *World) Shapes() bool { return w.Plan.shapes }
