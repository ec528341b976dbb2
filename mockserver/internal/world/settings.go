package world

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
)

// Settings are what the worlds of a server have in common.
type Settings struct {
	Seed        uint64
	Virtual     bool
	Start       time.Time // of a virtual clock
	Assume      Assumptions
	MaxWorlds   int
	MaxRows     int                             // stored by a world, beside those it began with
	MaxBytes    int64                           // of memory of a world
	Journal     int                             // calls remembered
	JournalBody int                             // bytes remembered of a body
	Memory      *watch.Memory                   // of all journals
	Parameters  func(operation string) []string // query parameters that the specification lists
	Observers   []watch.Observer                // of every exchange, behind the journal and lint of its world
	Rules       func() *compliance.Rules
	Deliver     http.RoundTripper // of every world's notifications
	Logger      *slog.Logger
	Facade      func(*World) any // makes what the users of the server hold of a world
	Located     func(*World)     // is called once the address of a world is known
}
