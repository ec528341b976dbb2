package mockserver

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// core is one account of a server: its key, its data, its time, its faults and its journal. It is safe for concurrent
// use.
type core struct {
	*Access
	*instruments
	name       string
	facade     any // what the users of the server hold of the world
	settings   *settings
	plan       worldPlan
	assume     assumptions
	clock      *clock.Clock
	deliveries *delivery.Dispatcher
	closed     context.Context // ends when the world is closed
	shut       context.CancelFunc
	working    pending   // exchanges that Advance waits for
	base       *snapshot // what it began as
	origin     *template // where that comes from; nil for a fork

	// mu guards what follows. It is held while a handler reads or changes the world, never while
	// something is read from or written to a connection.
	mu        sync.Mutex
	account   account.Account // what Reset and Restore replace
	desk      *regulatory.Desk
	timers    *clock.Scope         // of the desk
	snapshots map[string]*snapshot // by name, for those who cannot hold on to one
	// rowsAtFirst is how many records the world began with.
	rowsAtFirst int
}

// Access is what a program needs to use a world. It is behind a pointer of its own, because fmt prints the fields of a
// pointer that it meets with a verb that fits no pointer, but none of the pointers in those.
type Access struct {
	URL       string // the base address
	SecretKey string // opens the world
}

// homeName is the name of a server's own world.
const homeName = "home"

// newWorld makes a world that begins as a snapshot.
func (b *worldBook) newWorld(name, key string, p worldPlan, base *snapshot) *core {
	w := &core{
		Access: &Access{URL: b.url, SecretKey: key}, name: name, settings: b.settings, plan: p, assume: p.assume, base: base,
		instruments: newInstruments(b.settings, p.Seed, key),
	}
	start := base.at
	if start.Before(b.settings.start) {
		start = b.settings.start
	}
	w.clock = clock.Real(base.at)
	if p.virtual {
		w.clock = clock.Virtual(start)
	}
	w.timers = w.clock.Scope()
	w.deliveries = delivery.New(delivery.Config{
		Secret:    key,
		Policy:    w.assume.deliveryPolicy(),
		Anywhere:  w.assume.DeliverAnywhere,
		Transport: b.settings.deliver,
		Clock:     w.clock,
		Seed:      p.Seed,
	})
	w.closed, w.shut = context.WithCancel(context.Background())
	w.clock.Settle(func() {
		w.working.wait()
		w.deliveries.Settle()
	})
	w.restore(base)
	w.rowsAtFirst = w.rows()
	w.facade = b.settings.facade(w)
	return w
}

// Name returns what follows "sk_test_" in the key, scenario and name, such as "lowfunds_ci42"; "home" for the
// server's own world.
func (w *core) Name() string { return w.name }

func (w *core) close() {
	w.shut()
	w.clock.Stop()
	w.deliveries.Close()
	w.calls.End()
}

// decoding returns how the world reads bodies.
func (w *core) decoding() wire.Decoding {
	return wire.Decoding{MaxBody: w.assume.MaxBody, RefuseUnknownFields: w.assume.RefuseUnknownFields, TolerateWrongTypes: w.assume.TolerateWrongTypes}
}

// rule is the refusal of a request that breaks a rule of the specification.
func ruleBroken(w *core, message string) wire.Reply {
	return wire.Refused(w.assume.ruleFailure(), wire.CodeInvalid, message)
}

// Advance moves a virtual clock forward and returns what fell due on the way, in order.
func (w *core) Advance(d time.Duration) ([]clock.Fired, error) {
	fired, err := w.clock.Advance(d)
	if errors.Is(err, clock.ErrReal) {
		return nil, ErrRealClock
	}
	return fired, err
}

// ErrRealClock is returned by [World.Advance] in a world that follows the real time.
var ErrRealClock = errors.New("mockserver: the clock follows the real time; make the server with WithVirtualClock, start the command with -clock virtual, or take a world of the scenario virtual")

// Waiting returns how many things wait for their time on the world's clock: documents under generation, deliveries to
// be tried again, delayed answers.
func (w *core) Waiting() int { return w.clock.Waiting() }

// Now returns the time in the world.
func (w *core) Now() time.Time { return w.clock.Now() }
