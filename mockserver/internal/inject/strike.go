package inject

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// World is what faults need of a world.
type World interface {
	Now() time.Time
	Delay(x *wire.Exchange, d time.Duration, label string) error // waits for d, or returns an error
	InsertRows(operation string, query url.Values, rows int)     // at the head of a list
	RemoveRows(operation string, rows int)                       // from the head of a list
}

// Matches are the rules that strike one request, in the order in which they were added. No two of them exclude each
// other.
type Matches []*rule

// Before applies the faults that strike before the operation, and those at a point.
func (m Matches) Before(x *wire.Exchange, w World) { m.strike(x, w, false) }

// After applies the committed faults, after the operation.
func (m Matches) After(x *wire.Exchange, w World) { m.strike(x, w, true) }

func (m Matches) strike(x *wire.Exchange, w World, committed bool) {
	for _, r := range m {
		if r.Committed != committed {
			continue
		}
		r.count()
		x.Struck = append(x.Struck, wire.Strike{Kind: r.Fault.Kind, Text: r.String()})
		if err := r.effect.strike(x, r.Fault, w); err != nil { // the world was closed or the caller disconnected during a delay
			x.Ending, x.Settled = wire.EndDropped, true
			return
		}
	}
}

// count counts a request that the rule strikes.
func (r *rule) count() {
	r.all.mu.Lock()
	defer r.all.mu.Unlock()
	r.Struck++
	r.all.changes++
}

// String describes the rule and its fault, for the journal.
func (r *rule) String() string {
	text := fmt.Sprintf("rule %d: %s", r.Number, r.Fault.Kind)
	switch {
	case r.Point != "":
		text += " at " + string(r.Point)
	case r.Committed:
		text += " after the change"
	}
	return text
}

// excludes reports whether a later rule cannot strike a request that r strikes. The documentation of package fault
// lists the pairs.
func (r *rule) excludes(later *rule) bool {
	a, b := r.effect, later.effect
	return r.prevents() && (later.Committed || b.lists != nil) || r.Committed && later.prevents() ||
		a.decides && b.decides || a.ends && b.changes || a.changes && b.decides ||
		r.Fault.Kind == later.Fault.Kind && !a.repeats
}

// prevents reports whether the operation is not performed for a request that the rule strikes.
func (r *rule) prevents() bool {
	return !r.Committed && r.Point == "" && (r.effect.decides || r.effect.changes)
}

// Interruption is the error of an operation that was interrupted at a point.
type Interruption struct {
	Matches
	text string
}

// Error returns the message of the response, if a response is sent.
func (i *Interruption) Error() string { return i.text }

// Reply returns the response, if one is sent.
func (i *Interruption) Reply() wire.Reply {
	return wire.Refused(http.StatusInternalServerError, wire.CodeInterrupted, i.text)
}

var errGeneration = errors.New("the generator failed (injected)")

// At returns an error if a rule strikes a request at its point: an [*Interruption], or the failure of a document.
func (b *Rules) At(request Request) error {
	matches := b.Match(request)
	switch {
	case len(matches) == 0:
		return nil
	case request.Point == fault.Generation:
		matches[0].count() // a rule at this point has no fault
		return errGeneration
	default:
		return &Interruption{matches, fmt.Sprintf("interrupted at %s by injected fault %d", request.Point, matches[0].Number)}
	}
}
