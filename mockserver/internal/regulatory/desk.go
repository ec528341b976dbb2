// Package regulatory implements regulatory document requests: a [Desk] analyzes a shipment or
// an invoice into a priced draft, edits it, sells the documents once, and generates them over
// time.
//
// The specification's state machine is one table, [Transitions]. The desk gets everything that it needs from
// the world (rules, money, time, look-ups) with [Config], and does not depend on HTTP. It takes no locks: its callers
// hold the world's lock, and so does the scheduler when it
// calls back. Errors of the desk are of type [*Refusal].
package regulatory

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
)

// Config holds the dependencies of a desk. Every field without "may be nil" is required.
type Config struct {
	// Rules returns the rules that select the documents of a consignment, always the same. It is called on
	// first use, so that a server without analyses does not read them.
	Rules func() *compliance.Rules
	// Ledger holds the wallets. The default of a request is the first.
	Ledger *ledger.Ledger
	// Rate returns how much of one currency a unit of another buys. It is called at analyze time only.
	Rate func(from, to string) (shipping.Amount, error)
	// Shipment returns the goods of a shipment by its id.
	Shipment func(id string) (Consignment, bool)
	// Invoice returns the goods of a commercial invoice by its URL, which is never fetched.
	//
	// Assumption: analysis fails for a URL that Invoice does not know. To switch, return goods for every URL.
	Invoice func(url string) (Consignment, bool)
	// Now returns the world's time.
	Now func() time.Time
	// After calls fn later, never before it returns, with the world's lock held.
	After func(d time.Duration, label string, fn func())
	// NewID returns a unique identifier: NewID("RD") is RD-<16 letters and digits>.
	// The desk uses RD (requests), IT (line items) and TR (transactions).
	NewID func(prefix string) string
	// Charged is called with each charge and its record. It may be nil.
	Charged func(entry ledger.Entry, record *Record)
	// Room is called before a request is opened; its error becomes a refusal with [CodeFull]. Nil means no limit.
	Room func() error
	// Settings are the desk's assumptions.
	Settings Settings
	// Hooks are points at which a test causes failures.
	Hooks Hooks
}

// Configure changes the settings for what happens from now on.
func (d *Desk) Configure(s Settings) { d.config.Settings = s }

// Settings are the desk's assumptions that have a number or a switch. With the zero value everything
// happens at once; [DefaultSettings] returns those of a server.
type Settings struct {
	// Purchasing is how long a purchased request stays in "purchasing", which the specification calls
	// transient. If 0, the request is processing when the purchase returns.
	Purchasing time.Duration
	// GenerationScale multiplies how long each form takes to generate: 1 is the form's time, 0
	// none. A negative scale counts as 0.
	GenerationScale float64
	// EvidenceAfter is how long the third party of a manual document takes to submit its evidence.
	// If 0, evidence is only submitted with [Desk.SubmitEvidence].
	EvidenceAfter time.Duration
	// NoOther refuses the profile of a form that no rule matches (OTHER). By default such a profile adds the form to
	// the draft, because otherwise one document type of the specification could not be purchased.
	NoOther bool
	// RequireProfiles refuses the purchase of a form whose profile lacks a required field.
	RequireProfiles bool
}

// DefaultSettings returns: no time in purchasing, generation in each form's time, evidence only when
// it is submitted, OTHER by its profile, no required profile fields.
func DefaultSettings() Settings { return Settings{GenerationScale: 1} }

// Hooks are called at named points; each may be nil. The purchase returns an error of one of the first three
// unchanged, so that the server can drop the connection.
type Hooks struct {
	// BeforeCharge runs when every check but that of the funds has passed. After its error nothing
	// has changed and the request is still a draft.
	BeforeCharge func(requestID string) error
	// AfterCharge runs when the wallet is charged and the request is purchasing. After its error the
	// service recovers: the scheduler moves the request to processing.
	AfterCharge func(requestID string) error
	// BeforeReply runs when the purchase is done. After its error only the response is lost.
	BeforeReply func(requestID string) error
	// Generate runs at the end of each attempt to generate a document; its error fails the attempt.
	Generate func(requestID, documentType string, attempt int) error
}

// Consignment holds the goods of a shipment or an invoice.
type Consignment struct {
	// Items may have no ids; the desk then adds them.
	Items     []LineItem
	Addresses Addresses
	// Shipping is used for invoices only.
	Shipping Shipping
}

// Desk keeps the requests of one world. [NewDesk] returns one.
type Desk struct {
	config Config
	stored int // how often a record was stored
	requests
}

// Requests are the requests of a desk when [Desk.Snapshot] was called. They are immutable.
type Requests struct{ kept requests }

type requests struct {
	records map[string]*Record
	order   []string // request ids, oldest first
	broken  []error  // violated invariants, for Check
}

// NewDesk returns a desk without requests.
func NewDesk(config Config) *Desk {
	return &Desk{config: config, requests: requests{records: map[string]*Record{}}}
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
func (d *Desk) Len() int { return len(d.order) }

// Records returns every request, oldest first. The caller may change the slice.
func (d *Desk) Records() []*Record {
	records := make([]*Record, len(d.order))
	for i, id := range d.order {
		records[i] = d.records[id]
	}
	return records
}

func (r *requests) copied() requests {
	return requests{records: maps.Clone(r.records), order: slices.Clip(r.order), broken: slices.Clip(r.broken)}
}

// Snapshot returns the current requests, for any number of calls of [Desk.Resume]. It shares the records, which are
// immutable.
func (d *Desk) Snapshot() Requests {
	return Requests{d.copied()}
}

// Resume adds the requests of another desk to a new desk, which has its own ledger, clock and ids. Everything that was
// scheduled there is scheduled here for the same time plus shift, or at once if that time has passed.
func (d *Desk) Resume(from Requests, shift time.Duration) {
	d.requests = from.kept.copied()
	if d.records == nil { // from is the zero value
		d.records = map[string]*Record{}
	}
	for _, r := range d.Records() {
		d.resume(r, shift)
	}
}

// resume schedules the pending changes of a record from another desk.
func (d *Desk) resume(r *Record, shift time.Duration) {
	if !r.pending() {
		return
	}
	if shift != 0 {
		r = r.postponed(shift)
		d.records[r.RequestID] = r
	}
	d.schedule(r)
}

// Check returns nil, or an error that names every violated invariant: each purchased request
// is paid by exactly one debit of its amount, other requests are not paid, a request is completed
// exactly if all its documents are generated, and every request can be encoded.
func (d *Desk) Check() error {
	broken := slices.Clone(d.broken)
	for _, r := range d.Records() {
		if _, err := r.encode(); err != nil {
			broken = append(broken, fmt.Errorf("request %s cannot be encoded: %w", r.RequestID, err))
		}
		entry, paid := d.config.Ledger.Debited(r.RequestID)
		switch purchased := r.TransactionID != ""; {
		case purchased != paid:
			broken = append(broken, fmt.Errorf("request %s: purchased %v, paid in the ledger %v", r.RequestID, purchased, paid))
		case paid && (!entry.Amount.Equal(r.ChargedAmount) || entry.ID != r.TransactionID || entry.Wallet != r.Wallet):
			broken = append(broken, fmt.Errorf("request %s has %s by %s of %s, but the ledger has %s by %s of %s", r.RequestID,
				r.ChargedAmount, r.TransactionID, r.Wallet, entry.Amount, entry.ID, entry.Wallet))
		}
		unfinished := slices.ContainsFunc(r.Documents, func(doc Document) bool { return doc.Status != DocumentGenerated })
		if complete := len(r.Documents) > 0 && !unfinished; complete != (r.Status == StateCompleted) {
			broken = append(broken, fmt.Errorf("request %s is %s, but all documents generated is %v", r.RequestID, r.Status, complete))
		}
	}
	return errors.Join(broken...)
}

func (d *Desk) find(requestID string) (*Record, *Refusal) {
	if record, known := d.records[requestID]; known {
		return record, nil
	}
	next := "use the request_id in the response of analyze"
	if strings.HasPrefix(requestID, "SH-") {
		next = "that is the id of a shipment: analyze the shipment, and use the request_id in the response"
	}
	return nil, notFound("regulatory document request", requestID, next)
}

// store sets the request's record to next, with its timestamps, and returns it.
func (d *Desk) store(next *Record) *Record {
	next.UpdatedAt = Timestamp{d.config.Now().UTC()}
	earlier, known := d.records[next.RequestID]
	if !known {
		next.CreatedAt = next.UpdatedAt
		next.number = len(d.order)
	}
	next.happened(earlier)
	next.encoded = new(encoded)
	if !known {
		d.order = append(d.order, next.RequestID)
	}
	d.records[next.RequestID] = next
	d.stored++
	return next
}

// fire applies a trigger of the table to a record that is being changed. The desk only fires triggers that have
// a row; Check reports an error if not.
func (d *Desk) fire(next *Record, trigger Trigger) {
	to, refusal := allow(next, trigger)
	if refusal != nil {
		d.broken = append(d.broken, refusal)
		return
	}
	next.Status = to
}
