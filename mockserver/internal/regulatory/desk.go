// Package regulatory is the desk that keeps regulatory document requests: it analyzes a shipment or
// an invoice into a priced draft, takes edits, sells the documents once, and generates them over
// time.
//
// The specification's state machine is one table, [Transitions]. Everything that the desk needs from
// the world around it (rules, money, time, look-ups) comes in by [Config]; the desk knows nothing of
// HTTP. It takes no locks: whoever calls it holds the world's, and so does the scheduler when it
// calls back. Errors of the desk are of type [*Refusal].
package regulatory

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/cow"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
)

// Config gives a desk what it works with. Every field without "may be nil" is required.
type Config struct {
	// Rules returns what says which documents a consignment needs: always the same. It is asked when it
	// is needed, so that a server that analyzes nothing need not read them.
	Rules func() *compliance.Rules
	// Ledger holds the wallets. A request that names none is charged to the first.
	Ledger *ledger.Ledger
	// Rate returns how much of one currency a unit of another buys. It is asked at analyze time only.
	Rate func(from, to string) (shipping.Amount, error)
	// Shipment returns the goods of a shipment by its id.
	Shipment func(id string) (Consignment, bool)
	// Invoice returns the goods of a commercial invoice by its URL, which is never fetched.
	//
	// Assumption: analysis fails for a URL that Invoice does not know. To switch, answer for every URL.
	Invoice func(url string) (Consignment, bool)
	// Now is the world's time.
	Now func() time.Time
	// After calls fn later, never before it returns, with the world's lock held.
	After func(d time.Duration, label string, fn func())
	// NewID returns an identifier that nothing else has: NewID("RD") is RD-<16 letters and digits>.
	// The desk asks for RD (requests), IT (line items) and TR (transactions).
	NewID func(prefix string) string
	// Charged hears of each charge as it is made, with the record that it belongs to. It may be nil.
	Charged func(entry ledger.Entry, record *Record)
	// Room is asked before a request is opened; its error becomes a refusal with [CodeFull]. Nil is no limit.
	Room func() error
	// Settings are how the desk behaves where the specification leaves it open.
	Settings Settings
	// Hooks are points where a test makes things fail.
	Hooks Hooks
}

// Settings are the desk's assumptions that have a number or a switch. In the zero value everything
// happens at once; [DefaultSettings] is what a server starts with.
type Settings struct {
	// Purchasing is how long a purchased request stays in "purchasing", which the specification calls
	// transient. At 0 the purchase answers when the request is already processing.
	Purchasing time.Duration
	// GenerationScale multiplies how long each form takes to generate: 1 is the form's own time, 0
	// none. A negative scale counts as 0.
	GenerationScale float64
	// EvidenceAfter is how long the third party of a manual document takes to bring its evidence.
	// At 0 it never comes by itself and has to be given with [Desk.SubmitEvidence].
	EvidenceAfter time.Duration
	// NoOther refuses the profile of a form that no rule matches (OTHER). Without it, writing such a
	// profile is how a user asks for the form: else a document type of the specification could never
	// be had.
	NoOther bool
	// RequireProfiles refuses the purchase of a form whose profile lacks a required field.
	RequireProfiles bool
}

// DefaultSettings are: no time in purchasing, generation in each form's own time, evidence only when
// it is given, OTHER by its profile, forms with whatever their profiles hold.
func DefaultSettings() Settings { return Settings{GenerationScale: 1} }

// Hooks are called at named points; each may be nil. An error from one of the first three is returned
// by the purchase unchanged, for a server that then drops the connection.
type Hooks struct {
	// BeforeCharge runs when every check has passed but that of the funds. After its error nothing
	// has happened and the request is still a draft.
	BeforeCharge func(requestID string) error
	// AfterCharge runs when the wallet is charged and the request is purchasing. After its error the
	// service recovers by itself: the request goes on to processing by the scheduler.
	AfterCharge func(requestID string) error
	// BeforeReply runs when the purchase is done. After its error only the answer is lost.
	BeforeReply func(requestID string) error
	// Generate runs at the end of each attempt to generate a document; its error fails the attempt.
	Generate func(requestID, documentType string, attempt int) error
}

// Consignment is what a look-up knows about a shipment or an invoice.
type Consignment struct {
	// Items may lack their ids, which the desk then gives.
	Items     []LineItem
	Addresses Addresses
	// Shipping is used for invoices only.
	Shipping Shipping
}

// Desk keeps the requests of one world. Make one with [NewDesk].
type Desk struct {
	config      Config
	transitions []Transition
	stored      int // requests put into records, new or changed
	requests
}

// Requests are what a desk keeps, as it stood when [Desk.Snapshot] was called. They never change.
type Requests struct{ kept requests }

type requests struct {
	records cow.Map[string, *Record]
	order   cow.List[string] // request ids, oldest first
	broken  []error          // what must never happen, for Check
}

// NewDesk returns a desk without requests.
func NewDesk(config Config) *Desk {
	return &Desk{config: config, transitions: Transitions()}
}

// Get returns a request, or a [*Refusal] with [CodeNotFound].
//
// Specification: GET /request/:request_id.
func (d *Desk) Get(requestID string) (*Record, error) {
	record, refusal := d.find(requestID)
	if refusal != nil {
		return nil, refusal
	}
	return record, nil
}

// Len returns the number of requests.
func (d *Desk) Len() int { return d.order.Len() }

// Records returns every request, oldest first. The slice is the caller's own.
func (d *Desk) Records() []*Record {
	records := make([]*Record, d.order.Len())
	for i, id := range d.order.All() {
		records[i], _ = d.records.Get(id)
	}
	return records
}

func (r *requests) copied() requests {
	return requests{records: r.records.Clone(), order: r.order.Clone(), broken: slices.Clip(r.broken)}
}

// Snapshot returns the requests as they stand now, for any number of desks to [Desk.Resume]. It costs
// what has changed since the last one: records never change, so everyone shares them.
func (d *Desk) Snapshot() Requests {
	return Requests{d.copied()}
}

// Resume makes a new desk go on with the requests of another, with the ledger, clock and ids that it has
// itself. What was scheduled there is scheduled here for the same time plus shift; what has fallen due
// meanwhile, for at once.
func (d *Desk) Resume(from Requests, shift time.Duration) {
	d.requests = from.kept.copied()
	for _, r := range d.Records() {
		d.resume(r, shift)
	}
}

// resume schedules what is still to happen to a record that comes from another desk.
func (d *Desk) resume(r *Record, shift time.Duration) {
	if !r.pending() {
		return
	}
	if shift != 0 {
		r = r.postponed(shift)
		d.records.Set(r.RequestID, r)
	}
	d.schedule(r)
}

// Check returns nil, or an error that names every invariant that does not hold: each purchased request
// is paid for by exactly one debit of its amount, no other is paid for, and a request is completed
// exactly when all its documents are generated; and every request can be encoded.
func (d *Desk) Check() error {
	broken := slices.Clone(d.broken)
	for _, r := range d.Records() {
		if _, err := r.encode(); err != nil {
			broken = append(broken, fmt.Errorf("request %s cannot be encoded: %w", r.RequestID, err))
		}
		entry, paid := d.config.Ledger.Debited(r.RequestID)
		switch purchased := r.TransactionID != ""; {
		case purchased != paid:
			broken = append(broken, fmt.Errorf("request %s is purchased: %v; paid for in the ledger: %v", r.RequestID, purchased, paid))
		case paid && (!entry.Amount.Equal(r.ChargedAmount) || entry.ID != r.TransactionID || entry.Wallet != r.Wallet):
			broken = append(broken, fmt.Errorf("request %s says %s by %s of %s, the ledger %s by %s of %s", r.RequestID,
				r.ChargedAmount, r.TransactionID, r.Wallet, entry.Amount, entry.ID, entry.Wallet))
		}
		unfinished := slices.ContainsFunc(r.Documents, func(doc Document) bool { return doc.Status != DocumentGenerated })
		if complete := len(r.Documents) > 0 && !unfinished; complete != (r.Status == StateCompleted) {
			broken = append(broken, fmt.Errorf("request %s is %s and has all documents: %v", r.RequestID, r.Status, complete))
		}
	}
	return errors.Join(broken...)
}

func (d *Desk) find(requestID string) (*Record, *Refusal) {
	if record, known := d.records.Get(requestID); known {
		return record, nil
	}
	return nil, notFound("regulatory document request", requestID, "use the request_id that analyze answered with")
}

// store makes next the request's record, stamped, and returns it.
func (d *Desk) store(next *Record) *Record {
	next.UpdatedAt = Timestamp{d.config.Now().UTC()}
	earlier, known := d.records.Get(next.RequestID)
	if !known {
		next.CreatedAt = next.UpdatedAt
		next.number = d.order.Len()
	}
	next.happened(earlier)
	next.encoded = new(encoded)
	if !known {
		d.order.Append(next.RequestID)
	}
	d.records.Set(next.RequestID, next)
	d.stored++
	return next
}

// fire moves a record that is being changed along the table. The desk only fires triggers that have
// a row; Check tells should it ever be wrong.
func (d *Desk) fire(next *Record, trigger Trigger) {
	to, refusal := d.allow(next, trigger)
	if refusal != nil {
		d.broken = append(d.broken, refusal)
		return
	}
	next.Status = to
}
