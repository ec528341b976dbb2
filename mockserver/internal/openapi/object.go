package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// object is a JSON object whose members keep their order. Values are objects, []any, texts, json.Numbers,
// booleans and nil. No method changes its receiver.
type object []member

type member struct {
	name  string
	value any
}

// parse reads a JSON object. It fails for a name that occurs twice in one object.
func parse(text []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err := read(decoder)
	if err != nil {
		return nil, fmt.Errorf("byte %d: %w", decoder.InputOffset(), err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("byte %d: something follows the object", decoder.InputOffset())
	}
	out, isObject := value.(object)
	if !isObject {
		return nil, errors.New("not an object")
	}
	return out, nil
}

func read(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		out := object{}
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := read(decoder)
			if err != nil {
				return nil, err
			}
			if out.index(name.(string)) >= 0 {
				return nil, fmt.Errorf("%q occurs twice in one object", name)
			}
			out = append(out, member{name.(string), value})
		}
		_, err = decoder.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for decoder.More() {
			value, err := read(decoder)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		_, err = decoder.Token()
		return out, err
	default:
		return token, nil
	}
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// get returns the value of a member, or nil.
func (o object) get(name string) any {
	if i := o.index(name); i >= 0 {
		return o[i].value
	}
	return nil
}

// object returns the value of a member that is an object, or nil.
func (o object) object(name string) object { return members(o.get(name)) }

// members returns the members of a value that is an object, or nil.
func members(value any) object {
	out, _ := value.(object)
	return out
}

func (o object) without(name string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.name == name })
}

// with returns the object with another value for a member; nil removes the member.
func (o object) with(name string, value any) object {
	i := o.index(name)
	switch {
	case value == nil:
		return o.without(name)
	case i < 0:
		return append(slices.Clip(o), member{name, value})
	}
	out := slices.Clone(o)
	out[i].value = value
	return out
}

// merge returns the object with the members of another. Of a member that both have, objects are merged, lists are
// joined, and of anything else the receiver's is kept.
func (o object) merge(other object) object {
	for _, m := range other {
		switch own := o.get(m.name).(type) {
		case nil:
			o = o.with(m.name, m.value)
		case object:
			o = o.with(m.name, own.merge(members(m.value)))
		case []any:
			more, _ := m.value.([]any)
			o = o.with(m.name, slices.Concat(own, more))
		}
	}
	return o
}

// longestLine is how long a list or an object is at most that stands on one line, without its indentation.
const longestLine = 120

// write appends a value as JSON in which <, > and & stay readable. indent is the line break and the indentation of the
// value itself; empty for everything on one line.
func write(out *bytes.Buffer, value any, indent string) error {
	switch value := value.(type) {
	case object:
		return writeList(out, "{}", indent, len(value), func(i int, inner string) error {
			if err := write(out, value[i].name, inner); err != nil {
				return err
			}
			out.WriteString(": ")
			return write(out, value[i].value, inner)
		})
	case []any:
		return writeList(out, "[]", indent, len(value), func(i int, inner string) error { return write(out, value[i], inner) })
	default:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		err := encoder.Encode(value)
		out.Truncate(out.Len() - 1) // the line break of the encoder
		return err
	}
}

func writeList(out *bytes.Buffer, brackets, indent string, length int, element func(i int, inner string) error) error {
	inner, between := indent+"  ", ","
	if indent == "" {
		inner, between = "", ", "
	} else {
		begin := out.Len()
		if err := writeList(out, brackets, "", length, element); err != nil || out.Len()-begin <= longestLine {
			return err
		}
		out.Truncate(begin)
	}
	out.WriteByte(brackets[0])
	for i := range length {
		if i > 0 {
			out.WriteString(between)
		}
		out.WriteString(inner)
		if err := element(i, inner); err != nil {
			return err
		}
	}
	out.WriteString(indent)
	out.WriteByte(brackets[1])
	return nil
}
