// Package shell writes arguments and bytes into command lines of a POSIX shell. Its output is printable, so that it can be
// shown on a terminal and pasted into one.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns an argument as a shell reads it: as it is if it has only characters without a meaning to any shell,
// else in single quotes. Control characters, other characters that cannot be seen, and bytes that are not UTF-8 are
// written by printf. A NUL byte is left out, because no argument can hold one.
func Quote(argument string) string {
	if argument != "" && isPlain(argument) {
		return argument
	}
	var out strings.Builder
	for argument != "" || out.Len() == 0 {
		visible := prefix(argument, IsVisible)
		hidden := prefix(argument[len(visible):], func(r rune) bool { return !IsVisible(r) })
		argument = argument[len(visible)+len(hidden):]
		if visible != "" || hidden == "" {
			out.WriteString("'" + strings.ReplaceAll(visible, "'", `'\''`) + "'")
		}
		if hidden = strings.ReplaceAll(hidden, "\x00", ""); hidden != "" {
			// The shell drops line breaks at the end of a substitution; visible text has none.
			out.WriteString(`"$(` + Print(hidden) + `)"`)
		}
	}
	return out.String()
}

// Print returns a command that writes bytes, any bytes, to its standard output.
func Print(data string) string {
	var out strings.Builder
	for text := data; text != ""; {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '%':
			out.WriteString("%%")
		case r == '\\':
			out.WriteString(`\\`)
		case r == '\'':
			out.WriteString(`'\''`)
		case r == '\n':
			out.WriteString(`\n`)
		case IsVisible(r) && (r != '-' || out.Len() > 0): // an option of printf begins with a hyphen
			out.WriteString(text[:size])
		default:
			for i := range size {
				fmt.Fprintf(&out, `\%03o`, text[i])
			}
		}
		text = text[size:]
	}
	return "printf '" + out.String() + "'"
}

// Visible reports whether every character of a text is visible on a terminal.
func Visible(text string) bool { return prefix(text, IsVisible) == text }

// IsVisible reports whether a character is visible and unambiguous on a terminal, or breaks a line. Tabs are not: a
// terminal completes a word when one is pasted.
func IsVisible(r rune) bool { return r == '\n' || r != utf8.RuneError && unicode.IsPrint(r) }

// prefix returns the longest beginning of a text whose characters are of a class. A byte that is not UTF-8 is
// [utf8.RuneError].
func prefix(text string, class func(rune) bool) string {
	for i, r := range text {
		if !class(r) {
			return text[:i]
		}
	}
	return text
}

func isPlain(text string) bool {
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:") == ""
}
