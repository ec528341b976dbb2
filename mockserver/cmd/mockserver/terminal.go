package main

import (
	"strings"
	"unicode/utf8"

	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// printable replaces characters that move the cursor or begin a line, such as escape sequences in a request.
func printable(text string) string {
	return strings.ReplaceAll(printableLines(text), "\n", string(utf8.RuneError))
}

// printableLines is like printable, and keeps line breaks.
func printableLines(text string) string {
	return strings.Map(func(r rune) rune {
		if !shell.IsVisible(r) {
			return utf8.RuneError
		}
		return r
	}, text)
}
