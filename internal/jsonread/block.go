package jsonread

import "strings"

// blockSize is how many bytes strings share, and so how much memory a single one of them can keep
// alive. It holds the strings of about ten records.
const blockSize = 4096

// block is memory that strings are copied into one behind the other. An allocation for each would
// cost more than all the rest of reading it.
type block struct{ memory strings.Builder }

// keep copies text. No more than ahead bytes of text will follow it, so no larger block is begun.
func (b *block) keep(text []byte, ahead int) string {
	switch {
	case len(text) == 0:
		return ""
	case len(text) > blockSize/4:
		return string(text)
	case len(text) > b.memory.Cap()-b.memory.Len():
		b.memory.Reset() // the strings in it keep it
		b.memory.Grow(min(len(text)+ahead, blockSize))
	}
	start := b.memory.Len()
	b.memory.Write(text)
	return b.memory.String()[start:]
}
