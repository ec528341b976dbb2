package world

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
)

// Settings are shared by the worlds of a server.
type Settings struct {
	Seed        uint64
	Virtual     bool
	Start       time.Time // of a virtual clock
	Dialect     dialect.Dialect
	OneWorld    bool                              // every key but that of the home world is refused
	Anywhere    bool                              // notifications are sent to other machines
	Journal     int                               // number of calls recorded
	JournalBody int                               // bytes recorded of a body
	Parameters  func(operation string) []string   // the query parameters of an operation in the specification
	BodyFields  func(operation string) []string   // the members of the body of an operation; nil if it accepts every name
	Rules       func() (*compliance.Rules, error) // read at the first analysis
	Deliver     http.RoundTripper                 // for the notifications of every world
	Logger      *slog.Logger
}

// ErrTooManyRows is returned if the server has too many records.
var ErrTooManyRows = errors.New("the world is full")

// Limits that stop a runaway test.
const (
	maxWorlds  = 10_000
	maxRecords = 300_000 // of a world
)

// room returns an error if the world may not store another record. The caller holds the lock.
func (w *World) room() error {
	rows := w.Account.Ledger.Len() + len(w.Account.Webhooks.All) + w.Regulatory.Len() +
		len(w.Account.Shipments) + len(w.Account.Invoices)
	for _, list := range w.Account.Lists {
		rows += list.Stored()
	}
	if rows >= maxRecords {
		return fmt.Errorf("%w: it has %d records, which is the limit: reset it", ErrTooManyRows, rows)
	}
	return nil
}
