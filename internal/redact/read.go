package redact

import (
	"bytes"
	"strconv"
)

// escapes are the characters that begin an escape.
const escapes = `\%&`

// mostLayers is how many times over a key may be escaped in different ways, such as for HTML and then JSON.
const mostLayers = 4

// reading is a text without white space and backslashes, each escaped character as itself.
type reading struct {
	text []byte // folded
	from []int  // where each character starts in the original, its escape included
	to   []int  // the ends
}

func read(text []byte) reading {
	r := reading{text: text}
	for range mostLayers {
		before := len(r.text)
		r = r.unescaped()
		if len(r.text) == before || !bytes.ContainsAny(r.text, escapes) {
			break
		}
	}
	for i := range r.text {
		r.text[i] |= small
	}
	return r
}

// unescaped returns the reading with one layer of escapes removed.
func (r reading) unescaped() reading {
	n := len(r.text)
	out := reading{make([]byte, 0, n), make([]int, 0, n), make([]int, 0, n)}
	for i := 0; i < n; {
		c, next := character(r.text, i)
		if c != none {
			out.text = append(out.text, byte(c))
			if r.from == nil {
				out.from, out.to = append(out.from, i), append(out.to, next)
			} else {
				out.from, out.to = append(out.from, r.from[i]), append(out.to, r.to[next-1])
			}
		}
		i = next
	}
	return out
}

// beforeEscape returns how many characters come before an escape that was truncated at the end of the text.
func (r reading) beforeEscape(text []byte) int {
	n := len(r.text)
	last := bytes.LastIndexAny(text, escapes)
	if last < 0 || last < len(text)-len(`\u000`) {
		return n
	}
	for n > 0 && r.from[n-1] >= last {
		n--
	}
	return n
}

// none stands for white space or a backslash, which are not counted as characters.
const none = -1

// character returns the character at a position, in any notation of an escape, and the position after it.
func character(text []byte, i int) (c, after int) {
	switch text[i] {
	case ' ', '\t', '\r', '\n':
		return none, i + 1
	case '\\':
		return backslash(text, i+1)
	case '%':
		return percent(text, i+1)
	case '&':
		return entity(text, i+1)
	}
	return int(text[i]), i + 1
}

// backslash reads what follows one: u and four hexadecimal digits, x and two, three octal ones, or the letter
// of a white space.
func backslash(text []byte, i int) (c, after int) {
	if i == len(text) {
		return none, i
	}
	digits, base, at := 3, 8, i
	switch text[i] {
	case 'u':
		digits, base, at = 4, 16, i+1
	case 'x':
		digits, base, at = 2, 16, i+1
	case 'n', 'r', 't':
		return none, i + 1
	}
	if c := number(text, at, digits, base); c != none {
		return c, at + digits
	}
	return none, i
}

// percent reads an escape of a URL, also one whose percent sign is escaped again.
func percent(text []byte, i int) (c, after int) {
	c = number(text, i, 2, 16)
	if c == none {
		return '%', i
	}
	for ; c == '%'; i += 2 {
		inner := number(text, i+2, 2, 16)
		if inner == none {
			break
		}
		c = inner
	}
	return c, i + 2
}

// entities are the named ones that encoders write.
var entities = []struct {
	name string
	c    int
}{{"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}}

// entity reads an escape of HTML, also one whose ampersand is escaped again.
func entity(text []byte, i int) (c, after int) {
	for bytes.HasPrefix(text[i:], []byte("amp;")) {
		i += len("amp;")
	}
	for _, e := range entities {
		if bytes.HasPrefix(text[i:], []byte(e.name)) {
			return e.c, i + len(e.name)
		}
	}
	if i < len(text) && text[i] == '#' {
		return codePoint(text, i)
	}
	return '&', i
}

// codePoint reads the number of an entity, from its number sign up to its semicolon.
func codePoint(text []byte, i int) (c, after int) {
	const longest = 8 // digits, leading zeros included
	at, base := i+1, 10
	if at < len(text) && text[at]|small == 'x' {
		at, base = at+1, 16
	}
	digits := bytes.IndexByte(text[at:min(len(text), at+longest+1)], ';')
	if c := number(text, at, digits, base); c != none {
		return c, at + digits + 1
	}
	return '&', i
}

// number returns the ASCII character that digits stand for, or none.
func number(text []byte, i, digits, base int) int {
	if digits < 1 || i+digits > len(text) {
		return none
	}
	n, err := strconv.ParseUint(string(text[i:i+digits]), base, 32)
	if err != nil || n >= 0x80 {
		return none
	}
	return int(n)
}
