package regulatory

import (
	"bytes"
	"slices"
)

// Change is a request that differs between two moments: nil before it was analyzed, and nil after what analyzed it was
// undone.
type Change struct{ Before, After *Record }

// Since returns the requests that differ from what a desk kept at another moment, in the order of their analysis. Two
// snapshots of one desk cost what has changed between them.
func (now Requests) Since(then Requests) []Change {
	var changes []Change
	for id := range now.kept.records.Differing(&then.kept.records) {
		var c Change
		c.Before, _ = then.kept.records.Get(id)
		c.After, _ = now.kept.records.Get(id)
		if !sameRecord(c.Before, c.After) {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return a.number() - b.number() })
	return changes
}

// sameRecord reports whether two records are served as the same JSON. Records that were only postponed share it.
func sameRecord(a, b *Record) bool {
	if a == nil || b == nil || a.encoded == b.encoded {
		return a == b || a != nil && b != nil
	}
	return bytes.Equal(a.JSON(), b.JSON())
}

// number returns twice the place of the request, so that what is gone stands before what took its place.
func (c Change) number() int {
	if c.After == nil {
		return 2 * c.Before.number
	}
	return 2*c.After.number + 1
}
