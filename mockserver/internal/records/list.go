// Package records keeps a list of records as the bytes they are served as, so that a page is put
// together by copying and never encoded a second time. Behind those that are stored a list may have
// any number that are computed from their place in it.
package records

import (
	"slices"
)

// perChunk is how many records share one piece of memory. Finding a page is arithmetic, so the last
// page of ten million records costs what the first one does.
const perChunk = 64

// List is a list of JSON values, newest first. The zero value is an empty list. It is not safe for
// concurrent use; its owner locks. One that was cloned, and not changed since, may be cloned by any
// number of goroutines.
type List struct {
	shared  []run // oldest first, never changed again; each at least twice as long as the next
	before  int   // records in shared
	own     run   // of nobody else
	past    Past
	edition *Edition // nil until somebody asks
}

// run is a sequence of records.
type run struct {
	// chunks run from the oldest records to the newest; every one but the last is full.
	chunks []*chunk
	length int
}

// Edition identifies the contents of a list at one moment: two lists of the same edition hold the same records.
type Edition struct {
	_ byte // memory, so that no two have the same address
}

// Past is the part of a list that is older than every record in it, and computed instead of stored.
type Past struct {
	// Total is how many records there are.
	Total int
	// Append appends the record with the given ordinal, counted from the oldest, which is 0. The same
	// ordinal always gives the same bytes: one JSON value.
	Append func(dst []byte, ordinal int) []byte
}

// chunk holds records the way a page shows them, newest first, each with a comma behind it. A new
// record goes in front of the others, so the text fills its memory from the back.
type chunk struct {
	memory []byte
	// from[i] is how far before the end of memory the text of the i-th oldest record begins.
	from []uint32
}

// Behind returns an empty list whose older records are computed.
func Behind(past Past) List { return List{past: past} }

// Len returns the number of records.
func (l *List) Len() int { return l.past.Total + l.Stored() }

// Stored returns the number of records that are kept in memory.
func (l *List) Stored() int { return l.before + l.own.length }

// Edition returns that of the list as it is now. The next record makes another.
func (l *List) Edition() *Edition {
	if l.edition == nil {
		l.edition = new(Edition)
	}
	return l.edition
}

// Clone returns an equal list, which then changes independently. It costs the same however long the list is: the two
// share their common part.
func (l *List) Clone() List {
	l.freeze()
	l.Edition() // two clones share the encoded records
	return List{shared: l.shared, before: l.before, past: l.past, edition: l.edition}
}

// freeze makes every record ready to be shared. A list that is frozen is only read.
func (l *List) freeze() {
	if l.own.length == 0 {
		return
	}
	top, rest := l.own, l.shared
	// A run is added to one that is not much longer, so that their number stays small.
	for len(rest) > 0 && rest[len(rest)-1].length < 2*top.length {
		last := len(rest) - 1
		top, rest = rest[last].followedBy(&top), rest[:last]
	}
	l.before += l.own.length
	l.own, l.shared = run{}, append(slices.Clip(rest), top)
}

// Prepend puts a record at the head of the list. The bytes must be one JSON value; they are copied.
func (l *List) Prepend(record []byte) {
	l.own.prepend(record)
	l.edition = nil
}

// RemoveNewest removes the newest record if it is stored. Copies of the list keep it.
func (l *List) RemoveNewest() {
	last := len(l.shared) - 1
	switch {
	case l.own.length > 0:
		l.own = l.own.withoutNewest()
	case last < 0:
		return
	case l.shared[last].length == 1:
		l.shared, l.before = slices.Clip(l.shared[:last]), l.before-1
	default:
		l.shared, l.before = append(slices.Clip(l.shared[:last]), l.shared[last].withoutNewest()), l.before-1
	}
	l.edition = nil
}

// AppendPage appends the records of a page as a JSON array and returns the extended slice. Pages are
// counted from 1. A page past the end, and a page or size below 1, is an empty array.
func (l *List) AppendPage(dst []byte, page, perPage int) []byte {
	dst = append(dst, '[')
	total := l.Len()
	// Comparing by division keeps a huge page number from overflowing.
	if page >= 1 && perPage >= 1 && (page-1) <= (total-1)/perPage && total > 0 {
		newest := total - 1 - (page-1)*perPage
		oldest := max(0, newest-min(perPage, total)+1)
		dst = l.appendRange(dst, newest, oldest)
	}
	return append(dst, ']')
}

// AppendOldest is like [List.AppendPage], but counts pages from the oldest record. It looks up each record separately,
// and is therefore slower.
func (l *List) AppendOldest(dst []byte, page, perPage int) []byte {
	dst = append(dst, '[')
	total := l.Len()
	if page >= 1 && perPage >= 1 && (page-1) <= (total-1)/perPage && total > 0 {
		first := (page - 1) * perPage
		for ordinal := first; ordinal < total && ordinal-first < perPage; ordinal++ {
			if ordinal > first {
				dst = append(dst, ',')
			}
			dst = l.appendRange(dst, ordinal, ordinal)
		}
	}
	return append(dst, ']')
}

// AppendStored appends the stored records as a JSON array, newest first.
func (l *List) AppendStored(dst []byte) []byte {
	dst = append(dst, '[')
	if l.Stored() > 0 {
		dst = l.appendRange(dst, l.Len()-1, l.past.Total)
	}
	return append(dst, ']')
}

// appendRange appends the records from one ordinal down to another, both counted from the oldest.
func (l *List) appendRange(dst []byte, newest, oldest int) []byte {
	first := l.past.Total + l.before // the ordinal that a run begins with
	dst = l.own.appendRange(dst, newest-first, oldest-first)
	for _, r := range slices.Backward(l.shared) {
		first -= r.length
		dst = r.appendRange(dst, newest-first, oldest-first)
	}
	for newest = min(newest, l.past.Total-1); newest >= oldest; newest-- {
		dst = append(l.past.Append(dst, newest), ',')
	}
	return dst[:len(dst)-1] // the comma behind the last record
}

// appendRange appends the records of the run from one place down to another, as far as it has them, each
// with a comma behind it.
func (r *run) appendRange(dst []byte, newest, oldest int) []byte {
	newest, oldest = min(newest, r.length-1), max(oldest, 0)
	for newest >= oldest {
		first := newest / perChunk * perChunk
		last := max(first, oldest)
		dst = append(dst, r.chunks[newest/perChunk].text(newest-first, last-first)...)
		newest = last - 1
	}
	return dst
}

func (r *run) prepend(record []byte) {
	if r.length%perChunk == 0 {
		r.chunks = append(r.chunks, r.nextChunk())
	}
	r.chunks[len(r.chunks)-1].prepend(record)
	r.length++
}

// withoutNewest returns a run with the same records except the newest. It shares their memory.
func (r *run) withoutNewest() run {
	last := len(r.chunks) - 1
	shorter := run{chunks: slices.Clone(r.chunks[:last]), length: r.length - 1}
	if from := r.chunks[last].from; len(from) > 1 {
		shorter.chunks = append(shorter.chunks, &chunk{memory: r.chunks[last].memory, from: slices.Clip(from[:len(from)-1])})
	}
	return shorter
}

// followedBy returns a run of the records of r and, after them, those of newer. It shares the chunks of r
// that are full and copies the rest.
func (r *run) followedBy(newer *run) run {
	full := r.length / perChunk
	joined := run{chunks: slices.Clone(r.chunks[:full]), length: full * perChunk}
	for _, from := range []struct {
		*run
		first int
	}{{r, joined.length}, {newer, 0}} {
		for place := from.first; place < from.length; place++ {
			text := from.chunks[place/perChunk].text(place%perChunk, place%perChunk)
			joined.prepend(text[:len(text)-1])
		}
	}
	return joined
}

// nextChunk returns an empty chunk with about as much memory as the one before it came to need.
func (r *run) nextChunk() *chunk {
	if len(r.chunks) == 0 {
		return &chunk{}
	}
	before := r.chunks[len(r.chunks)-1].used()
	return &chunk{memory: make([]byte, before+before/8), from: make([]uint32, 0, perChunk)}
}

func (c *chunk) prepend(record []byte) {
	used := c.used()
	need := used + len(record) + 1
	if need > len(c.memory) {
		grown := make([]byte, c.room(need))
		copy(grown[len(grown)-used:], c.memory[len(c.memory)-used:])
		c.memory = grown
	}
	at := len(c.memory) - need
	copy(c.memory[at:], record)
	c.memory[at+len(record)] = ','
	c.from = append(c.from, uint32(need))
}

// room returns the new size of a chunk that needs more memory: half as much again, until it holds enough records to
// estimate the size of a full one.
func (c *chunk) room(need int) int {
	if n := len(c.from) + 1; n > perChunk/8 && n < perChunk {
		return max(need, need/n*perChunk+need/n) // records of a few bytes differ by more than their mean
	}
	return need + need/2
}

func (c *chunk) used() int {
	if len(c.from) == 0 {
		return 0
	}
	return int(c.from[len(c.from)-1])
}

// text returns the records from the newest-th down to the oldest-th of the chunk, commas included.
func (c *chunk) text(newest, oldest int) []byte {
	end := 0
	if oldest > 0 {
		end = int(c.from[oldest-1])
	}
	return c.memory[len(c.memory)-int(c.from[newest]) : len(c.memory)-end]
}
