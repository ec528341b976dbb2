// Package records holds lists of records as the JSON that they are served as. A record is encoded once, when it is
// first read, because most records are never read. A list can also have any number of older records that are computed
// from their place.
package records

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
)

// List is a list of records. The zero value is an empty list. It is not safe for concurrent use, except that any number
// of goroutines may read and [List.Clone] a list that does not change.
type List struct {
	Past
	stored []func() json.RawMessage // oldest first; a clone shares them until one of the two changes
}

// Past is the part of a list that is older than every stored record, and computed.
type Past struct {
	Total int
	// Record returns the record with the ordinal; the oldest has 0. It returns the same bytes each time.
	Record func(ordinal int) json.RawMessage
}

func (l *List) Len() int { return l.Past.Total + len(l.stored) }

// Stored returns the number of records that are kept in memory.
func (l *List) Stored() int { return len(l.stored) }

func (l *List) Clone() List { return List{l.Past, slices.Clip(l.stored)} }

// Prepend puts a record at the head of the list, which keeps it.
func (l *List) Prepend(record json.RawMessage) {
	l.stored = append(l.stored, func() json.RawMessage { return record })
}

// PrependValue puts the JSON of a value at the head of the list. The value must not change, and its encoding must not
// fail.
func (l *List) PrependValue(value any) {
	l.stored = append(l.stored, sync.OnceValue(func() json.RawMessage { return jsontext.Of(value) }))
}

// RemoveNewest removes the newest record if it is stored.
func (l *List) RemoveNewest() {
	if n := len(l.stored); n > 0 {
		l.stored = slices.Clip(l.stored[:n-1])
	}
}

// Page returns a page, newest first or, if oldestFirst is set, oldest first. Pages are counted from 1. A page past the
// end, and a page or size below 1, is empty. The functions return the records even after the list has changed.
func (l *List) Page(page, perPage int, oldestFirst bool) []func() json.RawMessage {
	total := l.Len()
	// Comparing by division keeps a huge page number from overflowing.
	if page < 1 || perPage < 1 || page-1 > (total-1)/perPage {
		return nil
	}
	first := (page - 1) * perPage
	rows := make([]func() json.RawMessage, min(perPage, total-first))
	for i := range rows {
		ordinal := total - 1 - first - i
		if oldestFirst {
			ordinal = first + i
		}
		rows[i] = l.at(ordinal)
	}
	return rows
}

// at returns the record with an ordinal, counted from the oldest.
func (l *List) at(ordinal int) func() json.RawMessage {
	if ordinal < l.Past.Total {
		record := l.Past.Record
		return func() json.RawMessage { return record(ordinal) }
	}
	return l.stored[ordinal-l.Past.Total]
}
