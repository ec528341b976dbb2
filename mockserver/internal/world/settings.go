package world

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
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

	scenarios []ScenarioWord // made once, not with each world
}
