package documents_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// The second part of SPECIFICATION.md is generated from service.json and the golden files; -record writes it.
func TestSpecification_IsGenerated(t *testing.T) {
	t.Parallel()
	var page specification
	shippingtest.NoError(t, json.Unmarshal([]byte(readText(t, "internal/specification/service.json")), &page.document))
	for _, op := range operations.All() {
		if !op.Provisional {
			page.operation(t, op)
		}
	}
	page.provisional()
	page.failures()
	page.printf("\n## Notification\n\nThe body of the POST to a webhook.\n")
	page.members("Notification", page.document.Components.Schemas["Notification"])
	for i := 0; i < len(page.linked); i++ { // a record can link to another one
		record := page.document.Components.Schemas[page.linked[i]]
		page.printf("\n## %s\n", page.linked[i])
		if len(record.Enum) > 0 {
			page.printf("\nOne of `%s`.\n", strings.Join(record.Enum, "`, `"))
			continue
		}
		page.members(page.linked[i], record)
	}
	isGenerated(t, "docs/SPECIFICATION.md", "<!-- generated -->\n", page.text.String())
}

// specification writes the generated part of docs/SPECIFICATION.md.
type specification struct {
	text     strings.Builder
	linked   []string // schemas with their own heading
	document struct {
		Paths      map[string]map[string]endpoint
		Components struct {
			Parameters map[string]parameter
			Responses  map[string]reply
			Schemas    map[string]member
		}
	}
}

type endpoint struct {
	Summary     string
	Parameters  []parameter
	RequestBody reply
	Responses   map[string]reply
	Assumption  string `json:"x-assumption"`
}

type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                member
}

type reply struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]struct{ Schema member }
	Codes       []struct{ Code, Operations, Description string } `json:"x-codes"`
}

// member is a schema of the OpenAPI document.
type member struct {
	Ref               string `json:"$ref"`
	Name, Description string
	Type, Default     any
	Enum, Required    []string
	Examples          []any
	Properties        members
	Items             *member
	Assumption        string `json:"x-assumption"`
}

// members keeps the order of the members of an object.
type members []member

func (m *members) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	_, err := decoder.Token()
	for err == nil && decoder.More() {
		var key json.Token
		var value member
		if key, err = decoder.Token(); err == nil {
			err = decoder.Decode(&value)
		}
		value.Name = fmt.Sprint(key)
		*m = append(*m, value)
	}
	return err
}

func (s *specification) printf(format string, values ...any) { fmt.Fprintf(&s.text, format, values...) }

// operation writes an operation with a request and a response.
func (s *specification) operation(t *testing.T, op operations.Operation) {
	described := s.document.Paths[op.Route][strings.ToLower(op.Method)]
	s.printf("\n## %s %s\n\n%s.%s\n", op.Method, op.Route, described.Summary, assumed(described.Assumption))
	for i, p := range described.Parameters {
		if p.Ref != "" {
			p = s.document.Components.Parameters[last(p.Ref)]
		}
		if i == 0 {
			s.printf("\n| Parameter | Type | Required | Meaning |\n|---|---|---|---|\n")
		}
		meaning := p.Description
		if p.Schema.Default != nil {
			meaning += fmt.Sprintf(" Default `%v`.", p.Schema.Default)
		}
		s.printf("| `%s` (%s) | %s | %s | %s |\n", p.Name, p.In, s.kind(p.Schema), yes(p.Required), meaning)
	}
	if body, has := described.RequestBody.Content["application/json"]; has {
		s.members(last(body.Schema.Ref), s.document.Components.Schemas[last(body.Schema.Ref)])
		s.satisfies(t, op.Name+": request", body.Schema, callOf(t, op.Name).Sent)
	}
	call := callOf(t, op.Name)
	query, body := call.Sent, call.Body()
	list, isList := strings.CutSuffix(op.Name, ".list")
	if isList {
		body = readText(t, "internal/shippingtest/testdata/"+list+".json")
	}
	if op.Pages {
		query = strings.TrimPrefix(query+pageOf(t, body), "&")
	}
	s.printf("\n    %s %s", op.Method, shippingtest.PathOf(op))
	if op.Method != http.MethodGet {
		s.printf("\n    Content-Type: application/json\n    Authorization: Bearer SECRET_KEY\n\n    %s\n", call.Sent)
	} else {
		s.printf("%s\n    Authorization: Bearer SECRET_KEY\n", strings.TrimSuffix("?"+query, "?"))
	}
	if isList {
		s.printf("\nOnly the first record is shown:\n")
		body = firstRecord(body)
	}
	s.printf("\n```json\n%s```\n", body)
	statuses := slices.Sorted(maps.Keys(described.Responses))
	s.printf("\nStatus of a success: %s. [Failures](#failures): %s, and any other.\n",
		strings.Replace(statuses[0], "2XX", "200 (assumed)", 1),
		strings.Join(slices.DeleteFunc(statuses[1:],
			func(status string) bool { return status == "default" || status < "400" }), ", "))
	if success := described.Responses[statuses[0]].Content["application/json"].Schema.Ref; success != "" {
		s.satisfies(t, op.Name+": response", member{Ref: success}, body)
		for _, m := range s.document.Components.Schemas[last(success)].Properties {
			if m.Name != "data" {
				continue
			}
			if list := s.document.Components.Schemas[last(m.Ref)]; strings.HasSuffix(m.Ref, "List") {
				s.members(last(m.Ref), list)
			} else {
				s.printf("\n`data`: %s.\n", s.kind(m))
			}
		}
	}
}

// satisfies reports each member that a table calls "Always" and the example lacks.
func (s *specification) satisfies(t *testing.T, place string, m member, example string) {
	t.Helper()
	var value any
	shippingtest.NoError(t, json.Unmarshal([]byte(example), &value))
	for _, missing := range s.missing(place, m, value) {
		t.Errorf("%s is missing: add it to the example", missing)
	}
}

// missing returns the paths of the required members that a value lacks.
func (s *specification) missing(path string, m member, value any) (paths []string) {
	if m.Ref != "" {
		m = s.document.Components.Schemas[last(m.Ref)]
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range m.Required {
			if _, has := value[name]; !has {
				paths = append(paths, path+"."+name)
			}
		}
		for _, p := range m.Properties {
			paths = append(paths, s.missing(path+"."+p.Name, p, value[p.Name])...)
		}
	case []any:
		for i := 0; m.Items != nil && i < len(value); i++ {
			paths = append(paths, s.missing(fmt.Sprintf("%s[%d]", path, i), *m.Items, value[i])...)
		}
	}
	return paths
}

// pageOf returns the query of the page that a response contains.
func pageOf(t *testing.T, response string) string {
	var page struct {
		Data struct{ Pagination struct{ Page, PerPage int } }
	}
	shippingtest.NoError(t, json.Unmarshal([]byte(response), &page))
	return fmt.Sprintf("&page=%d&perPage=%d", page.Data.Pagination.Page, page.Data.Pagination.PerPage)
}

// callOf returns the call of the client that sends an operation.
func callOf(t *testing.T, operation string) shippingtest.Call {
	for _, call := range shippingtest.Calls() {
		if call.Operation == operation {
			return call
		}
	}
	t.Fatalf("no call of %s", operation)
	return shippingtest.Call{}
}

// firstRecord removes all records of a list in data but the first one.
func firstRecord(text string) string {
	var kept []string
	skipping := ""
	for line := range strings.Lines(text) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		switch {
		case skipping != "":
			if indent+"]" != skipping+"]" {
				continue
			}
			skipping = ""
		case strings.HasPrefix(line, "    },\n") || strings.HasPrefix(line, "      },\n"):
			line, skipping = indent+"}\n", indent[2:]
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

// provisional writes the operations that have no documented path.
func (s *specification) provisional() {
	s.printf("\n## Operations without a documented path\n\n" +
		"| Operation | Assumed route | Body | Response |\n|---|---|---|---|\n")
	for _, op := range operations.All() {
		described := s.document.Paths[op.Route][strings.ToLower(op.Method)]
		if !op.Provisional {
			continue
		}
		body, response := "–", "PDF, with the Content-Type `application/pdf`"
		if content, has := described.RequestBody.Content["application/json"]; has {
			body = s.kind(content.Schema)
			response = s.kind(member{Ref: "RegulatoryRequest"})
		}
		s.printf("| %s | `%s %s` | %s | %s |\n", described.Summary, op.Method, op.Route, body, response)
	}
}

// failures writes the statuses and the codes of failures.
func (s *specification) failures() {
	s.printf("\n## Failures\n\nThe statuses, the codes and the body are assumed. A service can have other codes. After the " +
		"refusal of a purchase, first read the request, as the [rules](#rules) state.\n\n" +
		"| Status | `error_code` | Operations | Meaning |\n|---|---|---|---|\n")
	responses := map[string]reply{}
	for _, methods := range s.document.Paths {
		for _, described := range methods {
			for status, r := range described.Responses {
				if r.Ref != "" {
					responses[status] = s.document.Components.Responses[last(r.Ref)]
				}
			}
		}
	}
	for _, status := range slices.Sorted(maps.Keys(responses)) {
		r := responses[status]
		if len(r.Codes) != 1 {
			s.printf("| %s | | all | %s |\n", strings.Replace(status, "default", "any other", 1), r.Description)
			r.Description = ""
		}
		for _, row := range r.Codes {
			s.printf("| %s | `%s` | %s | %s |\n", status, row.Code, row.Operations,
				strings.TrimSpace(r.Description+" "+row.Description))
		}
	}
	s.members("Refusal", s.document.Components.Schemas["Refusal"])
}

// members writes the table of the members of an object.
func (s *specification) members(title string, object member) {
	if object.Assumption != "" {
		s.printf("\n%s\n", strings.TrimSpace(assumed(object.Assumption)))
	}
	if len(object.Properties) == 0 {
		s.printf("\n%s\n", object.Description)
		return
	}
	s.printf("\n| Member of `%s` | Type | Always | Meaning |\n|---|---|---|---|\n", title)
	s.rows("", object)
}

func (s *specification) rows(prefix string, object member) {
	for _, m := range object.Properties {
		s.printf("| `%s%s` | %s | %s | %s%s%s |\n", prefix, m.Name, s.kind(m), yes(slices.Contains(object.Required, m.Name)),
			m.Description, such(" One of", m.Enum)+such(" Such as", m.Examples), assumed(m.Assumption))
		s.rows(prefix+m.Name+".", m)
		if m.Items != nil {
			s.rows(prefix+m.Name+"[].", *m.Items)
		}
	}
}

// kind returns the type of a schema, with a link to its heading.
func (s *specification) kind(m member) string {
	name := last(m.Ref)
	switch {
	case name == "Amount":
		return "decimal"
	case name != "":
		if !slices.Contains(s.linked, name) {
			s.linked = append(s.linked, name)
		}
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case m.Items != nil && m.Items.Ref == "" && m.Items.Type == nil:
		return "array"
	case m.Items != nil:
		return "array of " + s.kind(*m.Items)
	}
	if types, are := m.Type.([]any); are {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(types), " ", " or "), "[]")
	}
	return cmp.Or(fmt.Sprint(m.Type), "any")
}

// last returns the last element of a reference.
func last(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// such returns a heading with values as code; "" without values.
func such[T any](heading string, values []T) string {
	for i, value := range values {
		heading += fmt.Sprintf("%s `%v`", map[bool]string{false: ","}[i == 0], value)
	}
	if len(values) == 0 {
		return ""
	}
	return heading + "."
}

func assumed(text string) string {
	if text == "" {
		return ""
	}
	text, _, _ = strings.Cut(text, "; the specification does not show it")
	return " *Assumed*: " + strings.TrimPrefix(text, "that ") + "."
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "–"
}
