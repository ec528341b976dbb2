package world

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Dialect has the choices of a server or a world at the open points of the specification.
type Dialect = dialect.Dialect

type Settings struct {
	Seed        uint64
	Virtual     bool
	Start       time.Time // of a virtual clock
	Dialect     Dialect
	OneWorld    bool                             // a key opens no world
	Anywhere    bool                             // notifications are sent to other machines
	Journal     int                              // number of calls recorded
	JournalBody int                              // bytes recorded of a body
	Parameters  func(operation string) []string  // the query parameters of an operation in the specification
	BodyFields  func(operation string) []string  // the members of the body of an operation; nil if it accepts every name
	Specified   func(method, path string) string // the operation that serves a method and path, or ""
	Deliver     http.RoundTripper                // for the notifications of every world
	Limits      Limits
	Records     *atomic.Int64 // stored by all worlds, each counted once
	Entries     *atomic.Int64 // of all journals
	Logger      *slog.Logger
	FullLogged  *atomic.Bool // the log reports that the server is full
}

// full logs the error of a server that is full, once, and returns it.
func (c *Settings) full(err error) error {
	if !c.FullLogged.Swap(true) {
		c.Logger.Warn("the server is full", "error", err)
	}
	return err
}

// roomFor lets full log again, if the open worlds leave a tenth of the limits free.
func (c *Settings) roomFor(open int) {
	const share = 10
	if open <= c.Limits.Worlds-c.Limits.Worlds/share && c.Records.Load() <= c.Limits.Records-c.Limits.Records/share {
		c.FullLogged.Store(false)
	}
}

// ErrTooManyRows is returned if the worlds of the server have as many records as is allowed.
var ErrTooManyRows = errors.New("the server is full of records")

// Limits of a server, which stop a runaway test.
type Limits struct {
	Worlds  int
	Records int64 // of all worlds
	Entries int   // of the journals of all worlds, unless WithJournal records more in one
	// Connections over the network at a time.
	Connections int
}

// recordsPerRequest is how many records a regulatory request, with its documents and its history, counts for.
const recordsPerRequest = 2

// recordsIn returns how many records a number of stored bytes counts for: one for each KiB.
func recordsIn(bytes int) int { return bytes / 1024 }

// stored returns how many records the world stores, without the initial ones, which it shares. The caller holds the
// lock.
func (w *World) stored() int {
	bytes := w.bodies + w.Faults.Bytes() + w.Account.Webhooks.Bytes + w.Dispatcher.Bytes() + w.Inbox.Bytes()
	for _, a := range w.arriving {
		bytes += a.Size
	}
	for _, s := range w.Stubs() {
		bytes += s.Size
	}
	return recordsOf(&w.Account) - w.base.records + recordsPerRequest*w.Regulatory.Len() + recordsIn(bytes)
}

// recordsOf returns the number of records that an account stores.
func recordsOf(a *account.Account) int {
	records := a.Ledger.Len() + len(a.Webhooks.All) + len(a.Shipments) + len(a.Invoices)
	for _, list := range a.Lists {
		records += list.Stored()
	}
	return records
}

// fits reports whether the server has room for more records.
func (c *Settings) fits(more int64) bool { return c.Records.Load()+more <= c.Limits.Records }

// Room returns an error if the server has no room for another record of so many bytes. The caller holds the lock.
func (w *World) Room(bytes int) error {
	w.count()
	if !w.settings.fits(1 + int64(recordsIn(bytes))) {
		return w.settings.full(fmt.Errorf("%w: its worlds have %d in total, and at most %d are allowed: close worlds with "+
			"DELETE %sworlds/NAME (in Go: World.Close), or reset them with POST %[4]sworlds/NAME/reset (World.Reset)",
			ErrTooManyRows, w.settings.Records.Load(), w.settings.Limits.Records, wire.ControlPrefix))
	}
	return nil
}

// count adds what the world stores to the records of the server. A closed world stores nothing. The caller holds the
// lock.
func (w *World) count() {
	now := 0
	if w.closed.Err() == nil {
		now = max(0, w.stored())
	}
	w.settings.Records.Add(int64(now - w.counted))
	w.counted = now
}
