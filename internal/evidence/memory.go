package evidence

import (
	"cmp"
	"time"

	"github.com/shipping-go/shipping/internal/status"
)

// Purchase holds the facts about a purchase before its request is read back.
type Purchase struct {
	Response  Response
	Documents []string // their slugs
	Before    *Record  // the request as it was before the purchase; nil if that is not known
	Sole      bool     // see [Case.Sole]
	// QuietFor is how long the request must read as a draft to count as not charged; 0 means that it never does.
	QuietFor time.Duration
}

// Reading is one reading of the request after its purchase.
type Reading struct {
	Sent   time.Time // when the read was sent; a slow response shows the state of that time
	Record *Record   // nil if the request could not be read
	Status string    // the status of the record as the client reads it, independently of Record
	Means  string    // what the status means by the dialect, such as "expired"; "" if it does not declare it
	Denied bool      // see [Case.Denied]
}

// Memory is what the readings so far have shown. The zero value has no readings.
type Memory struct {
	// DraftSince is when the first read of an unbroken series of drafts was sent; zero if the last record was not a
	// draft. After a refusal, a draft that has expired counts, too.
	DraftSince time.Time

	others    bool // a record listed other documents
	purchased bool // see [Case.Purchased]
}

// Observe returns the memory with one more reading, and the evidence after it.
func (m Memory) Observe(p Purchase, r Reading) (Memory, Case) {
	c := Case{Response: p.Response, State: status.Unread, Documents: NoList, Known: p.Before != nil, Sole: p.Sole,
		Denied: r.Denied}
	shown := r.Record
	if shown == nil {
		return m, c
	}
	since := shown // if the draft is not known, all lists may be new
	if p.Before != nil {
		since = shown.Since(p.Before)
	}
	m.purchased = m.purchased || since.ShowsCharge()
	if shown.Unclear != "" || shown.Draft && r.Status != "draft" { // it shows draft and another status
		m.DraftSince, c.Purchased = time.Time{}, m.purchased
		return m, c
	}
	c.State = status.Of(r.Status).State
	isDraft := c.State == status.Draft || r.Means == "expired" && p.Response == Refusal
	c.OnlyThese = shown.OnlyThese(p.Documents)
	switch {
	case p.Before == nil && isDraft && len(shown.lists) > 0:
		c.Documents = Some
	case p.Before != nil:
		c.AnalysisFailed = p.Before.OnlyAnalyzed() && status.Of(shown.Status).Failed && !shown.Transaction
		c.Documents = since.Compare(p.Documents)
	}
	if m.others && c.Documents == NoList { // a list does not vanish: one of the two records is wrong
		c.Documents = Some
	}
	m.others = m.others || p.Before != nil && (c.Documents == Others || c.Documents == Some)
	bought := c.State&status.PurchasedStates != 0 && c.State != status.Purchasing || r.Means == "generating"
	m.purchased = m.purchased || bought || since.ListsPurchased()
	c.Purchased = m.purchased // a purchase does not vanish: the later record is an older copy
	if !isDraft {
		m.DraftSince = time.Time{}
		return m, c
	}
	m.DraftSince = cmp.Or(m.DraftSince, r.Sent)
	c.Quiet = p.QuietFor > 0 && r.Sent.Sub(m.DraftSince) >= p.QuietFor
	return m, c
}
