package mockserver

import (
	"log"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Option configures the server that [New] starts.
type Option func(*config)

type config struct {
	world.Settings
	scenario string // of the home world
	listen   bool
	addr     string
	tls      bool
	hosts    []string // that the server accepts besides the names of this machine
	token    string   // opens the control surface to other machines; empty: they have no access
}

func defaultConfig() config {
	return config{
		Settings: world.Settings{
			Seed:        seed.Usual().Seed,
			Start:       seed.Epoch,
			Journal:     1024,
			JournalBody: 2 << 10,
			Limits:      world.Limits{Worlds: 10_000, Records: 400_000, Entries: 32 * 1024, Connections: 4096},
			Records:     new(atomic.Int64),
			Entries:     new(atomic.Int64),
			Parameters:  api.Parameters,
			BodyFields:  api.BodyFields,
			Logger:      slog.New(slog.DiscardHandler),
			FullLogged:  new(atomic.Bool),
		},
		scenario: "default",
		listen:   true,
		addr:     "127.0.0.1:0",
	}
}

// WithSeed sets the random seed: the same seed always gives the same ids, times, records and key.
func WithSeed(seed uint64) Option { return func(c *config) { c.Seed = seed } }

// WithAddr sets the address to listen on, such as "127.0.0.1:4010". The default is a free port of
// 127.0.0.1.
func WithAddr(addr string) Option { return func(c *config) { c.addr, c.listen = addr, true } }

// WithoutListener opens no socket; use [World.Transport] to reach the server. It is required inside a
// testing/synctest bubble.
func WithoutListener() Option { return func(c *config) { c.listen = false } }

// WithVirtualClock starts the world's clock at a time. It moves only with [World.Advance]. The
// zero time, and a time before the end of the seeded history, mean the end of that history. By default the
// world follows the real time.
func WithVirtualClock(start time.Time) Option {
	return func(c *config) {
		c.Virtual = true
		if start.After(seed.Epoch) {
			c.Start = start
		}
	}
}

// WithLogger sets the logger of the server. It also logs every request to the service once its response is ready:
// method, path, status (0 for a dropped connection), duration on the machine's clock, world and request_id, and if
// present the operation, the fault that struck and the reason of a refusal. Requests below /_mock/, keys, queries and
// bodies are never logged. The world's name contains the part of the key that its user chose, which is not a secret;
// for the home world it is "home". By default nothing is logged.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) {
		if logger != nil {
			c.Logger = logger
		}
	}
}

// WithDeliveryTransport sets the transport of webhook notifications, for a receiver in the same process and
// for testing/synctest. The targets of notifications are checked even then.
func WithDeliveryTransport(transport http.RoundTripper) Option {
	return func(c *config) { c.Deliver = transport }
}

// WithOneWorld responds 401 to every key of a world that is not open. The server has one world, the home world, until
// [Server.Open], [Server.NewWorld] or POST /_mock/worlds opens another one. By default the first request with a key
// opens its world, so that parallel tests are isolated.
func WithOneWorld() Option { return func(c *config) { c.OneWorld = true } }

// WithDeliverAnywhere sends notifications to targets on other machines. By default they go to loopback addresses only,
// because test data must not leave the machine.
func WithDeliverAnywhere() Option { return func(c *config) { c.Anywhere = true } }

// WithScenario sets the scenario of the home world. A scenario consists of terms that are joined with hyphens, such as
// "lowfunds-seed7"; the key of a world contains one, too. N stands for a number:
//
//   - default: the seeded world
//   - seedN: the seeded world of another random seed
//   - empty: empty wallets, and nothing else
//   - lowfunds: every wallet holds 1.00 of its currency
//   - rowsN: the first wallet lists N transactions, computed on request
//   - historyN: N payments from the wallets, all stored and in the ledger
//   - shipmentsN: N shipments
//   - instant: documents are generated at the next tick of the clock
//   - capN: pages have at most N records
//   - recent: the seeded history ends at the last 09:30 UTC; without it, at 09:30 UTC on 2026-01-05
//   - virtual, real: time moves only when the world is advanced, or follows the real time
//
// [Server.Err] returns an error if a term is unknown or its number is out of range.
func WithScenario(scenario string) Option { return func(c *config) { c.scenario = scenario } }

// errorLog returns the logger to which net/http reports broken connections.
func (c *config) errorLog() *log.Logger {
	return slog.NewLogLogger(c.Logger.Handler(), slog.LevelDebug)
}

// WithJournal sets how many requests a world records, and how many bytes of each body. The default is 1,024 requests
// with 2 KiB of each body. Of earlier requests, the latest that were refused or struck by a fault stay, too, up to a
// quarter of the number. With 0 requests nothing is recorded.
func WithJournal(calls, bodyBytes int) Option {
	return func(c *config) { c.Journal, c.JournalBody = max(0, calls), max(0, bodyBytes) }
}
