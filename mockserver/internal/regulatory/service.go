// Package regulatory implements regulatory document requests: a [Service] analyzes a shipment or
// an invoice into a priced draft, edits it, sells the documents once, and generates them over
// time.
//
// The specification's state machine is one table, in states.go. The service gets everything that it needs from
// the world (rules, money, time, look-ups) with [Config], and does not depend on HTTP. It takes no locks: its callers
// hold the world's lock, and so does the scheduler when it calls back. Its errors are of type [*Refusal].
package regulatory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
)

// Config holds the dependencies of a service. All functions are required.
type Config struct {
	// Rules returns the rules that select the documents of a consignment, always the same. It is called on
	// first use, so that a server without analyses does not read them.
	Rules func() *compliance.Rules
	// Ledger holds the wallets. The default of a request is the first.
	Ledger *ledger.Ledger
	// ExchangeRates are how many units of a currency a US dollar buys, at analyze time.
	ExchangeRates map[string]shipping.Amount
	// Goods returns the goods of a shipment, or of a commercial invoice, whose URL is never fetched.
	//
	// Assumption: analysis fails for a URL that Goods does not know. To switch, return goods for every URL.
	Goods func(AnalyzeInput) (Consignment, bool)
	// Now returns the world's time.
	Now func() time.Time
	// After calls fn later, never before it returns, with the world's lock held.
	After func(d time.Duration, label string, fn func())
	// NewID returns a unique identifier: NewID("RD") is RD-<16 letters and digits>.
	// The service uses RD (requests), IT (line items) and TR (transactions).
	NewID func(prefix string) string
	// Charged is called with each charge and its record.
	Charged func(entry ledger.Entry, record *Record)
	// At is called at each [fault.Point] with the operation and its subject, and returns an error if a fault strikes
	// there. A purchase returns the error unchanged, so that the server can drop the connection; the error at
	// [fault.Generation] fails the attempt.
	At    func(point fault.Point, operation, about string) error
	Times Times
}

// Times are how long the states of a request last.
//
// Assumption: all of them; see Time of the dialect.
type Times struct {
	Purchasing, Evidence, DraftLife time.Duration // 0: not shown; submitted by hand; without end
	Generation                      float64       // multiplies the times in the compliance rules
}

// Service keeps the requests of one world. [New] returns one.
type Service struct {
	config  Config
	stored  int // how often a record was stored
	records map[string]*Record
	order   []string // request ids, oldest first
	broken  []error  // violated invariants, for Check
}

func New(config Config) *Service {
	return &Service{config: config, records: map[string]*Record{}}
}

// Get returns a request, or a [*Refusal] with [CodeNotFound].
//
// Specification: GET /request/:request_id.
func (d *Service) Get(requestID string) (*Record, error) {
	if record, known := d.records[requestID]; known {
		return record, nil
	}
	next := "use the request_id in the response of analyze"
	if strings.HasPrefix(requestID, "SH-") {
		next = "that is the id of a shipment: analyze the shipment, and use the request_id in the response"
	}
	return nil, notFound("regulatory document request", requestID, next)
}

// CheckExpired returns a [*Refusal] with [CodeExpired] if a request is a draft that is older than its life.
//
// Assumption: a draft does not expire; see [Times].
func (d *Service) CheckExpired(r *Record) error {
	life := d.config.Times.DraftLife
	if life <= 0 || r.Status != StateDraft || d.config.Now().Sub(r.CreatedAt.Time) < life {
		return nil
	}
	return refuse(CodeExpired, "assumption: a draft expires after time.draft_life", "request %s has expired: it was "+
		"analyzed more than %s ago; nothing was charged; analyze again", r.RequestID, life)
}

func (d *Service) open(requestID string, trigger Trigger) (*Record, error) {
	record, err := d.Get(requestID)
	if err != nil {
		return nil, err
	}
	if err := d.CheckExpired(record); err != nil {
		return nil, err
	}
	_, err = allow(record, trigger)
	return record, err
}

func (d *Service) Len() int { return len(d.order) }

// Records returns every request, oldest first. The caller may change the slice.
func (d *Service) Records() []*Record {
	records := make([]*Record, len(d.order))
	for i, id := range d.order {
		records[i] = d.records[id]
	}
	return records
}

// Check returns nil, or an error that names every violated invariant: each purchased request
// is paid by exactly one debit of its amount, other requests are not paid, a request is completed
// exactly if all its documents are generated, and every request can be encoded.
func (d *Service) Check(books *ledger.Ledger) error {
	broken := slices.Clone(d.broken)
	for _, r := range d.Records() {
		if _, err := r.encode(); err != nil {
			broken = append(broken, fmt.Errorf("request %s cannot be encoded: %w", r.RequestID, err))
		}
		entry, paid := books.Debited(r.RequestID)
		switch purchased := r.TransactionID != ""; {
		case purchased != paid:
			broken = append(broken, fmt.Errorf("request %s: purchased %v, paid in the ledger %v", r.RequestID, purchased, paid))
		case paid && (!entry.Amount.Equal(r.ChargedAmount) || entry.ID != r.TransactionID || entry.Wallet != r.Wallet):
			broken = append(broken, fmt.Errorf("request %s has %s by %s of %s, but the ledger has %s by %s of %s", r.RequestID,
				r.ChargedAmount, r.TransactionID, r.Wallet, entry.Amount, entry.ID, entry.Wallet))
		}
		unfinished := slices.ContainsFunc(r.Documents, func(doc Document) bool { return doc.Status != DocumentGenerated })
		if complete := len(r.Documents) > 0 && !unfinished; complete != (r.Status == StateCompleted) {
			broken = append(broken, fmt.Errorf("request %s is %s; all its documents are generated: %v", r.RequestID, r.Status,
				complete))
		}
	}
	return errors.Join(broken...)
}

// store sets the request's record to next, with its timestamps, and returns it.
func (d *Service) store(next *Record) *Record {
	next.UpdatedAt = jsontext.Timestamp{Time: d.config.Now().UTC()}
	if d.records[next.RequestID] == nil {
		next.CreatedAt = next.UpdatedAt
		d.order = append(d.order, next.RequestID)
	}
	next.encodeOnce()
	d.records[next.RequestID] = next
	d.stored++
	return next
}

// fire applies a trigger of the table to a record that is being changed. The service only fires triggers that have
// a row; Check reports an error if not.
func (d *Service) fire(next *Record, trigger Trigger) {
	to, err := allow(next, trigger)
	if err != nil {
		d.broken = append(d.broken, err)
		return
	}
	next.Status = to
}

// Stored returns how often the service has stored a new or changed request.
func (d *Service) Stored() int { return d.stored }
