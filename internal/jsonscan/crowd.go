package jsonscan

import "bytes"

// Crowded reports whether the lists in a JSON text hold more elements than [Scanner.Limit] allows. A text
// that fails earlier is not crowded.
func Crowded(text []byte, elements int) bool {
	if bytes.Count(text, []byte{','}) <= elements { // a lower bound, found fast
		return false
	}
	s := New(text)
	s.Limit(elements)
	s.Skip()
	return s.crowded
}
