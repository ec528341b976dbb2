// Package spelling reads and writes names in messages: it finds the name that was perhaps meant by an unknown one.
package spelling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Nearest returns the known name that is near an unknown one, or the first that begins with it; otherwise "". Names
// that differ only in case, underscores and hyphens are the nearest.
func Nearest(name string, known []string) string {
	best, least := "", max(1, min(len(name), longest)/3)+1
	for _, candidate := range known {
		if fold(name) == fold(candidate) {
			return candidate
		}
		if d := Distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	if best == "" && len(name) > 1 {
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k, name) }); i >= 0 {
			best = known[i]
		}
	}
	return best
}

// fold returns a name in lower case, without the underscores and hyphens between its words.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// longest is how much of a text Distance compares, in bytes, which no name reaches.
const longest = 200

// Distance counts the letters to insert, delete, change or swap with their neighbour to get from a to b (optimal
// string alignment).
func Distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := row[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			next[j] = min(change, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// Meant completes a sentence about an unknown name with the name that was perhaps meant; it returns "" if no known name
// is near.
func Meant(name string, known []string) string {
	if nearest := Nearest(name, known); nearest != "" {
		return fmt.Sprintf(": did you mean %q?", nearest)
	}
	return ""
}

// Suggestion completes a sentence about an unknown name: the name that was perhaps meant, or else all of them.
func Suggestion(name string, known []string) string {
	if meant := Meant(name, known); meant != "" {
		return meant
	}
	if len(known) == 0 {
		return ": leave it out"
	}
	return ": use one of " + strings.Join(known, ", ")
}

// Counted returns a number and the noun that goes with it.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Quote quotes the start of a text, so that an error stays short even if a member holds a whole body.
func Quote(text string) string {
	if len(text) > 40 {
		text = strings.ToValidUTF8(text[:40], "") + "…" // without half of a character
	}
	return strconv.Quote(text)
}

// Words splits a name at its capitals, and at everything but letters, into words in lower case.
func Words(name string) (words []string) {
	start, letters := 0, []rune(name)
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r):
			words = appendWord(words, letters[start:i])
			start = i + 1
		case i > start && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) &&
			unicode.IsLower(letters[i+1])):
			words = appendWord(words, letters[start:i])
			start = i
		}
	}
	return appendWord(words, letters[start:])
}

func appendWord(words []string, letters []rune) []string {
	if len(letters) == 0 {
		return words
	}
	return append(words, strings.ToLower(string(letters)))
}
