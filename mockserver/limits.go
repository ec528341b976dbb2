package mockserver

import (
	"errors"
	"fmt"

	"github.com/shipping-go/shipping/mockserver/internal/account"
)

// WithMaxWorlds limits how many worlds are open at once; a further one is refused. The default is 10,000.
func WithMaxWorlds(n int) Option { return func(c *config) { c.maxWorlds = max(1, n) } }

// WithMaxRows limits how many records a world stores beside those that it began with: regulatory requests,
// entries of the ledger, webhooks, rates. A further one is refused. The default is 20,000: as requests,
// which are the largest, they take some 200 MB. What a scenario brings along does not count.
func WithMaxRows(n int) Option { return func(c *config) { c.maxRows = max(0, n) } }

// WithMaxBytes limits how much memory the regulatory requests and webhooks of a world take, together with those of
// the snapshots that it keeps by name, as far as it can be told from their JSON. A change that would take more is
// refused. The default is 256 MiB. What a scenario brings along does not count.
func WithMaxBytes(bytes int64) Option { return func(c *config) { c.maxBytes = max(0, bytes) } }

// WithMaxJournal limits how much memory the journals of all worlds take together. Beyond it nothing is refused:
// a world goes on writing over its oldest calls, fewer than [WithJournal] says, and remembers less of their
// bodies, until it is reset or others are closed. GET /_mock/calls says so. The default is 128 MiB.
func WithMaxJournal(bytes int64) Option { return func(c *config) { c.memory.Most = max(0, bytes) } }

// ErrTooManyRows is returned where a world stores as many records, or as many bytes, as it may.
var ErrTooManyRows = errors.New("the world is full")

// rows counts the records that the world stores. The caller holds the lock.
func (w *core) rows() int {
	return w.desk.Len() + w.account.Ledger.Len() + w.account.Rates.Stored() + len(w.account.Webhooks.All)
}

// room returns nil while the world may store one more record. The caller holds the lock.
func (w *core) room() error { return w.roomFor(0) }

// roomFor returns nil while the world may store one more record, with so many bytes of JSON. The caller holds the
// lock.
func (w *core) roomFor(text int) error {
	if most := w.settings.maxRows; w.rows()-w.rowsAtFirst >= most {
		return fmt.Errorf("%w: it stores %d records beside those that it began with, which is the most: %s, or raise -max-rows or WithMaxRows", ErrTooManyRows, most, w.makeRoom())
	}
	return w.roomForBytes(text)
}

// roomForBytes returns nil while the world may store so many more bytes of JSON. The caller holds the lock.
func (w *core) roomForBytes(text int) error {
	taken := w.account.Memory() + account.BytesPerJSON*int64(text)
	for _, kept := range w.snapshots {
		taken += kept.state.Memory()
	}
	if most := w.settings.maxBytes; taken-w.base.state.Memory() > most {
		return fmt.Errorf("%w: what it stores would take more than %d bytes of memory: %s, or raise -max-bytes or WithMaxBytes", ErrTooManyRows, most, w.makeRoom())
	}
	return nil
}

func (w *core) makeRoom() string {
	return fmt.Sprintf("reset it with POST %sworlds/%s/reset or World.Reset, go on in another", adminPrefix, w.name)
}

// resized accounts for a regulatory request that has changed. The caller holds the lock.
func (w *core) resized(before, after int) { w.account.RequestBytes += after - before }

// requestSize returns how many bytes of JSON a regulatory request has, 0 if there is none of that id. The caller holds
// the lock.
func (w *core) requestSize(id string) int {
	record, err := w.desk.Get(id)
	if err != nil {
		return 0
	}
	return len(record.JSON())
}

// Limits that keep a test that runs away from taking the machine along.
//
// Assumption: all of them. [WithMaxWorlds], [WithMaxRows] and [WithMaxJournal] switch the first three.
const (
	defaultMaxWorlds  = 10_000
	defaultMaxRows    = 20_000    // of a world
	defaultMaxBytes   = 256 << 20 // of a world
	defaultMaxJournal = 128 << 20 // bytes, of all worlds
	maxTemplateRows   = 600_000   // stored by all templates together, at about a kilobyte and a half each
	maxNamedSnapshots = 100       // of a world
)
