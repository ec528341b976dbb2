package regulatory

import (
	"bytes"
	"slices"
)

// Change is a request that differs between two snapshots. Before is nil if the request did not exist, and After is nil
// if it no longer exists.
type Change struct{ Before, After *Record }

// Since returns the requests that differ from those of another snapshot, in order of analysis. For two snapshots of one
// desk the cost depends only on the changes between them.
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

// sameRecord reports whether two records have the same JSON. Records that were only postponed share it.
func sameRecord(a, b *Record) bool {
	if a == nil || b == nil || a.encoded == b.encoded {
		return a == b || a != nil && b != nil
	}
	return bytes.Equal(a.JSON(), b.JSON())
}

// number returns the sort key of a change: a removed request sorts before a new request with the same number.
func (c Change) number() int {
	if c.After == nil {
		return 2 * c.Before.number
	}
	return 2*c.After.number + 1
}
