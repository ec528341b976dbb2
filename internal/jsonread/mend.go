package jsonread

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/shipping-go/shipping/internal/decimal"
)

// mend reads a value that starts with c and is of another type than the field at p. What cannot be read
// leaves the field as it is.
func (d *Decoder) mend(f *field, c byte, p unsafe.Pointer) {
	got, want := kindOf(c), f.kind.want()
	d.differs(f, got, want)
	if f.strict && d.mismatch == nil {
		d.mismatch = &MismatchError{Path: d.pathTo(f.name), Got: got, Want: want}
	}
	scalar := c != '{' && c != '['
	switch {
	case f.kind == listKind && c == '"' && f.inner.kind == textKind:
		*(*[]string)(p) = []string{d.Text()}
	case f.kind == recordKind && c == '"' && f.record.bare != nil:
		d.value(f.record.bare, f.record.bare.at(p))
	case f.kind == textKind && scalar:
		*(*string)(p) = d.RawText()
	case f.kind < pointerKind && scalar:
		d.unread = !f.parse(strings.TrimSpace(textOf(d.Raw())), p)
	default:
		d.unread = true
		d.Skip()
	}
}

// textOf returns a string, a number or a boolean as a string, which is valid until the text that raw is of changes.
func textOf(raw []byte) string {
	text := unsafe.String(unsafe.SliceData(raw), len(raw))
	if !strings.HasPrefix(text, `"`) {
		return text
	}
	if strings.IndexByte(text, '\\') >= 0 || !utf8.ValidString(text) {
		return unescape(raw)
	}
	return text[1 : len(text)-1]
}

// want returns the JSON type that a kind expects.
func (k kind) want() string {
	switch k {
	case textKind:
		return "string"
	case boolKind:
		return "boolean"
	case timeKind:
		return "ISO 8601 timestamp"
	case listKind:
		return "array"
	case mapKind, recordKind:
		return "object"
	}
	return "number"
}

// parse reads text into the field at p, and reports whether it is a value of the field's type.
func (f *field) parse(text string, p unsafe.Pointer) (ok bool) {
	switch f.kind {
	case boolKind:
		switch strings.ToLower(text) {
		case "true", "1", "yes":
			*(*bool)(p), ok = true, true
		case "false", "0", "no", "":
			*(*bool)(p), ok = false, true
		}
	case intKind, int64Kind:
		n, isInteger := parseInteger(text)
		ok = isInteger && f.setInteger(n, p)
	case floatKind:
		n, err := strconv.ParseFloat(text, 64)
		if ok = err == nil && !math.IsInf(n, 0) && !math.IsNaN(n); ok {
			*(*float64)(p) = n
		}
	case timeKind:
		var at time.Time
		if at, _, ok = parseTime(text); ok {
			*(*time.Time)(p) = at
		}
	}
	return ok
}

// integer reads a number into the integer at p.
func (d *Decoder) integer(f *field, p unsafe.Pointer) {
	d.Peek()
	start := d.Offset()
	n, ok := d.Int()
	if !ok {
		n, ok = parseInteger(string(d.Since(start)))
	}
	if ok {
		f.setInteger(n, p)
	}
}

func (f *field) setInteger(n int64, p unsafe.Pointer) (fits bool) {
	if f.kind == int64Kind {
		*(*int64)(p) = n
		return true
	}
	if fits = int64(int(n)) == n; fits {
		*(*int)(p) = int(n)
	}
	return fits
}

// parseInteger reads a number that is an integer, however it is written: "1,250", "2.0", "1e3".
func parseInteger(text string) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && strings.Trim(fraction, "0") == "" {
		return n, true
	}
	n, err := decimal.Parse(text)
	return n.Units, err == nil && n.Scale == 0
}
