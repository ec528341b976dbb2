// Package records keeps a list of records as the bytes they are served as, so that a page is put
// together by copying and never encoded a second time. Behind those that are stored a list may have
// any number that are computed from their place in it.
package records

import "slices"

// perChunk is how many records share one piece of memory. Finding a page is arithmetic, so the last
// page of ten million records costs what the first one does. A copy of a list that gets a record copies
// one chunk.
const perChunk = 64

// List is a list of JSON values, newest first. The zero value is an empty list. It is not safe for
// concurrent use; its owner locks. One that was cloned, and not changed since, may be cloned by any
// number of goroutines.
type List struct {
	// chunks run from the oldest records to the newest; every one but the last is full.
	chunks []*chunk
	stored int
	// tailShared is true while the last chunk belongs to other lists too and has to be copied before
	// a record goes into it. Full chunks never change.
	tailShared bool
	past       Past
	edition    *Edition // nil until somebody asks
}

// Edition stands for what a list holds at one moment: two lists of the same edition hold the same records.
type Edition struct {
	_ byte // memory of its own, so that no two are one
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
func (l *List) Len() int { return l.past.Total + l.stored }

// Stored returns the number of records that are kept in memory.
func (l *List) Stored() int { return l.stored }

// Edition returns that of the list as it is now. The next record makes another.
func (l *List) Edition() *Edition {
	if l.edition == nil {
		l.edition = new(Edition)
	}
	return l.edition
}

// Clone returns a list that starts out equal and goes its own way. It costs the same however long the
// list is: the two share what they have in common.
func (l *List) Clone() List {
	if !l.tailShared { // written once only: a list that is cloned by many goroutines is only read
		l.tailShared = true
	}
	l.Edition() // likewise; what is cloned twice shares what was made of it
	clone := *l
	clone.chunks = slices.Clip(l.chunks)
	return clone
}

// Prepend puts a record at the head of the list. The bytes must be one JSON value; they are copied.
func (l *List) Prepend(record []byte) {
	switch {
	case l.stored%perChunk == 0:
		l.chunks = append(l.chunks, l.nextChunk()) // a copy ends where it was taken, so it never sees this
		l.tailShared = false
	case l.tailShared:
		l.chunks = slices.Clone(l.chunks)
		last := len(l.chunks) - 1
		l.chunks[last] = l.chunks[last].clone()
		l.tailShared = false
	}
	l.chunks[len(l.chunks)-1].prepend(record)
	l.stored++
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

// AppendStored appends the stored records as a JSON array, newest first.
func (l *List) AppendStored(dst []byte) []byte {
	dst = append(dst, '[')
	if l.stored > 0 {
		dst = l.appendRange(dst, l.Len()-1, l.past.Total)
	}
	return append(dst, ']')
}

// appendRange appends the records from one ordinal down to another, both counted from the oldest.
func (l *List) appendRange(dst []byte, newest, oldest int) []byte {
	for newest >= max(oldest, l.past.Total) {
		place := newest - l.past.Total
		first := place / perChunk * perChunk
		last := max(first, oldest-l.past.Total)
		dst = append(dst, l.chunks[place/perChunk].text(place-first, last-first)...)
		newest = last + l.past.Total - 1
	}
	for ; newest >= oldest; newest-- {
		dst = append(l.past.Append(dst, newest), ',')
	}
	return dst[:len(dst)-1] // the comma behind the last record
}

// nextChunk returns an empty chunk with about as much memory as the one before it came to need.
func (l *List) nextChunk() *chunk {
	if len(l.chunks) == 0 {
		return &chunk{}
	}
	before := l.chunks[len(l.chunks)-1].used()
	return &chunk{memory: make([]byte, before+before/8), from: make([]uint32, 0, perChunk)}
}

func (c *chunk) clone() *chunk {
	return &chunk{memory: slices.Clone(c.memory), from: slices.Clone(c.from)}
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

// room is how much memory a chunk that needs more is to have: half as much again, until it holds enough
// records to tell how much a full one takes.
func (c *chunk) room(need int) int {
	if n := len(c.from) + 1; n > perChunk/8 && n < perChunk {
		return need/n*perChunk + need/n
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
