package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

const (
	// leastStart is how many characters from the start of the key are a secret.
	leastStart = 8
	// leastEnd is the same at the end of a text.
	leastEnd = 4
	// window is how much of a text is read at a time, and margin how much of it is read again with the next
	// window: the longest spelling of a key fits in it.
	window, margin = 64 << 10, 16 << 10
)

// finder finds a key in texts.
type finder struct {
	forms []form
	// raw finds runs of the forms in a text as it is, reading in one without escapes and white space.
	raw, reading index
}

// form is a notation of the key, folded.
type form struct {
	text []byte
	// start, end and part are how many characters are a secret: from the start of the form, from there up
	// to the end of a text, and from anywhere else.
	start, end, part int
}

func newFinder(key string) *finder {
	f := &finder{}
	plain := string(read([]byte(key)).text) // the key itself may hold what looks like an escape
	if plain == "" {                        // backslashes only
		plain = key
	}
	n := len(plain)
	f.add(plain, min(leastStart, n), min(max(leastEnd, n/4), leastStart, n))
	if n < leastStart {
		return f
	}
	first := key[:leastStart]
	f.addEncoded(hex.EncodeToString([]byte(key)), hex.EncodeToString([]byte(first)))
	f.addEncoded(decimal(key), decimal(first))
	for before := range 3 { // the encoding of the key depends on its place in the encoded text
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			f.addEncoded(inBase64(encoding, before, key), inBase64(encoding, before, first))
		}
	}
	return f
}

// decimal is how Go prints bytes.
func decimal(text string) string { return strings.Trim(fmt.Sprint([]byte(text)), "[]") }

// inBase64 returns the characters that follow from text alone if it is encoded behind so many other bytes.
func inBase64(encoding *base64.Encoding, before int, text string) string {
	encoded := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + text))
	if (before+len(text))%3 != 0 {
		encoded = encoded[:len(encoded)-1]
	}
	return encoded[(before*8+5)/6:]
}

// addEncoded adds a form, of which as much as start is a secret.
func (f *finder) addEncoded(written, start string) {
	least := len(strings.ReplaceAll(start, " ", ""))
	f.add(written, least, least)
}

func (f *finder) add(written string, start, end int) {
	folded := folded(written)
	text := bytes.ReplaceAll(folded, []byte(" "), nil)
	f.forms = append(f.forms, form{text: text, start: start, end: end, part: max(len(text)/2, start)})
	f.raw.add(folded)
	f.reading.add(text)
}

// span is a part of a text: from a byte up to another.
type span struct{ from, to int }

// find returns the parts of a text that show the key, in order. None overlap.
func (f *finder) find(text []byte) []span {
	var found []span
	for from := 0; from < len(text); from += window {
		part := text[from:min(len(text), from+window+margin)]
		last := from+len(part) == len(text)
		if f.mayShow(part, last) {
			for _, s := range f.findIn(part, last) {
				found = append(found, span{from + s.from, from + s.to})
			}
		}
	}
	if found == nil {
		return nil
	}
	return merged(found)
}

// mayShow reports whether a text may show the key. It is quick, for the many texts that don't.
func (f *finder) mayShow(text []byte, last bool) bool {
	if len(f.forms) == 1 { // a short key
		return true
	}
	for _, escape := range []byte(escapes) {
		if bytes.IndexByte(text, escape) >= 0 {
			return true
		}
	}
	for range f.raw.runs(text) {
		return true
	}
	return last && f.atEnd(bytes.TrimRight(text, "\r\n")) > 0
}

// atEnd returns how many characters at the end of a text are the start of the key, if that is a secret.
func (f *finder) atEnd(text []byte) int {
	plain := f.forms[0]
	for n := min(plain.start, len(text)); n >= plain.end; n-- {
		if text[len(text)-1]|small != plain.text[n-1] {
			continue
		}
		end := [leastStart]byte{}
		copied := copy(end[:], text[len(text)-n:])
		for i := range copied {
			end[i] |= small
		}
		if bytes.Equal(end[:n], plain.text[:n]) {
			return n
		}
	}
	return 0
}

// findIn returns the parts of a text that show the key. If the text is the last of its kind, the key may be
// truncated at its end.
func (f *finder) findIn(text []byte, last bool) (found []span) {
	r := read(text)
	add := func(from, to int) {
		start := r.from[from]
		for start > 0 && text[start-1] == '\\' { // else it would escape what stands for the key
			start--
		}
		found = append(found, span{start, r.to[to-1]})
	}
	plain := f.forms[0].text
	if len(f.forms) == 1 {
		for at := 0; ; at++ {
			next := bytes.Index(r.text[at:], plain)
			if next < 0 {
				break
			}
			at += next
			add(at, at+len(plain))
		}
	} else {
		for run := range f.reading.runs(r.text) {
			form, length := f.forms[run.form], run.to-run.from
			if length >= form.part || run.at == 0 && length >= form.start {
				add(run.from, run.to)
			}
		}
	}
	if !last {
		return found
	}
	for _, end := range []int{len(r.text), r.beforeEscape(text)} {
		if n := f.atEnd(r.text[:end]); n > 0 {
			add(end-n, end)
		}
	}
	return found
}

// merged sorts spans and joins those that overlap.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}
