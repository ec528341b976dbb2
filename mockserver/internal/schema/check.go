package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// Check returns an error that names everything in which a JSON text differs from the schema, each with
// its place such as /data/rates/0/amount, or nil.
func (s *Schema) Check(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something follows the JSON at byte %d", decoder.InputOffset())
	}
	var c checker
	c.check("", s, value)
	return errors.Join(c.problems...)
}

// checker collects what is wrong with a value.
type checker struct{ problems []error }

func (c *checker) fail(place, format string, args ...any) {
	if place == "" {
		place = "the body"
	}
	c.problems = append(c.problems, fmt.Errorf("%s "+format, append([]any{place}, args...)...))
}

func (c *checker) check(place string, s *Schema, value any) {
	if s.target != nil {
		c.check(place, s.target, value)
	}
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(name string) bool { return isType(name, value) }) {
		c.fail(place, "is %s; it should be %s", describe(value), strings.Join(s.types, " or "))
		return // what follows is about values of the right type
	}
	if s.constant != nil && value != s.constant {
		c.fail(place, "is %s; it should be %v", describe(value), s.constant)
	}
	if s.enum != nil && !slices.Contains(s.enum, value) {
		c.fail(place, "is %s; it should be one of %v", describe(value), s.enum)
	}
	switch value := value.(type) {
	case string:
		c.text(place, s, value)
	case json.Number:
		c.number(place, s, value)
	case []any:
		c.array(place, s, value)
	case map[string]any:
		c.object(place, s, value)
	}
	c.logic(place, s, value)
}

// fits reports whether a value agrees with a schema.
func fits(s *Schema, value any) bool {
	var c checker
	c.check("", s, value)
	return c.problems == nil
}

func (c *checker) logic(place string, s *Schema, value any) {
	if s.not != nil && fits(s.not, value) {
		c.fail(place, "is what it should not be")
	}
	if s.condition == nil {
		return
	}
	branch := s.otherwise
	if fits(s.condition, value) {
		branch = s.then
	}
	if branch != nil {
		c.check(place, branch, value)
	}
}

func (c *checker) text(place string, s *Schema, value string) {
	if s.pattern != nil && !s.pattern.MatchString(value) {
		c.fail(place, "is %s; it should match %s", describe(value), s.pattern)
	}
	if s.isFormat != nil && !s.isFormat(value) {
		c.fail(place, "is %s; it should be a %s", describe(value), s.format)
	}
}

func (c *checker) number(place string, s *Schema, value json.Number) {
	if !s.minimum.Known() {
		return
	}
	number, err := shipping.ParseAmount(value.String())
	tooSmall := number.Cmp(s.minimum) < 0
	if err != nil { // more digits than fit: the sign decides
		tooSmall = strings.HasPrefix(value.String(), "-")
	}
	if tooSmall {
		c.fail(place, "is %s; it should be at least %s", value, s.minimum)
	}
}

func (c *checker) array(place string, s *Schema, value []any) {
	if len(value) < s.minItems {
		c.fail(place, "has %d entries; it should have at least %d", len(value), s.minItems)
	}
	if s.items == nil {
		return
	}
	for i, entry := range value {
		c.check(place+"/"+strconv.Itoa(i), s.items, entry)
	}
}

func (c *checker) object(place string, s *Schema, value map[string]any) {
	c.required(place, s.required, value)
	for _, name := range slices.Sorted(maps.Keys(s.dependent)) {
		if _, there := value[name]; there {
			c.required(place, s.dependent[name], value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		inside := place + "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
		switch property, listed := s.properties[name]; {
		case listed:
			c.check(inside, property, value[name])
		case s.additional != nil:
			c.check(inside, s.additional, value[name])
		case s.closed:
			c.fail(inside, "is not in the document")
		}
	}
}

func (c *checker) required(place string, names []string, value map[string]any) {
	for _, name := range names {
		if _, there := value[name]; !there {
			c.fail(place+"/"+name, "is missing")
		}
	}
}

func isType(name string, value any) bool {
	switch value := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case json.Number:
		return name == "number" || (name == "integer" && isWhole(value.String()))
	case string:
		return name == "string"
	case []any:
		return name == "array"
	default:
		return name == "object"
	}
}

// isWhole reports whether a JSON number has no fraction, however it is written: 1, 1.0, 1e2, 100e-2.
func isWhole(number string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(strings.TrimRight(whole+fraction, "0"), "0")
	if digits == "" {
		return true
	}
	spare := len(whole) - len(strings.TrimRight(whole+fraction, "0")) // zeros before the point, or digits behind it
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil { // beyond every number that is meant
			return !strings.HasPrefix(exponent, "-")
		}
	}
	return spare+shift >= 0
}

// formats are the formats that the document uses, and what a text of each is.
func formats() map[string]func(string) bool {
	return map[string]func(string) bool{
		"date-time": func(text string) bool {
			_, err := time.Parse(time.RFC3339, text)
			return err == nil
		},
		"uri": func(text string) bool {
			u, err := url.Parse(text)
			return err == nil && u.IsAbs()
		},
		"double": nil, // of a number: what a reader needs for it
		"int64":  nil,
	}
}

// describe shows a value in a message, shortened.
func describe(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if most := 60; len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}
