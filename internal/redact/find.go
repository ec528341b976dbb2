package redact

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// finder finds a key in texts.
type finder struct {
	parts []string // in small letters
	short bool     // the key has so few characters that random bytes may contain it
	// filter has a bit for each four characters in a row that the key has in one of its notations.
	filter [512]uint64
}

const (
	leastPart = 11
	// small makes a letter small, and some other characters the same.
	small = 0x20
)

func newFinder(key string) *finder {
	plain := strings.ToLower(decode(key)) // the key itself may hold what looks like an escape
	if plain == "" {                      // backslashes only
		plain = key
	}
	n := len(plain)
	f := &finder{short: n < leastPart}
	half := min(n, max(leastPart, n/2))
	f.parts = append(f.parts, plain[:min(n, leastPart)])
	for at := range n - half + 1 {
		f.parts = append(f.parts, plain[at:at+half])
	}
	decimals := fmt.Sprint([]byte(key))
	notations := []string{plain, hex.EncodeToString([]byte(key)), decimals, strings.ReplaceAll(decimals, " ", ",")}
	for before := range 3 { // the encoding of the key depends on its place in the encoded text
		text := append(make([]byte, before), key...)
		notations = append(notations, base64.StdEncoding.EncodeToString(text), base64.URLEncoding.EncodeToString(text))
	}
	for _, notation := range notations {
		for at := range max(0, len(notation)-3) {
			word, bit := f.place(notation[at:])
			f.filter[word] |= bit
		}
	}
	return f
}

// place returns the word and the bit of the filter for the first four characters of a text.
func (f *finder) place(text string) (word uint32, bit uint64) {
	hash := (binary.LittleEndian.Uint32([]byte(text[:4])) | small*0x01010101) * 2654435761 >> 17
	return hash / 64 % uint32(len(f.filter)), 1 << (hash % 64)
}

// find reports whether a text contains the key.
func (f *finder) find(text string) bool {
	near := f.near(text)
	if !near && !escaped(text) {
		return false
	}
	plain := decode(text)
	if !near && !f.near(plain) {
		return false
	}
	return f.contains(plain) || !f.short && binaryIn(text, plain, func(data string) bool {
		return (f.near(data) || escaped(data)) && f.contains(decode(data))
	})
}

// near reports whether a text may contain a part of the key, if nothing is escaped: each part has two groups of four
// characters, one after the other, that are in the filter. It is quick, for the many texts that contain none.
func (f *finder) near(text string) bool {
	before := false
	for i := 0; i+4 <= len(text); i += 4 {
		word, bit := f.place(text[i:])
		found := f.filter[word]&bit != 0
		if found && before {
			return true
		}
		before = found
	}
	return f.short
}

func (f *finder) contains(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(f.parts, func(part string) bool { return strings.Contains(text, part) })
}
