package world

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Settings are shared by the worlds of a server.
type Settings struct {
	Seed        uint64
	Virtual     bool
	Start       time.Time // of a virtual clock
	Assume      assumption.Set
	Journal     int                               // number of calls recorded
	JournalBody int                               // bytes recorded of a body
	Memory      *watch.Memory                     // of all worlds
	Journals    *watch.Memory                     // of all journals
	Parameters  func(operation string) []string   // the query parameters of an operation in the specification
	BodyFields  func(operation string) []string   // the members of the body of an operation; nil if it accepts every name
	Rules       func() (*compliance.Rules, error) // read at the first analysis
	Deliver     http.RoundTripper                 // for the notifications of every world
	Logger      *slog.Logger
}

// ErrTooManyRows is returned if the server has no memory for another record.
var ErrTooManyRows = errors.New("the world is full")

// DefaultMaxMemory prevents a runaway test from exhausting the machine.
//
// Assumption: the limit. To switch, see WithMaxMemory.
const DefaultMaxMemory = 1 << 30

// Estimates of memory, in bytes.
const (
	bytesPerWorld = 32 << 10
	bytesPerRow   = 1536
)

// memory returns the bytes that the world takes, about: itself, and its records without the initial ones, which
// it shares with its template. The caller holds the lock.
func (w *World) memory() int64 {
	taken := memoryOf(&w.Account) + bytesPerRow*int64(w.Regulatory.Len()) + account.BytesPerJSON*int64(w.Regulatory.Bytes())
	return bytesPerWorld + max(0, taken-w.base.shared)
}

// memoryOf returns the bytes that the records of an account take, about, without regulatory requests.
func memoryOf(a *account.Account) int64 {
	rows := a.Ledger.Len() + len(a.Webhooks.All)
	for _, list := range a.Lists {
		rows += list.Stored()
	}
	return bytesPerRow*int64(rows) + account.BytesPerJSON*int64(a.Webhooks.Bytes)
}

// count accounts for the memory of the world. A closed world takes none. The caller holds the lock.
func (w *World) count() {
	var now int64
	if w.closed.Err() == nil {
		now = w.memory()
	}
	w.settings.Memory.Used.Add(now - w.counted)
	w.counted = now
}

// room returns an error if the world may not store another record. The caller holds the lock.
func (w *World) room() error { return w.RoomForBytes(bytesPerRow / account.BytesPerJSON) }

// RoomForBytes returns an error if the world may not store that many more bytes of JSON. The caller holds the lock.
func (w *World) RoomForBytes(text int) error {
	w.count()
	if m := w.settings.Memory; m.Used.Load()+account.BytesPerJSON*int64(text) > m.Most {
		return fmt.Errorf("%w: all worlds together would take more than %d bytes of memory: restore its initial contents with POST %sworlds/%s/restore (in Go: World.Reset), close worlds, or raise the limit with WithMaxMemory in Go",
			ErrTooManyRows, m.Most, wire.ControlPrefix, w.name)
	}
	return nil
}
