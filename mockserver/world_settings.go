package mockserver

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
)

// settings are what the worlds of a server have in common.
type settings struct {
	seed        uint64
	virtual     bool
	start       time.Time // of a virtual clock
	assume      assumptions
	maxWorlds   int
	maxRows     int                             // stored by a world, beside those it began with
	maxBytes    int64                           // of memory of a world
	journal     int                             // calls remembered
	journalBody int                             // bytes remembered of a body
	memory      *watch.Memory                   // of all journals
	parameters  func(operation string) []string // query parameters that the specification lists
	observers   []watch.Observer                // of every exchange, behind the journal and lint of its world
	rules       func() *compliance.Rules
	deliver     http.RoundTripper // of every world's notifications
	logger      *slog.Logger
	facade      func(*core) any // makes what the users of the server hold of a world
	located     func(*core)     // is called once the address of a world is known
}
