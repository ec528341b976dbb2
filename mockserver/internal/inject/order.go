package inject

import (
	"fmt"
	"slices"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Due are the rules that strike one request, in the order in which they were injected. No two of them exclude each
// other.
type Due []*armed

// Before applies the faults that strike before the operation.
func (d Due) Before(x *wire.Exchange, w World) {
	d.strike(x, w, func(r *armed) bool { return !r.Committed })
}

// After applies the committed faults, after the operation.
func (d Due) After(x *wire.Exchange, w World) {
	d.strike(x, w, func(r *armed) bool { return r.Committed })
}

func (d Due) strike(x *wire.Exchange, w World, chosen func(*armed) bool) {
	for _, r := range d {
		if !chosen(r) {
			continue
		}
		r.struck.Add(1)
		x.Struck = append(x.Struck, wire.Strike{Kind: r.Fault.Kind, Text: r.String()})
		if err := r.effect.strike(x, r.Fault, w); err != nil { // the world was closed or the caller disconnected during a delay
			x.Ending, x.Settled = wire.EndDropped, true
			return
		}
	}
}

// String describes the rule and its fault, for the journal.
func (r *armed) String() string {
	text := fmt.Sprintf("rule %d: %s", r.number, r.Fault.Kind)
	switch {
	case r.Point != "":
		text += " at " + string(r.Point)
	case r.Committed:
		text += " after the change"
	}
	return text
}

// excludes returns why a later rule cannot strike a request that r strikes, or "" if it can. The documentation of
// package fault lists the pairs.
func (r *armed) excludes(later *armed) string {
	a, b := r.effect, later.effect
	switch {
	case a.defers && later.needsOperation():
		return "the operation is then performed without a response"
	case r.prevents() && later.needsOperation():
		return "the operation is then not performed"
	case r.Point != later.Point:
		return r.interrupts(later.Point)
	case r.Point == fault.Generation:
		return "a document fails once"
	case r.Committed && later.prevents():
		return "needs the operation"
	case a.decides && b.decides:
		return "decides the response"
	case a.ends && b.changes:
		return "leaves no response to change"
	case a.changes && b.decides:
		return "changes the response that this one would replace"
	case r.Fault.Kind == later.Fault.Kind && !a.repeats:
		return "does the same"
	default:
		return ""
	}
}

// prevents reports whether the operation is not performed for a request that the rule strikes.
func (r *armed) prevents() bool {
	return !r.Committed && r.Point == "" && (r.effect.decides || r.effect.changes)
}

// needsOperation reports whether the rule can strike only requests that reach their operation.
func (r *armed) needsOperation() bool {
	return r.Committed || r.effect.lists != nil || r.Point != "" && r.Point != fault.Generation
}

// interrupts returns why a purchase that is interrupted at the rule's point does not reach another one.
func (r *armed) interrupts(later fault.Point) string {
	purchase := []fault.Point{fault.BeforeCharge, fault.AfterCharge, fault.BeforeReply}
	from, to := slices.Index(purchase, r.Point), slices.Index(purchase, later)
	if from < 0 || to < from {
		return ""
	}
	return "the purchase then ends at " + string(r.Point)
}
