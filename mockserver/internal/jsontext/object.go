package jsontext

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/shipping-go/shipping"
)

// Object is a JSON object that is being written, member by member.
type Object struct{ dst []byte }

// NewObject begins an object behind what dst contains.
func NewObject(dst []byte) Object { return Object{append(dst, '{')} }

// End closes the object and returns dst with it.
func (o *Object) End() []byte { return append(o.dst, '}') }

func (o *Object) name(name string) {
	if o.dst[len(o.dst)-1] != '{' {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...)
	o.dst = append(o.dst, '"', ':')
}

// Text appends a member that is a string.
func (o *Object) Text(name, value string) {
	o.name(name)
	o.dst = AppendString(o.dst, value)
}

// TextUnlessEmpty appends a string, or nothing if it is empty.
func (o *Object) TextUnlessEmpty(name, value string) {
	if value != "" {
		o.Text(name, value)
	}
}

// Amount appends an amount of money.
func (o *Object) Amount(name string, value shipping.Amount) {
	o.name(name)
	text, err := value.MarshalJSON()
	if err != nil { // no amount that the server makes is one that cannot be written
		text = []byte("null")
	}
	o.dst = append(o.dst, text...)
}

// Number appends a whole number.
func (o *Object) Number(name string, value int64) {
	o.name(name)
	o.dst = strconv.AppendInt(o.dst, value, 10)
}

// Boolean appends a boolean.
func (o *Object) Boolean(name string, value bool) {
	o.name(name)
	o.dst = strconv.AppendBool(o.dst, value)
}

// Time appends a timestamp.
func (o *Object) Time(name string, value Timestamp) {
	o.name(name)
	o.dst = value.append(o.dst)
}

// Raw appends a value that is JSON already.
func (o *Object) Raw(name string, value json.RawMessage) {
	o.name(name)
	o.dst = append(o.dst, bytes.TrimSpace(value)...)
}

// Open begins a member that is an object.
func (o *Object) Open(name string) {
	o.name(name)
	o.dst = append(o.dst, '{')
}

// Close ends the object that Open began.
func (o *Object) Close() { o.dst = append(o.dst, '}') }
