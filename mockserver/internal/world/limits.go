package world

import (
	"errors"
	"fmt"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// ErrTooManyRows is returned if a world has reached its limit of records or bytes.
var ErrTooManyRows = errors.New("the world is full")

// rows counts the records that the world stores. The caller holds the lock.
func (w *World) rows() int {
	rows := w.Desk.Len() + w.Account.Ledger.Len() + len(w.Account.Webhooks.All)
	for _, list := range w.Account.Lists {
		rows += len(list.Stored())
	}
	return rows
}

// room returns an error if the world may not store another record. The caller holds the lock.
func (w *World) room() error { return w.roomFor(0) }

// roomFor returns an error if the world may not store another record with that many bytes of JSON. The caller holds the
// lock.
func (w *World) roomFor(text int) error {
	if most := w.settings.MaxRows; w.rows()-w.rowsAtFirst >= most {
		return fmt.Errorf("%w: it stores %d records in addition to its initial ones, which is the limit: %s, or raise -max-rows (in Go: WithMaxRows)", ErrTooManyRows, most, w.makeRoom())
	}
	return w.RoomForBytes(text)
}

// RoomForBytes returns an error if the world may not store that many more bytes of JSON. The caller holds the lock.
func (w *World) RoomForBytes(text int) error {
	taken := w.Account.Memory() + account.BytesPerJSON*int64(text)
	for _, kept := range w.Snapshots {
		taken += kept.State.Memory()
	}
	if most := w.settings.MaxBytes; taken-w.base.State.Memory() > most {
		return fmt.Errorf("%w: its records would take more than %d bytes of memory: %s, or raise -max-bytes (in Go: WithMaxBytes)", ErrTooManyRows, most, w.makeRoom())
	}
	return nil
}

func (w *World) makeRoom() string {
	return fmt.Sprintf("reset it with POST %sworlds/%s/reset (in Go: World.Reset), use another world", wire.ControlPrefix, w.name)
}

// Limits that prevent a runaway test from exhausting the machine.
//
// Assumption: all of them. To switch, see WithMaxWorlds, WithMaxRows, WithMaxBytes and WithMaxJournal.
const (
	DefaultMaxWorlds  = 10_000
	DefaultMaxRows    = 20_000    // of a world
	DefaultMaxBytes   = 256 << 20 // of a world
	DefaultMaxJournal = 128 << 20 // bytes, of all worlds
	maxTemplateRows   = 600_000   // stored by all templates together, at about a kilobyte and a half each
	maxNamedSnapshots = 100       // of a world
)
