package documents_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
)

// Under -record a new list and its record are added to docs/SPECIFICATION.md with the words of the OpenAPI document. Tests
// that do so do not run in parallel.

const howToRecord = "run go test -run 'TestAPI|TestSPECIFICATION' ./test/documents -record and commit it"

// recordList reports a list without a heading, or adds it with its rules under -record.
func recordList(t *testing.T, heading, name string) {
	t.Helper()
	recordSection(t, "## Regulatory documents, base path /v1/regulatory-documents\n", heading, "| Rule | Client | Server |\n|---|---|---|\n"+
		"| `perPage` (100) and `page` (1) may be given | `TestClient_EveryMethodSendsWhatIsDocumented` | `TestCheck_TheReferenceServerPassesEveryCheckAndDoesAsAssumed` |\n"+
		"| 200: `data."+name+"`, `data.pagination` | `TestLists_EveryFieldOfTheGoldenResponse` | `TestCheck_TheReferenceServerPassesEveryCheckAndDoesAsAssumed` |\n")
}

// recordTable reports a record of a list without a table of its fields, or begins the table under -record. recordRows adds
// the other rows.
func recordTable(t *testing.T, of reflect.Type, schema schema) {
	t.Helper()
	first := of.Field(0)
	property, described := schema.Properties[first.Tag.Get("json")]
	if !described {
		t.Errorf("internal/specification/service.json has no schema %s with the member %s: add it to components/schemas", of.Name(), first.Tag.Get("json"))
		return
	}
	recordSection(t, "## States and transitions\n", of.Name(), "**Client**: `TestLists_EveryFieldOfTheGoldenResponse`\\\n"+
		"**Server**: `TestCheck_TheReferenceServerPassesEveryCheckAndDoesAsAssumed`\n\n| Field | Type | Meaning | In Go |\n|---|---|---|---|\n"+
		property.row(first.Tag.Get("json"), of.Name()+"."+first.Name))
}

// recordSection reports a heading that docs/SPECIFICATION.md lacks, or adds it with its text under -record, above another
// heading.
func recordSection(t *testing.T, above, heading, text string) {
	t.Helper()
	const path = "docs/SPECIFICATION.md"
	before, after, found := strings.Cut(readText(t, path), above)
	switch {
	case !*recordAPI:
		t.Errorf("%s has no heading %q: %s, then correct its words", path, heading, howToRecord)
	case !found:
		t.Errorf("%s has no heading %q, above which %q belongs", path, above, heading)
	default:
		writeText(t, path, []string{before + "## " + heading + "\n\n" + text + "\n" + above + strings.TrimSuffix(after, "\n")})
	}
}

// recordRows reports the members of a Go type that have no row, or adds their rows under -record, each after that of the
// member before it and with the description of the OpenAPI document. It returns all rows, and the names that it reported.
func recordRows(t *testing.T, heading string, of reflect.Type, schema schema, rows []field) (all []field, missing []string) {
	t.Helper()
	const path = "docs/SPECIFICATION.md"
	if schema.Assumption != "" || of == reflect.TypeFor[shipping.Pagination]() {
		return rows, nil // not all members are in the table
	}
	before := ""
	for member := range of.Fields() {
		name, tag := of.Name()+"."+member.Name, member.Tag.Get("json")
		if _, described := schema.Properties[tag]; described && slices.Contains(schema.Required, tag) == (member.Tag.Get("spec") == "optional") {
			t.Errorf("%s (%s): a member is either in required of internal/specification/service.json, or has the struct tag spec:\"optional\"", name, tag)
		}
		if slices.ContainsFunc(rows, func(row field) bool { return row.member == name }) {
			before = name
			continue
		}
		property, described := schema.Properties[tag]
		switch {
		case !described:
			t.Errorf("%s (%s) is not in internal/specification/service.json: add it to the properties of its schema", name, tag)
		case !*recordAPI:
			missing = append(missing, tag)
			t.Errorf("%s, %s: no row for %s (%s); %s", path, heading, name, tag, howToRecord)
		default:
			row := field{tag, property.kind(), name}
			text, after := readText(t, path), regexp.MustCompile("(?m)^.* \\| `"+regexp.QuoteMeta(before)+"` \\|\n")
			place := after.FindStringIndex(text)
			if place == nil {
				t.Errorf("%s: no row for %s, after which the row of %s belongs", path, before, name)
				continue
			}
			writeText(t, path, []string{text[:place[1]] + property.row(tag, name) + strings.TrimSuffix(text[place[1]:], "\n")})
			rows, before = append(rows, row), name
		}
	}
	return rows, missing
}

// row returns the row of a member that is a field of a Go type.
func (p property) row(name, member string) string {
	return fmt.Sprintf("| `%s` | %s | %s | `%s` |\n", name, p.kind(), strings.TrimSuffix(p.Description, "."), member)
}
