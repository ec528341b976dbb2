package jsontext

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/shipping-go/shipping"
)

// Writer writes structs of one type as JSON objects, with the members that the struct tags name. It writes what [Encode]
// does, several times as fast. Any number of goroutines may use it.
type Writer[T any] struct {
	members []member
	copies  sync.Pool // of *T: what reflection reads is on the heap, and the records of callers need not be
}

// member is a member of an object.
type member struct {
	key       string // in quotation marks, with a colon
	field     int
	omitEmpty bool
	write     write
}

// write appends a value, which is addressable.
type write func(dst []byte, value reflect.Value) []byte

// NewWriter returns a writer of a struct.
func NewWriter[T any]() *Writer[T] {
	return &Writer[T]{members: membersOf(reflect.TypeFor[T]()), copies: sync.Pool{New: func() any { return new(T) }}}
}

// Append appends a struct to dst and returns the extended slice.
func (w *Writer[T]) Append(dst []byte, record *T) []byte {
	read := w.copies.Get().(*T)
	*read = *record
	dst = appendObject(dst, w.members, reflect.ValueOf(read).Elem())
	*read = *new(T)
	w.copies.Put(read)
	return dst
}

func membersOf(of reflect.Type) (members []member) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		members = append(members, member{`"` + name + `":`, i, options == "omitempty", writeOf(field.Type)})
	}
	return members
}

func appendObject(dst []byte, members []member, record reflect.Value) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for i := range members {
		m := &members[i]
		value := record.Field(m.field)
		if m.omitEmpty && value.IsZero() {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = m.write(append(dst, m.key...), value)
	}
	return append(dst, '}')
}

// writeOf returns how values of a type are written.
func writeOf(of reflect.Type) write {
	switch of {
	case reflect.TypeFor[shipping.Amount]():
		return appendAmount
	case reflect.TypeFor[Timestamp]():
		return func(dst []byte, value reflect.Value) []byte { return value.Addr().Interface().(*Timestamp).append(dst) }
	case reflect.TypeFor[json.RawMessage]():
		return func(dst []byte, value reflect.Value) []byte { return append(dst, bytes.TrimSpace(value.Bytes())...) }
	}
	switch of.Kind() {
	case reflect.String:
		return func(dst []byte, value reflect.Value) []byte { return AppendString(dst, value.String()) }
	case reflect.Bool:
		return func(dst []byte, value reflect.Value) []byte { return strconv.AppendBool(dst, value.Bool()) }
	case reflect.Int, reflect.Int64:
		return func(dst []byte, value reflect.Value) []byte { return strconv.AppendInt(dst, value.Int(), 10) }
	case reflect.Struct:
		members := membersOf(of)
		return func(dst []byte, value reflect.Value) []byte { return appendObject(dst, members, value) }
	case reflect.Pointer:
		inner := writeOf(of.Elem())
		return func(dst []byte, value reflect.Value) []byte {
			if value.IsNil() {
				return append(dst, "null"...)
			}
			return inner(dst, value.Elem())
		}
	}
	return appendOther
}

func appendAmount(dst []byte, value reflect.Value) []byte {
	longer, err := value.Addr().Interface().(*shipping.Amount).AppendText(dst)
	if err != nil { // no amount that the server makes is one that cannot be written
		return append(dst, "null"...)
	}
	return longer
}

// appendOther appends a value of another type, such as a slice.
func appendOther(dst []byte, value reflect.Value) []byte {
	text, err := Encode(value.Interface())
	if err != nil { // the server's records have no such values
		text = []byte("null")
	}
	return append(dst, text...)
}
