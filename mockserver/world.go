package mockserver

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// epoch is where every seeded history ends. It is fixed, so that a seed always gives the same times.
var epoch = time.Date(2026, time.January, 5, 9, 30, 0, 0, time.UTC)

// world is everything that belongs to one account: its key, its state and its time. Nothing is shared
// between worlds that can change.
type world struct {
	instruments
	key        string
	user       string // USER-<digits>
	accountID  string // storage identifier
	assume     Assumptions
	clock      *clock.Clock
	deliveries *delivery.Dispatcher
	logger     *slog.Logger
	countries  []byte // the whole answer
	err        error  // why the world could not be made

	// mu guards what follows. It is held while a handler reads or changes the world, never while
	// something is read from or written to a connection.
	mu           sync.Mutex
	ids          *ids
	rates        records.List
	webhooks     webhookBook
	transactions map[string]*records.List // by wallet
	shipments    map[string]*shipment
	shipmentIDs  []string                          // in the order of their making
	invoices     map[string]regulatory.Consignment // by URL; never fetched
	invoiceURLs  []string                          // in the order of their making
	ledger       *ledger.Ledger
	desk         *regulatory.Desk
	exchange     map[string]shipping.Amount // units of a currency for one US dollar
}

// newWorld makes and seeds a world.
func newWorld(c *config) *world {
	w := &world{
		ids:          newIDs(c.seed),
		assume:       c.assume,
		clock:        clock.Real(epoch),
		transactions: map[string]*records.List{},
		shipments:    map[string]*shipment{},
		invoices:     map[string]regulatory.Consignment{},
		ledger:       ledger.New(),
		logger:       c.logger,
		countries:    c.countries,
	}
	if c.virtual {
		w.clock = clock.Virtual(c.start)
	}
	w.key = "sk_test_" + w.ids.alphanumerics(32)
	w.instruments = newInstruments(c, c.seed, w.key)
	w.user = w.ids.numbered("USER")
	w.accountID = w.ids.storage()
	w.deliveries = delivery.New(delivery.Config{
		Secret:    w.key,
		Policy:    w.assume.deliveryPolicy(),
		Anywhere:  w.assume.DeliverAnywhere,
		Transport: c.deliver,
		Now:       w.clock.Now,
		After:     w.clock.After,
	})
	w.err = w.seed()
	w.openDesk(c)
	return w
}

func (w *world) close() {
	w.clock.Stop()
	w.deliveries.Close()
}

// check returns which invariants do not hold. The caller has the lock.
func (w *world) check() error {
	return errors.Join(w.ledger.Check(), w.desk.Check())
}

// rule is the refusal of a request that breaks a rule of the specification.
func (w *world) rule(message string) reply {
	return refused(w.assume.ruleFailure(), codeInvalid, message)
}

// Advance moves a virtual clock forward and returns what fell due on the way, in order. It fails on a
// server that was made without [WithVirtualClock].
func (s *Server) Advance(d time.Duration) ([]Fired, error) {
	fired, err := s.home.clock.Advance(d)
	if errors.Is(err, clock.ErrReal) {
		return nil, ErrRealClock
	}
	out := make([]Fired, len(fired))
	for i, f := range fired {
		out[i] = Fired(f)
	}
	return out, err
}

// ErrRealClock is returned by [Server.Advance] on a server that follows the real time.
var ErrRealClock = errors.New("mockserver: the clock follows the real time; make the server with WithVirtualClock, or start the command with -clock virtual")

// Fired is something that fell due while the clock was advanced.
type Fired struct {
	Due   time.Time `json:"due"`
	Label string    `json:"label"`
}

// Waiting returns how many things wait for their time on the world's clock: documents under
// generation, deliveries to be tried again, delayed answers.
func (s *Server) Waiting() int { return s.home.clock.Waiting() }

// Now returns the time in the world.
func (s *Server) Now() time.Time { return s.home.clock.Now() }
