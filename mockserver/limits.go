package mockserver

import (
	"errors"
	"fmt"
)

// Limits that keep a test that runs away from taking the machine along.
//
// Assumption: all of them. [WithMaxWorlds], [WithMaxRows] and [WithMaxJournal] switch the first three.
const (
	defaultMaxWorlds   = 10_000
	defaultMaxRows     = 20_000    // of a world
	defaultMaxJournal  = 128 << 20 // bytes, of all worlds
	maxTemplateRows    = 600_000   // stored by all templates together, at about a kilobyte and a half each
	maxNamedSnapshots  = 100       // of a world
	maxFaultRules      = 1_000     // of a world
	fewestJournalCalls = 8         // of a world, however little room there is
)

// WithMaxWorlds limits how many worlds are open at once; a further one is refused. The default is 10,000.
func WithMaxWorlds(n int) Option { return func(c *config) { c.maxWorlds = max(1, n) } }

// WithMaxRows limits how many records a world stores beside those that it began with: regulatory requests,
// entries of the ledger, webhooks, rates. A further one is refused. The default is 20,000: as requests,
// which are the largest, they take some 200 MB. What a scenario brings along does not count.
func WithMaxRows(n int) Option { return func(c *config) { c.maxRows = max(0, n) } }

// WithMaxJournal limits how much memory the journals of all worlds take together. Beyond it nothing is refused:
// a world goes on writing over its oldest calls, fewer than [WithJournal] says, and remembers less of their
// bodies, until it is reset or others are closed. GET /_mock/calls says so. The default is 128 MiB.
func WithMaxJournal(bytes int64) Option { return func(c *config) { c.maxJournal = max(0, bytes) } }

// ErrTooManyRows is returned where a world stores as many records as it may.
var ErrTooManyRows = errors.New("the world is full")

// rows counts the records that the world stores. The caller holds the lock.
func (w *World) rows() int {
	return w.desk.Len() + w.ledger.Len() + w.rates.Stored() + len(w.webhooks.all)
}

// room returns nil while the world may store one more record. The caller holds the lock.
func (w *World) room() error {
	most := w.server.config.maxRows
	if w.rows()-w.rowsAtFirst < most {
		return nil
	}
	return fmt.Errorf("%w: it stores %d records beside those that it began with, which is the most: reset it with POST %sworlds/%s/reset or World.Reset, go on in another, or raise -max-rows or WithMaxRows",
		ErrTooManyRows, most, adminPrefix, w.name)
}
