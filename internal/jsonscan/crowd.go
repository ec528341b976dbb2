package jsonscan

import "bytes"

// Crowded reports whether the lists in a JSON text, taken together, hold more elements than so many and one
// for each list. Texts and the members of objects don't count.
func Crowded(text []byte, most int) bool {
	if bytes.Count(text, []byte{','}) <= most { // commas are counted in no time
		return false
	}
	var inList []bool // for each value that is open
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			inList = append(inList, text[i] == '[')
		case ']', '}':
			inList = inList[:max(len(inList)-1, 0)]
		case ',':
			if n := len(inList); n > 0 && inList[n-1] {
				if most--; most < 0 {
					return true
				}
			}
		}
	}
	return false
}
