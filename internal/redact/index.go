package redact

import "encoding/binary"

// index finds runs of forms in texts: characters in a row that a form has in the same order, in any case.
type index struct {
	forms [][]byte
	// blocks are the places in the forms where a block stands.
	blocks map[uint32][]place
	// filter has a bit for each of blocks, and for few others.
	filter [512]uint64
}

type place struct{ form, at int }

const (
	// block is the size of the pieces of a text that are looked up.
	block = 4
	// leastRun is the shortest run that holds a block which starts at a multiple of its size, wherever the
	// run starts.
	leastRun = 2*block - 1
	// small makes a letter small, and some other characters the same.
	small = 0x20
)

func folded(text string) []byte {
	out := []byte(text)
	for i := range out {
		out[i] |= small
	}
	return out
}

func blockAt(text []byte, at int) uint32 {
	return binary.LittleEndian.Uint32(text[at:]) | small*0x01010101
}

// bit returns which bit of a filter stands for a block.
func bit(b uint32) uint32 { return b * 2654435761 >> 17 }

// add adds a form, which is folded.
func (x *index) add(form []byte) {
	if x.blocks == nil {
		x.blocks = map[uint32][]place{}
	}
	for at := 0; at+block <= len(form); at++ {
		b := blockAt(form, at)
		x.blocks[b] = append(x.blocks[b], place{len(x.forms), at})
		x.filter[bit(b)/64] |= 1 << (bit(b) % 64)
	}
	x.forms = append(x.forms, form)
}

// run is a run: of which form, from where in it, and from where in the text up to where.
type run struct{ form, at, from, to int }

// runs yields the runs in a text, some of them several times.
func (x *index) runs(text []byte) func(yield func(run) bool) {
	return func(yield func(run) bool) {
		for i := 0; i+block <= len(text); i += block {
			b := blockAt(text, i)
			if n := bit(b); x.filter[n/64%512]&(1<<(n%64)) == 0 {
				continue
			}
			for _, p := range x.blocks[b] {
				if r := x.extend(text, i, p); r.to-r.from >= leastRun && !yield(r) {
					return
				}
			}
		}
	}
}

// extend returns the run around a block of a text.
func (x *index) extend(text []byte, at int, p place) run {
	form := x.forms[p.form]
	before, after := 0, block
	for at > before && p.at > before && text[at-before-1]|small == form[p.at-before-1] {
		before++
	}
	for at+after < len(text) && p.at+after < len(form) && text[at+after]|small == form[p.at+after] {
		after++
	}
	return run{form: p.form, at: p.at - before, from: at - before, to: at + after}
}
