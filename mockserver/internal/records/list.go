// Package records keeps a list of records as the bytes they are served as, so that a page is put
// together by copying and never encoded a second time.
package records

// perChunk is how many records share one piece of memory. Finding a page is arithmetic, so the last
// page of ten million records costs what the first one does.
const perChunk = 256

// List is a list of JSON values, newest first. The zero value is an empty list. It is not safe for
// concurrent use; its owner locks.
type List struct {
	// chunks run from the oldest records to the newest; every one but the last is full.
	chunks []*chunk
	total  int
}

// chunk holds records the way a page shows them, newest first, each with a comma behind it. A new
// record goes in front of the others, so the text fills its memory from the back.
type chunk struct {
	memory []byte
	// from[i] is how far before the end of memory the text of the i-th oldest record begins.
	from []uint32
}

// Len returns the number of records.
func (l *List) Len() int { return l.total }

// Prepend puts a record at the head of the list. The bytes must be one JSON value; they are copied.
func (l *List) Prepend(record []byte) {
	if l.total%perChunk == 0 {
		l.chunks = append(l.chunks, &chunk{})
	}
	l.chunks[len(l.chunks)-1].prepend(record)
	l.total++
}

// AppendPage appends the records of a page as a JSON array and returns the extended slice. Pages are
// counted from 1. A page past the end, and a page or size below 1, is an empty array.
func (l *List) AppendPage(dst []byte, page, perPage int) []byte {
	dst = append(dst, '[')
	// Comparing by division keeps a huge page number from overflowing.
	if page >= 1 && perPage >= 1 && (page-1) <= (l.total-1)/perPage && l.total > 0 {
		newest := l.total - 1 - (page-1)*perPage
		oldest := max(0, newest-min(perPage, l.total)+1)
		dst = l.appendRange(dst, newest, oldest)
	}
	return append(dst, ']')
}

// appendRange appends the records from one ordinal down to another, both counted from the oldest.
func (l *List) appendRange(dst []byte, newest, oldest int) []byte {
	for newest >= oldest {
		first := newest / perChunk * perChunk
		last := max(first, oldest)
		dst = append(dst, l.chunks[newest/perChunk].text(newest-first, last-first)...)
		newest = last - 1
	}
	return dst[:len(dst)-1] // the comma behind the last record
}

func (c *chunk) prepend(record []byte) {
	used := c.used()
	need := used + len(record) + 1
	if need > len(c.memory) {
		grown := make([]byte, need+need/2)
		copy(grown[len(grown)-used:], c.memory[len(c.memory)-used:])
		c.memory = grown
	}
	at := len(c.memory) - need
	copy(c.memory[at:], record)
	c.memory[at+len(record)] = ','
	c.from = append(c.from, uint32(need))
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
