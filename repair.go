package shipping

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// straighten rewrites a body so that every value has the type that T wants, where the value can be
// read as one: numbers and booleans that arrive as strings, strings that arrive as numbers, single
// values where a list was, odd timestamps. What cannot be read becomes null. One odd field never
// loses a record, let alone a page.
//
// It runs only after the plain one-pass decoding met an odd value, on the text of jsonexact.Text.
func straighten[T any](body []byte) []byte {
	w := walker{}
	return w.value(body, reflect.TypeFor[T](), "")
}

// lostRecords is an error where data, or the list of records in it, is of another kind than documented:
// made null, it would read as a page without records, and end a list early in silence.
func lostRecords[T any](body []byte) error {
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(body, &answer) // the body was read before
	t, want := reflect.TypeFor[T](), ""
	switch t.Kind() {
	case reflect.Struct:
		want = "object"
	case reflect.Slice:
		want = "array"
	}
	if got := jsonKind(answer.Data); got != want && got != "null" && want != "" {
		return fmt.Errorf("data is of type %s instead of %s", got, want)
	}
	for name, field := range fieldsOf(t) {
		if field.Type.Kind() != reflect.Slice || field.Type.Elem().Kind() != reflect.Struct {
			continue
		}
		if got := jsonKind(json.RawMessage(RawJSON(answer.Data).Get(name))); got != "array" && got != "null" {
			return fmt.Errorf("data.%s is of type %s instead of array", name, got)
		}
	}
	return nil
}

// walker goes through a JSON value beside the Go type it is meant for. It returns the value in that
// type's notation and, where note is set, tells what differs.
type walker struct {
	note func(path string, kind DriftKind, detail string)
}

var null = json.RawMessage("null")

func (w walker) value(raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	if jsonKind(raw) == "null" {
		return null
	}
	switch t {
	case reflect.TypeFor[RawJSON](), reflect.TypeFor[requestData]():
		return raw
	case reflect.TypeFor[Amount]():
		if kind := jsonKind(raw); kind != "number" {
			w.odd(path, kind, "number")
		}
		return raw // Amount reads anything, and knows what is unreadable
	case reflect.TypeFor[time.Time]():
		return w.timestamp(raw, path)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.value(raw, t.Elem(), path)
	case reflect.Struct:
		return w.object(raw, t, path)
	case reflect.Slice:
		return w.array(raw, t, path)
	case reflect.Map:
		return w.expect(raw, "object", path)
	case reflect.String:
		return w.text(raw, path)
	case reflect.Bool:
		return w.boolean(raw, path)
	case reflect.Int, reflect.Int64:
		return w.integer(raw, path)
	case reflect.Float64:
		return w.float(raw, path)
	default:
		return raw
	}
}

func (w walker) object(raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	if w.note == nil {
		raw = exactMembers(raw, t)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		if t == reflect.TypeFor[AvailableDocument]() && jsonKind(raw) == "string" {
			w.odd(path, "string", "object")
			return raw // a bare slug, which the type reads itself
		}
		return w.expect(raw, "object", path)
	}
	fields := fieldsOf(t)
	straight := make(map[string]json.RawMessage, len(members))
	for name, member := range members {
		field, known := fields[name]
		if !known {
			w.unknown(path+"."+name, member)
			straight[name] = member
			continue
		}
		straight[name] = w.value(member, field.Type, path+"."+name)
	}
	for name, field := range fields {
		if _, present := members[name]; !present && !optional(field) {
			w.missing(path + "." + name)
		}
	}
	return encode(straight)
}

// exactMembers hides the members of an object that its type's UnmarshalJSON would not read. Those of other
// types were hidden in the whole body.
func exactMembers(raw json.RawMessage, t reflect.Type) json.RawMessage {
	switch t {
	case reflect.TypeFor[Webhook]():
		return jsonexact.Text(raw, &webhookWire{})
	case reflect.TypeFor[AvailableDocument]():
		return jsonexact.Text(raw, &availableWire{})
	}
	return raw
}

// optional reports whether a field may be absent: so marked, or left out by ourselves where empty.
func optional(field reflect.StructField) bool {
	_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return field.Tag.Get("spec") == "optional" || options != ""
}

// fieldsOf returns the fields of a struct by their JSON names, those included that are read under
// another name too.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = field
		}
	}
	for alias, name := range aliasesOf(t) {
		field := fields[name]
		field.Tag = `spec:"optional"`
		fields[alias] = field
	}
	return fields
}

// aliasesOf returns the other names that a type's UnmarshalJSON reads.
func aliasesOf(t reflect.Type) map[string]string {
	switch t {
	case reflect.TypeFor[Webhook]():
		return map[string]string{"events": "event"}
	case reflect.TypeFor[AvailableDocument]():
		return map[string]string{"type": "document_type", "slug": "document_type", "price": "amount"}
	}
	return nil
}

func (w walker) array(raw json.RawMessage, t reflect.Type, path string) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		if t.Elem().Kind() != reflect.String || jsonKind(raw) != "string" {
			return w.expect(raw, "array", path)
		}
		w.odd(path, "string", "array")
		items = []json.RawMessage{raw}
	}
	for i := range items {
		items[i] = w.value(items[i], t.Elem(), path+"[]")
	}
	return encode(items)
}

func (w walker) text(raw json.RawMessage, path string) json.RawMessage {
	switch kind := jsonKind(raw); kind {
	case "string":
		return raw
	case "number", "boolean":
		w.odd(path, kind, "string")
		return encode(string(raw))
	default:
		w.odd(path, kind, "string")
		return null
	}
}

func (w walker) boolean(raw json.RawMessage, path string) json.RawMessage {
	kind := jsonKind(raw)
	if kind == "boolean" {
		return raw
	}
	w.odd(path, kind, "boolean")
	switch strings.ToLower(RawJSON(raw).Text()) {
	case "true", "1", "yes":
		return json.RawMessage("true")
	case "false", "0", "no", "":
		return json.RawMessage("false")
	}
	return null
}

func (w walker) integer(raw json.RawMessage, path string) json.RawMessage {
	if kind := jsonKind(raw); kind != "number" {
		w.odd(path, kind, "number")
	}
	exact, err := ParseAmount(RawJSON(raw).Text())
	if err != nil || !exact.Equal(exact.Round(0)) {
		return null
	}
	return json.RawMessage(exact.String())
}

func (w walker) float(raw json.RawMessage, path string) json.RawMessage {
	if kind := jsonKind(raw); kind != "number" {
		w.odd(path, kind, "number")
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(RawJSON(raw).Text()), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return null
	}
	return strconv.AppendFloat(nil, n, 'g', -1, 64)
}

// timestamp reads the layouts that services of this kind are seen to send, and seconds or
// milliseconds since 1970.
func (w walker) timestamp(raw json.RawMessage, path string) json.RawMessage {
	kind, text := jsonKind(raw), strings.TrimSpace(RawJSON(raw).Text())
	if _, err := time.Parse(time.RFC3339, text); err == nil && kind == "string" {
		return raw
	}
	w.odd(path, kind, "ISO 8601 timestamp")
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly, time.RFC1123, time.RFC1123Z} {
		if at, err := time.Parse(layout, text); err == nil {
			return encode(at.UTC())
		}
	}
	const firstMillisecond = 100_000_000_000 // as seconds, the year 5138
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		at := time.Unix(n, 0)
		if n >= firstMillisecond {
			at = time.UnixMilli(n)
		}
		if at.Year() <= 9999 {
			return encode(at.UTC())
		}
	}
	return null
}

// expect keeps a value of the wanted kind and turns any other into null.
func (w walker) expect(raw json.RawMessage, want, path string) json.RawMessage {
	if kind := jsonKind(raw); kind != want {
		w.odd(path, kind, want)
		return null
	}
	return raw
}

func (w walker) odd(path, got, want string) {
	if w.note != nil && got != want {
		w.note(path, DriftType, got+" instead of "+want)
	}
}

func (w walker) unknown(path string, raw json.RawMessage) {
	if w.note != nil {
		w.note(path, DriftUnknown, jsonKind(raw))
	}
}

func (w walker) missing(path string) {
	if w.note != nil {
		w.note(path, DriftMissing, "")
	}
}

func jsonKind(raw json.RawMessage) string {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return "object"
		case '[':
			return "array"
		case '"':
			return "string"
		case 't', 'f':
			return "boolean"
		case 'n':
			return "null"
		}
		return "number"
	}
	return "null"
}

// encode is json.Marshal for values that cannot fail: raw messages that were parsed, text and times.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return null
	}
	return raw
}
