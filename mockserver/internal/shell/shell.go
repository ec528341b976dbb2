// Package shell writes arguments and bytes into command lines of a POSIX shell. Its output is printable, so that it can
// be shown on a terminal and pasted into one.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote quotes an argument for a shell: not at all if no character has a meaning in any shell, otherwise in single
// quotes. Text with control characters, other characters that cannot be seen, or bytes that are not UTF-8 is written by
// printf. A NUL byte is left out, because no argument can contain one.
func Quote(argument string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:"
	switch {
	case argument != "" && strings.Trim(argument, plain) == "":
		return argument
	case Visible(argument):
		return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
	}
	argument = strings.ReplaceAll(argument, "\x00", "")
	text := strings.TrimRight(argument, "\n") // the shell drops line breaks at the end of a substitution
	return `"$(` + Print(text) + `)` + argument[len(text):] + `"`
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
func Visible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !IsVisible(r) })
}

// IsVisible reports whether a character is visible and unambiguous on a terminal, or breaks a line. Tabs are not
// visible: a terminal completes pasted text.
func IsVisible(r rune) bool { return r == '\n' || r != utf8.RuneError && unicode.IsPrint(r) }
