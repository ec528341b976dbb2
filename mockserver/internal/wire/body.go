package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
)

// MaxBody is the longest body of a request.
//
// Assumption: the limit. The documented bodies are far smaller.
const MaxBody = 1 << 20

// ReadBody returns the body of a request, or a refusal: 413 over the limit, 415 if it is encoded or not declared as
// JSON.
//
// Specification: "Authentication" (Content-Type: application/json for POST and PUT bodies; optional
// for replay). Assumption: a body without a Content-Type counts as JSON.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, *Reply) {
	body, refusal := ReadAny(w, r)
	if refusal == nil {
		refusal = checkType(r.Header, body)
	}
	return body, refusal
}

// ReadAny is ReadBody for a body of any type.
func ReadAny(w http.ResponseWriter, r *http.Request) ([]byte, *Reply) {
	done := limitTime(w, r)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	done(err == nil)
	if err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, new(Refused(http.StatusRequestTimeout, CodeTimeout,
				fmt.Sprintf("the body did not arrive within %v: send all of it", bodyTimeout)))
		}
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			p := Refused(http.StatusRequestEntityTooLarge, CodeTooLarge,
				fmt.Sprintf("the body is longer than %d bytes: send less", MaxBody))
			return nil, &p
		}
		return nil, new(Refused(http.StatusBadRequest, CodeMalformed, "the body ended early: send it again"))
	}
	return body, nil
}

// checkType returns the refusal of a body that is encoded or not declared as JSON.
func checkType(header http.Header, body []byte) *Reply {
	if encoded := header.Get("Content-Encoding"); len(body) > 0 && encoded != "" &&
		!strings.EqualFold(encoded, "identity") {
		return new(Refused(http.StatusUnsupportedMediaType, CodeMediaType,
			fmt.Sprintf("the body has the Content-Encoding %q: send it without one", encoded)))
	}
	declared := header.Get("Content-Type")
	kind, _, err := mime.ParseMediaType(declared)
	if len(body) == 0 || declared == "" || err == nil && kind == "application/json" {
		return nil
	}
	return new(Refused(http.StatusUnsupportedMediaType, CodeMediaType,
		fmt.Sprintf("the body is declared as %q: send JSON with Content-Type: application/json", declared)))
}

// Limits of bodies.
const (
	bodyTimeout = 30 * time.Second // for the whole body
	maxSkipped  = 256 << 10        // bytes of an unused body, as in net/http
)

// Skip reads an unused body before the response is written, because net/http would wait for it without a deadline. If
// the body does not end, the connection is closed after the response.
func Skip(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	done := limitTime(w, r)
	_, err := io.CopyN(io.Discard, r.Body, maxSkipped)
	done(errors.Is(err, io.EOF))
}

// limitTime sets the deadline of a body. done removes the deadline of a complete body: net/http reads on, to detect a
// client that disconnects. An incomplete body keeps its deadline, because net/http waits for it before it writes the
// response.
func limitTime(w http.ResponseWriter, r *http.Request) (done func(complete bool)) {
	conn := http.NewResponseController(w)
	// A writer without deadlines, such as a recorder, has no slow client.
	_ = conn.SetReadDeadline(time.Now().Add(bodyTimeout))
	return func(complete bool) {
		r.Body = http.NoBody // the rest is not read
		if complete {
			_ = conn.SetReadDeadline(time.Time{})
		}
	}
}

// maxElements is the largest number of elements of the lists in a body, because each becomes a record.
const maxElements = MaxBody / 256

// Decoding decodes bodies. Strict refuses unknown members.
type Decoding struct{ Strict bool }

// Decode decodes the body into a struct, with exact member names. An empty body counts as an empty object, so that
// the operation reports the missing members. Unknown fields are noted, and ignored unless decoding is strict.
func (d Decoding) Decode(x *Exchange, into any) *Reply {
	text := bytes.TrimSpace(x.Body)
	if len(text) == 0 {
		return nil
	}
	if text[0] != '{' {
		return new(Refused(http.StatusBadRequest, CodeMalformed, "the body is not a JSON object: send one, such as {}"))
	}
	if jsonread.Crowded(text, maxElements) {
		return new(Refused(http.StatusRequestEntityTooLarge, CodeTooLarge,
			fmt.Sprintf("the lists in the body hold more than %d elements: send fewer", maxElements)))
	}
	x.Unknown = unknownFields(text, into)
	x.Misspelt = misspelt(x.Unknown, into)
	err := d.read(x.Body, into)
	if err == nil {
		return nil
	}
	return new(Refused(http.StatusBadRequest, CodeMalformed, "the body is not valid: "+position(err, len(x.Body))))
}

func (d Decoding) read(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(jsonread.Text(text, into)))
	err := decoder.Decode(into)
	if err == nil {
		if _, end := decoder.Token(); !errors.Is(end, io.EOF) {
			err = fmt.Errorf("unexpected text after the object at byte %d", decoder.InputOffset())
		}
	}
	if err == nil && d.Strict {
		if name, found := jsonread.UnknownMember(text, into); found {
			err = fmt.Errorf("unknown field %q: remove it", name)
		}
	}
	return err
}

// DecodeControl decodes a body for the control surface, which refuses unknown and repeated fields at any depth.
func (d Decoding) DecodeControl(x *Exchange, into any) *Reply {
	if refusal := d.Decode(x, into); refusal != nil {
		return refusal
	}
	if name, found := repeated(jsonread.Parse(string(x.Body))); found {
		return new(Refused(http.StatusBadRequest, CodeInvalid, fmt.Sprintf("field %q is given twice: remove one", name)))
	}
	name, found := jsonread.UnknownMember(x.Body, into)
	if !found {
		return nil
	}
	places := map[string]string{}
	addPlaces(places, reflect.TypeOf(into), "the outermost object")
	advice := spelling.Suggestion(name, slices.Sorted(maps.Keys(places)))
	if place, known := places[name]; known {
		advice = " in this place: it is a field of " + place
	}
	return new(Refused(http.StatusBadRequest, CodeInvalid, fmt.Sprintf("unknown field %q%s", name, advice)))
}

// repeated returns the first name that an object in a value has twice.
func repeated(value jsonread.Value) (name string, found bool) {
	name, found = value.Repeated()
	for i := 0; i < len(value.Members) && !found; i++ {
		name, found = repeated(value.Members[i].Value)
	}
	for i := 0; i < len(value.Elements) && !found; i++ {
		name, found = repeated(value.Elements[i])
	}
	return name, found
}

// addPlaces adds the JSON names of the fields of a type, at any depth, each with the first place that has it.
func addPlaces(places map[string]string, t reflect.Type, place string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		addPlaces(places, t.Elem(), place)
	case reflect.Struct:
		for field := range t.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				places[name] = cmp.Or(places[name], place)
				addPlaces(places, field.Type, strconv.Quote(name))
			}
		}
	}
}

// unknownFields returns the names in an object for which a struct has no field, sorted. A body that is not an object
// has none, and a map accepts every name.
func unknownFields(object []byte, into any) []string {
	shape := reflect.TypeOf(into).Elem()
	if shape.Kind() != reflect.Struct {
		return nil
	}
	var sent map[string]json.RawMessage
	if json.Unmarshal(object, &sent) != nil {
		return nil
	}
	for _, name := range MemberNames(shape) {
		delete(sent, name)
	}
	return slices.Sorted(maps.Keys(sent))
}

// MemberNames returns the JSON names of the fields of a struct type, not those of its fields' types.
func MemberNames(shape reflect.Type) []string {
	var names []string
	for field := range shape.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

const maxMisspelt = 3

// misspelt returns a sentence for each of the first unknown fields that is similar to a field of a struct.
func misspelt(unknown []string, into any) string {
	var notes strings.Builder
	for _, name := range unknown[:min(len(unknown), maxMisspelt)] {
		if meant := spelling.Meant(name, MemberNames(reflect.TypeOf(into).Elem())); meant != "" {
			fmt.Fprintf(&notes, "; unknown field %.60q%s", name, meant)
		}
	}
	return notes.String()
}

// position describes a decoding error, and where in the body it occurred.
func position(err error, length int) string {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if strings.Contains(syntax.Error(), `'\''`) {
			return "it has a single quote: write double quotes"
		}
		return fmt.Sprintf("%v at byte %d", syntax, syntax.Offset)
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if ok && wrong.Type == reflect.TypeFor[time.Time]() || strings.HasPrefix(err.Error(), "Time.UnmarshalJSON: ") {
		// Of a fault rule: no other body has times.
		return "from or until is not a time: write it as 2026-01-05T09:30:00Z; for the n-th request use nth or first"
	}
	if ok {
		if wrong.Value == "number" && (wrong.Type.Name() == "Duration" || strings.HasSuffix(wrong.Field, "duration")) {
			return fmt.Sprintf("field %q is a number: write a string with a unit, such as \"90s\" or \"1h30m\"", wrong.Field)
		}
		sent := map[string]string{"string": "a text", "bool": "true or false", "array": "a list", "object": "an object"}
		text := fmt.Sprintf("field %q is %s, and must be %s", wrong.Field, cmp.Or(sent[wrong.Value], "a number"),
			formOf(wrong.Type))
		if wrong.Type.Kind() == reflect.String && (wrong.Value == "object" || wrong.Value == "array") {
			text += `: send its JSON as a string, such as "{\"a\":1}"`
		}
		return text
	}
	if date, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Sprintf("%s is not a time: write it as 2026-01-05T09:30:00Z", date.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Sprintf("it is incomplete, with %d bytes: send the whole JSON object", length)
	}
	return err.Error()
}

// formOf describes the JSON of a Go type.
func formOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return formOf(t.Elem())
	case reflect.Struct:
		return "an object such as " + example(t)
	case reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list such as [" + example(t.Elem()) + "]"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// example shows the JSON of a Go type, with the first member of an object.
func example(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return fmt.Sprintf("{%q:…}", MemberNames(t)[0])
	case reflect.String:
		return `"…"`
	}
	return "…"
}
