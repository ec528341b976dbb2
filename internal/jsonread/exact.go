package jsonread

import (
	"encoding/json"
	"reflect"
)

// Once marks a type that has no value if its member is given twice, such as a price. It is the first field
// of a struct with an UnmarshalJSON method, which then reads [GivenTwice]:
//
//	_ jsonread.Once
type Once struct{}

// GivenTwice is the JSON value that a type with [Once] reads if its member is given twice.
const GivenTwice = `"given twice"`

// Unmarshal is [json.Unmarshal] with exact member names.
//
// encoding/json also reads a member into a field if their names differ in case or in what Unicode counts as
// case: "AMOUNT" and "requeſt_id" reach the fields "amount" and "request_id", and the last of them wins.
// Here a member belongs to a field only if its name, with escapes resolved, equals the field's name byte
// for byte. Every other member is unknown and ignored.
//
// If an object has a member twice, the last one counts. encoding/json merges objects, maps and lists in that
// case, and ignores a last one that is null. A type that contains [Once] has no value in that case.
//
// Both rules apply to structs at any depth, embedded or not, and to those in pointers, slices, arrays and
// maps. A type with an UnmarshalJSON or UnmarshalText method is given its text as it was sent, so it has to
// use Unmarshal itself if it reads an object. A struct behind an interface inside another value is read as
// encoding/json reads it. The keys of a map are exact in encoding/json too.
func Unmarshal(data []byte, v any) error { return json.Unmarshal(Text(data, v), v) }

// Text returns the text that encoding/json has to read into v, a pointer, for [Unmarshal]. It is data itself
// unless a member has to be hidden, which is given a name of the same length that no field has: offsets
// in errors stay those of data. Text that is not valid JSON is returned as it is.
func Text(data []byte, v any) []byte {
	s := shapeOf(target(v))
	if s == nil {
		return data
	}
	w := walk{scanner: newScanner(data)}
	if w.value(s, maxDepth); !w.done() || w.edits == nil {
		return data
	}
	return w.edited()
}

// UnknownMember returns the name of the first member that v, a pointer, has no field for, at any depth.
func UnknownMember(data []byte, v any) (name string, found bool) {
	w := walk{scanner: newScanner(data)}
	if s := shapeOf(target(v)); s != nil {
		w.value(s, maxDepth)
	}
	return string(w.unknown), w.unknown != nil
}

// target returns the type of what encoding/json reads into: what v points to, through interfaces too.
func target(v any) reflect.Type {
	value := reflect.ValueOf(v)
	for {
		switch {
		case !value.IsValid() || isUnmarshaler(value.Type()):
			return nil
		case value.Kind() != reflect.Pointer && value.Kind() != reflect.Interface || value.IsNil():
			return value.Type()
		}
		value = value.Elem()
	}
}
