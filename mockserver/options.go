package mockserver

import (
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/country"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Option changes how [New] sets a server up.
type Option func(*config)

type config struct {
	world.Settings
	scenario   string // of the home world
	state      string // file to restore from and to save to; empty for none
	listen     bool
	addr       string
	accessLog  *slog.Logger // nil for none
	coverage   *Coverage    // of all worlds
	rulesFile  []byte       // nil: the built-in rules
	maxHeader  int          // bytes of a request's header
	tls, h2c   bool
	hosts      []string // that it goes by, besides this machine's own names
	problem    error    // of options that name what there is not
	token      string   // of the control surface, for other machines; empty: they have no access
	countries  *wire.Static
	operations []shipping.Operation
}

func defaultConfig() config {
	return config{
		Settings: world.Settings{
			Seed:        1,
			Start:       seed.Epoch,
			MaxWorlds:   world.DefaultMaxWorlds,
			MaxRows:     world.DefaultMaxRows,
			MaxBytes:    world.DefaultMaxBytes,
			Journal:     1024,
			JournalBody: 2 << 10,
			Memory:      &watch.Memory{Most: world.DefaultMaxJournal},
			Parameters:  api.ParameterTable(),
			Logger:      slog.New(slog.DiscardHandler),
		},
		scenario:   "default",
		listen:     true,
		addr:       "127.0.0.1:0",
		operations: shipping.Operations(),
		maxHeader:  64 << 10,
		coverage:   NewCoverage(),
	}
}

// WithSeed chooses the world: the same seed always gives the same ids, times, records and key.
func WithSeed(seed uint64) Option { return func(c *config) { c.Seed = seed } }

// WithAddr listens on a given address, such as "127.0.0.1:4010". Without it a free port of
// 127.0.0.1 is taken.
func WithAddr(addr string) Option { return func(c *config) { c.addr, c.listen = addr, true } }

// WithoutListener opens no socket; reach the server through [World.Transport]. Needed inside a
// testing/synctest bubble.
func WithoutListener() Option { return func(c *config) { c.listen = false } }

// WithVirtualClock makes the world's time stand still at start until [World.Advance] moves it. The
// zero time means the moment where the seeded history ends; an earlier one becomes that moment.
// Without this option the world follows the real time.
func WithVirtualClock(start time.Time) Option {
	return func(c *config) {
		c.Virtual = true
		if start.After(seed.Epoch) {
			c.Start = start
		}
	}
}

// WithLogger logs what the server does. Bodies and keys are never logged. Without it nothing is.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) {
		if logger != nil {
			c.Logger = logger
		}
	}
}

// WithAssumptions edits the choices made where the specification leaves a point open:
//
//	mockserver.New(mockserver.WithAssumptions(func(a *mockserver.Assumptions) { a.PerPageCap = 50 }))
func WithAssumptions(edit func(*Assumptions)) Option {
	return func(c *config) {
		a := Assumptions(c.Assume)
		edit(&a)
		c.Assume = world.Assumptions(a)
	}
}

// WithDeliveryTargets lets webhook notifications leave this machine. Without it only loopback
// targets are delivered to, and others are logged as refused.
func WithDeliveryTargets() Option { return func(c *config) { c.Assume.DeliverAnywhere = true } }

// WithDeliveryTransport sends webhook notifications through a transport of the caller's, for a
// receiver in the same process and for testing/synctest. Targets are checked all the same.
func WithDeliveryTransport(transport http.RoundTripper) Option {
	return func(c *config) { c.Deliver = transport }
}

// WithMaxBody limits request bodies to that many bytes; a longer one is answered with 413, and so is one
// whose lists hold more than an element for each 256 of them (and more than 4,096).
func WithMaxBody(bytes int64) Option { return func(c *config) { c.Assume.MaxBody = bytes } }

// WithOperations serves another operation table than [shipping.Operations], for a service whose
// provisional routes are known to be others. Operations that the server does not know are refused
// by [Server.Err].
func WithOperations(operations []shipping.Operation) Option {
	return func(c *config) { c.operations = slices.Clone(operations) }
}

// WithComplianceRules replaces the rules that say which forms a consignment needs, given as JSON in
// the format of the built-in ones. What is wrong with them, [Server.Err] names all at once.
func WithComplianceRules(rules []byte) Option {
	return func(c *config) { c.rulesFile = slices.Clone(rules) }
}

// WithScenario makes the home world one of a scenario, such as "rows10000000" or "lowfunds-seed7". The
// words are those of [Scenarios]; what is wrong with them, [Server.Err] says.
func WithScenario(scenario string) Option { return func(c *config) { c.scenario = scenario } }

// prepare makes what the worlds share. The built-in rules are read when the first analysis asks for them.
func (c *config) prepare() error {
	return errors.Join(c.problem, c.prepareRules())
}

func (c *config) prepareRules() error {
	c.countries = wire.NewStatic(wire.Succeed(nil, "Countries retrieved successfully", country.JSON()).Body)
	if c.rulesFile == nil {
		logger := c.Logger
		c.Rules = sync.OnceValue(func() *compliance.Rules {
			rules, err := compliance.Default()
			if err != nil { // its own test reads them too
				logger.Error("the built-in compliance rules cannot be read", "error", err)
				return new(compliance.Rules)
			}
			return rules
		})
		return nil
	}
	own, err := compliance.Parse(c.rulesFile)
	if err != nil {
		own, err = new(compliance.Rules), fmt.Errorf("mockserver: the compliance rules: %w", err)
	}
	c.Rules = func() *compliance.Rules { return own }
	return err
}

// errorLog is where net/http reports broken connections.
func (c *config) errorLog() *log.Logger {
	return slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug)
}

// WithAccessLog logs every request to the service once its answer is ready: method, path, status (0 for a
// connection that is dropped), duration on the machine's clock, world, request_id, and where there is one the
// operation, the fault that struck and why the request was refused. Keys, queries and bodies are never logged. The
// world's name is the part of its key that its user chose, and no secret; of the home world's key it says nothing.
// Without it nothing is, and requests below /_mock/ never are.
func WithAccessLog(logger *slog.Logger) Option { return func(c *config) { c.accessLog = logger } }

// WithJournal sets how many calls a world remembers, and how many bytes of their bodies. The default
// is 1,024 calls with 2 KiB of each body; 0 calls remembers none.
func WithJournal(calls, bodyBytes int) Option {
	return func(c *config) { c.Journal, c.JournalBody = max(0, calls), max(0, bodyBytes) }
}

// WithMaxWorlds limits how many worlds are open at once; a further one is refused. The default is 10,000.
func WithMaxWorlds(n int) Option { return func(c *config) { c.MaxWorlds = max(1, n) } }

// WithMaxRows limits how many records a world stores beside those that it began with: regulatory requests,
// entries of the ledger, webhooks, rates. A further one is refused. The default is 20,000: as requests,
// which are the largest, they take some 200 MB. What a scenario brings along does not count.
func WithMaxRows(n int) Option { return func(c *config) { c.MaxRows = max(0, n) } }

// WithMaxBytes limits how much memory the regulatory requests and webhooks of a world take, together with those of
// the snapshots that it keeps by name, as far as it can be told from their JSON. A change that would take more is
// refused. The default is 256 MiB. What a scenario brings along does not count.
func WithMaxBytes(bytes int64) Option { return func(c *config) { c.MaxBytes = max(0, bytes) } }

// WithMaxJournal limits how much memory the journals of all worlds take together. Beyond it nothing is refused:
// a world goes on writing over its oldest calls, fewer than [WithJournal] says, and remembers less of their
// bodies, until it is reset or others are closed. GET /_mock/journal says so. The default is 128 MiB.
func WithMaxJournal(bytes int64) Option { return func(c *config) { c.Memory.Most = max(0, bytes) } }

// WithState restores the worlds of a file when the server starts, if the file exists, and saves them to it on
// [Server.Shutdown]. A file that cannot be used is left as it is, and [Server.Err] returns why. Until the server is
// closed no other server can use the file: it is locked with a file beside it, whose name ends in ".lock".
func WithState(path string) Option { return func(c *config) { c.state = path } }
