package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (d *Document) check(schema map[string]any, text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something follows the JSON at byte %d", decoder.InputOffset())
	}
	c := checker{document: d}
	c.check("", schema, value)
	return errors.Join(c.problems...)
}

// checker collects the differences between a value and a schema.
type checker struct {
	document *Document
	problems []error
}

func (c *checker) fail(place, format string, args ...any) {
	if place == "" {
		place = "the body"
	}
	c.problems = append(c.problems, fmt.Errorf("%s "+format, append([]any{place}, args...)...))
}

func (c *checker) check(place string, schema any, value any) {
	s, _ := schema.(map[string]any) // true, the schema of anything, has no members
	if ref, isRef := s["$ref"].(string); isRef {
		c.check(place, c.document.schemas[strings.TrimPrefix(ref, toSchemas)], value)
	}
	if types := list(s["type"]); types != nil && !slices.ContainsFunc(types, func(name any) bool { return isType(name, value) }) {
		c.fail(place, "is %s; it should be %s", show(value), strings.ReplaceAll(strings.Trim(fmt.Sprint(types), "[]"), " ", " or "))
		return // the other keywords are about values of the right type
	}
	if want, is := s["const"]; is && value != want {
		c.fail(place, "is %s; it should be %v", show(value), want)
	}
	if enum := list(s["enum"]); enum != nil && !slices.Contains(enum, value) {
		c.fail(place, "is %s; it should be one of %v", show(value), enum)
	}
	switch value := value.(type) {
	case string:
		if pattern, is := s["pattern"].(string); is && !c.document.pattern(pattern).MatchString(value) {
			c.fail(place, "is %s; it should match %s", show(value), pattern)
		}
		if s["format"] == "date-time" && !isTimestamp(value) { // other formats are advice to readers
			c.fail(place, "is %s; it should be a date-time", show(value))
		}
	case json.Number:
		if least, is := s["minimum"].(float64); is && float(value) < least {
			c.fail(place, "is %s; it should be at least %v", value, least)
		}
	case []any:
		for i, element := range value {
			c.check(place+"/"+strconv.Itoa(i), s["items"], element)
		}
	case map[string]any:
		c.object(place, s, value)
	}
}

// object checks the members of an object. One that the schema does not list is reported, unless the schema has
// additionalProperties: a document that lists members lists all.
func (c *checker) object(place string, s, value map[string]any) {
	for _, name := range list(s["required"]) {
		if _, there := value[name.(string)]; !there {
			c.fail(place+"/"+name.(string), "is missing")
		}
	}
	properties, closed := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(value)) {
		inside := place + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
		property, listed := properties[name]
		additional, open := s["additionalProperties"]
		switch {
		case listed:
			c.check(inside, property, value[name])
		case open:
			c.check(inside, additional, value[name])
		case closed:
			c.fail(inside, "is not in the document")
		}
	}
}

// list returns the elements of a list, or what stands in the place of a list of one.
func list(value any) []any {
	if value == nil {
		return nil
	}
	if several, isList := value.([]any); isList {
		return several
	}
	return []any{value}
}

// float returns a number, infinite if it is too large.
func float(number json.Number) float64 {
	f, _ := number.Float64() // beside the error it returns infinity
	return f
}

func isType(name, value any) bool {
	switch value := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case json.Number:
		return name == "number" || name == "integer" && float(value) == math.Trunc(float(value))
	case string:
		return name == "string"
	case []any:
		return name == "array"
	default:
		return name == "object"
	}
}

func isTimestamp(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// show returns a value as a message has it, shortened.
func show(value any) string {
	text, _ := json.Marshal(value) // it was JSON before
	if most := 60; len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}
