package documents_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// specified is one place of SPECIFICATION.md: a heading, and its tests on one side.
type specified struct{ heading, side, text string }

// field is a row of one of its tables of fields.
type field struct{ name, kind, member string }

// readSpecification returns the places of SPECIFICATION.md, and the fields under each heading.
func readSpecification(t *testing.T) (places []specified, fields map[string][]field, headings []string) {
	t.Helper()
	document := readText(t, "docs/SPECIFICATION.md")
	fields = map[string][]field{}
	heading, columns := "", []string(nil)
	for line := range strings.Lines(document) {
		line = strings.TrimSuffix(strings.TrimSpace(line), `\`)
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case strings.HasPrefix(line, "## "):
			heading, columns = line[len("## "):], nil
			headings = append(headings, heading)
		case strings.HasPrefix(line, "**Client**: "), strings.HasPrefix(line, "**Server**: "):
			places = append(places, specified{heading, strings.Trim(line[:len("**Client**")], "*"), line})
		case !strings.HasPrefix(line, "|"):
			columns = nil
		case columns == nil:
			columns = cells
		case strings.HasPrefix(line, "|---"):
		case slices.Equal(columns, []string{"Rule", "Client", "Server"}) && len(cells) == 3:
			places = append(places, specified{heading + ": " + cells[0], "Client", cells[1]}, specified{heading + ": " + cells[0], "Server", cells[2]})
		case slices.Equal(columns, []string{"Field", "Type", "Meaning", "In Go"}) && len(cells) == 4:
			fields[heading] = append(fields[heading], field{strings.Trim(cells[0], "`"), cells[1], strings.Trim(cells[3], "`")})
		case !slices.Equal(columns, []string{"Not shown", "Row of ASSUMPTIONS.md"}):
			t.Errorf("%s: not understood: %s", heading, line)
		}
	}
	return places, fields, headings
}

// Every rule has a test on both sides, wherever the test stands.
func TestSPECIFICATION_EveryRuleIsTested(t *testing.T) {
	t.Parallel()
	places, fields, _ := readSpecification(t)
	if len(places) < 130 || len(fields) < 10 {
		t.Fatalf("only %d places and %d tables of fields were found", len(places), len(fields))
	}
	tests := map[string]bool{}
	for _, folder := range goFolders(t, true) {
		maps.Copy(tests, testsIn(t, folder))
	}
	for _, place := range places {
		named := regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z]\\w*)`").FindAllStringSubmatch(place.text, -1)
		if len(named) == 0 {
			t.Errorf("%s, %s: no test is named", place.heading, place.side)
		}
		for _, name := range named {
			if !tests[name[1]] {
				t.Errorf("%s, %s: test %s does not exist", place.heading, place.side, name[1])
			}
		}
	}
}

// testsIn returns the names of the tests and examples of a folder.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	fromRoot(t)
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
				names[function.Name.Name] = true
			}
		}
	}
	return names
}

// Every documented operation has a heading, or is in the table of regulatory documents.
func TestSPECIFICATION_HasEveryOperation(t *testing.T) {
	document := readText(t, "docs/SPECIFICATION.md")
	placeholder := regexp.MustCompile(`\{(\w+)\}`) // the specification writes :request_id
	for _, op := range operations.All() {
		path := placeholder.ReplaceAllString(strings.TrimPrefix(op.Route, "/v1/regulatory-documents"), ":$1")
		if op.Provisional || strings.Contains(document, "\n## "+op.Method+" "+path+"\n") || strings.Contains(document, "| "+op.Method+" `"+path+"`") {
			continue
		}
		if name, isList := strings.CutSuffix(op.Name, ".list"); isList {
			recordList(t, op.Method+" "+path, name)
			continue
		}
		t.Errorf("docs/SPECIFICATION.md has no rule for %s %s (%s): add its heading and its rows", op.Method, path, op.Name)
	}
}

// Every field is in the OpenAPI document, in this order and with this type, and in the Go type under
// its name on the wire.
func TestSPECIFICATION_EveryFieldIsInTheOpenAPIDocumentAndInGo(t *testing.T) {
	_, fields, _ := readSpecification(t)
	schemas, types := readSchemas(t), goTypes()
	for _, list := range shippingtest.Lists() {
		tables := slices.Collect(maps.Values(fields))
		if !slices.ContainsFunc(tables, func(rows []field) bool { return strings.HasPrefix(rows[0].member, list.Record.Name()+".") }) {
			recordTable(t, list.Record, schemas[list.Record.Name()])
		}
	}
	_, fields, _ = readSpecification(t)
	for heading, rows := range fields {
		name, _, _ := strings.Cut(rows[0].member, ".")
		of, known := types[name]
		schema, described := schemas[name]
		if !described { // several lists share a Go type; each has a schema of its own
			schema, described = schemaOf(schemas, heading)
		}
		if !known || !described {
			t.Errorf("%s: no method of the client returns a %s, or internal/specification/service.json has no schema of that name", heading, name)
			continue
		}
		rows, missing := recordRows(t, heading, of, schema, rows)
		var got, want []string
		for _, row := range rows {
			got = append(got, row.name+" "+row.kind)
			member, _ := of.FieldByName(strings.TrimPrefix(row.member, name+"."))
			if tag, _, _ := strings.Cut(member.Tag.Get("json"), ","); tag != row.name {
				t.Errorf("%s: %s is %q on the wire, not %q", heading, row.member, tag, row.name)
			}
		}
		for name, property := range schema.Properties {
			specified := slices.ContainsFunc(rows, func(row field) bool { return row.name == name })
			switch {
			case !specified && (schema.Assumption != "" || slices.Contains(missing, name)): // an assumption, or reported
			case !specified && !slices.Contains(memberNames(of), name):
				t.Errorf("%s: internal/specification/service.json has the property %s, and type %s does not: add a field with its struct tag to %s",
					heading, name, of.Name(), sourceOf(t, of.Name()))
			default:
				want = append(want, name+" "+property.kind())
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-internal/specification/service.json +docs/SPECIFICATION.md):\n%s", heading, diff)
		}
	}
}

// goTypes returns the structs that the methods of the client's services return, by name.
func goTypes() map[string]reflect.Type {
	found := map[string]reflect.Type{}
	var add func(reflect.Type)
	add = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice:
			add(of.Elem())
		case reflect.Struct:
			if found[of.Name()] != nil || of.PkgPath() != reflect.TypeFor[shipping.Client]().PkgPath() {
				return
			}
			found[of.Name()] = of
			for member := range of.Fields() {
				add(member.Type)
			}
		}
	}
	for service := range reflect.TypeFor[shipping.Client]().Fields() {
		for method := range service.Type.Methods() {
			for result := range method.Type.Outs() {
				add(result)
			}
		}
	}
	return found
}

// schemaOf returns the schema whose description quotes a heading.
func schemaOf(schemas map[string]schema, heading string) (schema, bool) {
	for _, s := range schemas {
		if s.Description == `Specification, "`+heading+`".` {
			return s, true
		}
	}
	return schema{}, false
}

// schema is a record of the OpenAPI document; Assumption lists its members that are not specified.
type schema struct {
	Description string
	Assumption  string `json:"x-assumption"`
	Properties  map[string]property
	Required    []string
}

// property is a field of a schema.
type property struct {
	Ref         string `json:"$ref"`
	Type        any    `json:"type"`
	Description string `json:"description"`
}

// kind is the type as the specification names it.
func (p property) kind() string {
	words := strings.NewReplacer("[", "", "]", "", "integer", "number", " null", " or null")
	switch p.Ref[strings.LastIndex(p.Ref, "/")+1:] {
	case "Amount":
		return "number"
	case "RequestStatus":
		return "string"
	}
	return words.Replace(fmt.Sprint(p.Type))
}

func readSchemas(t *testing.T) map[string]schema {
	t.Helper()
	text := readText(t, filepath.Join("internal", "specification", "service.json"))
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document.Components.Schemas
}

// What any service is held to stands under a heading of this page.
func TestSPECIFICATION_HasTheHeadingsOfTheConformanceSuite(t *testing.T) {
	t.Parallel()
	_, _, headings := readSpecification(t)
	server := mockserver.New()
	defer server.Close()
	report := conformance.Check(t.Context(), conformance.Target{BaseURL: server.URL, Wallet: server.Wallets()[0]},
		conformance.WithSecretKey(server.SecretKey))
	for _, result := range report.Results {
		if !slices.Contains(headings, result.Heading) {
			t.Errorf("docs/SPECIFICATION.md has no heading %q, under which the conformance suite checks %q", result.Heading, result.Check)
		}
	}
}

// What the specification leaves open is a row of ASSUMPTIONS.md.
func TestSPECIFICATION_EveryOpenPointIsAnAssumption(t *testing.T) {
	t.Parallel()
	specification, assumptions := readText(t, "docs/SPECIFICATION.md"), readText(t, "docs/ASSUMPTIONS.md")
	_, table, _ := strings.Cut(specification, "| Not shown | Row of ASSUMPTIONS.md |\n|---|---|\n")
	rows := regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`).FindAllStringSubmatch(table, -1)
	if len(rows) < 15 {
		t.Fatalf("only %d open points were found", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(assumptions, "\n| "+row[2]+" |") {
			t.Errorf("%s: ASSUMPTIONS.md has no row %q", row[1], row[2])
		}
	}
}
