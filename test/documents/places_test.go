package documents_test

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	openapi "github.com/shipping-go/shipping/internal/specification"
	"github.com/shipping-go/shipping/internal/status"
	"github.com/shipping-go/shipping/mockserver"
)

// Each field of the records of a list, and of a regulatory request, is in every place of the recipe in CONTRIBUTING.md.
// The test names the places that lack it.
func TestFields_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	const optional = `, without spec:"optional"`
	server := mockserver.New(mockserver.WithoutListener(),
		mockserver.WithScenario("instant-virtual"))
	defer server.Close()
	schemas := readSchemas(t)
	for _, list := range shippingtest.Lists() {
		if shippingtest.Operation(list.Operation).Route == "" { // TestOperations_AreInEveryPlace reports it
			continue
		}
		name := list.Record.Name()
		fields, required := membersOf(list.Record)
		first := fields[0] // identifies the record
		stored, ids := recordsIn(t, list, served(t, server, list)), map[string]bool{}
		for _, record := range stored {
			ids[string(record[first])] = true
		}
		shippingtest.Diff(t, "different ids of "+list.Name, len(stored), len(ids))
		golden := recordsIn(t, list, []byte(shippingtest.Golden(t, list.Name+".json")))
		file := " record of internal/shippingtest/testdata/" + list.Name + ".json"
		for place, found := range map[string][]string{
			"properties of components/schemas/" + name +
				" in internal/specification/service.json": slices.Collect(maps.Keys(schemas[name].Properties)),
			"the reference server (mockserver/internal/account and mockserver/internal/seed)": fieldsIn(stored),
			// The other records may be odd.
			"the first" + file: fieldsIn(golden[:min(1, len(golden))]),
			"the last" + file + ", whose fields are null": fieldsIn(golden[max(0, len(golden)-1):]),
		} {
			sameFields(t, "type "+name, fields, place, found)
		}
		sameFields(t, name+optional, required, "required in internal/specification/service.json", schemas[name].Required)
		sameFields(t, "fields of type Amount in "+name, ofType[shipping.Amount](list.Record),
			"decimals in internal/specification/service.json", schemas[name].decimals())
		sameFields(t, "fields of type time.Time in "+name, ofType[time.Time](list.Record),
			"those of format date-time in internal/specification/service.json", schemas[name].times())
		optionalIn, nullIn := schemas[name].mayLack()
		sameFields(t, name+", fields that can be missing", optionalIn, "what a seeded record lacks",
			fieldsThat(fields, stored, func(value json.RawMessage) bool { return value == nil }))
		sameFields(t, "the identifier of "+name, []string{first}, "what is not null in the last"+file,
			fieldsThat(fields, golden[max(0, len(golden)-1):],
				func(value json.RawMessage) bool { return string(value) != "null" }))
		sameFields(t, name+", fields that can be null", nullIn, "what is null in a seeded record",
			fieldsThat(fields, stored, func(value json.RawMessage) bool { return string(value) == "null" }))
	}
	for name, record := range map[string]reflect.Type{
		"Timezone":          reflect.TypeOf(shipping.Country{}.Timezones).Elem(),
		"ReplayResult":      reflect.TypeFor[shipping.ReplayResult](),
		"RegulatoryRequest": reflect.TypeFor[shipping.RegulatoryRequest](),
		"LineItem":          reflect.TypeFor[shipping.LineItem](),
		"AvailableDocument": reflect.TypeFor[shipping.AvailableDocument](),
		"Document":          reflect.TypeFor[shipping.PurchasedDocument](),
		"Shipping":          reflect.TypeFor[shipping.ShippingDetails](),
		"Address":           reflect.TypeFor[shipping.Address](),
	} {
		fields, required := membersOf(record)
		sameFields(t, "type "+record.Name(), fields, "properties of components/schemas/"+name+
			" in internal/specification/service.json", slices.Collect(maps.Keys(schemas[name].Properties)))
		sameFields(t, "fields of type time.Time in "+name, ofType[time.Time](record),
			"those of format date-time in internal/specification/service.json", schemas[name].times())
		switch name {
		case "Timezone", "ReplayResult":
			sameFields(t, name+optional, required, "required in internal/specification/service.json", schemas[name].Required)
		case "RegulatoryRequest":
			sameFields(t, name, fields, "invoice.json and request.json in internal/shippingtest/testdata",
				fieldsOf(t, shippingtest.Golden(t, "invoice.json"), shippingtest.Golden(t, "request.json")))
			sameFields(t, name, fields, "the reference server (mockserver/internal/regulatory)",
				fieldsOfRequests(t, server))
		}
	}
}

// fieldsOfRequests returns the fields of a completed request of a shipment and a failed one of an invoice.
func fieldsOfRequests(t *testing.T, server *mockserver.Server) []string {
	t.Helper()
	client := server.Client(t)
	var responses []string
	for _, source := range []shipping.AnalyzeRequest{{ShipmentID: server.Shipments()[0]},
		{FileURL: "https://invoices.example/fail-always.pdf"}} {
		draft := shippingtest.Must(client.Regulatory.Analyze(t.Context(), &source))(t)
		types := shippingtest.Must(shipping.SelectAutomated(draft))(t)
		shippingtest.Must(client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{Draft: draft,
			RequestID: draft.RequestID, DocumentTypes: types}))(t)
		shippingtest.Must(server.Advance(time.Second))(t) // the documents are generated
		record := shippingtest.Must(client.Regulatory.Get(t.Context(), draft.RequestID))(t)
		responses = append(responses, shippingtest.Envelope(string(record.Raw)))
	}
	return fieldsOf(t, responses...)
}

// fieldsOf returns the fields of the records in responses.
func fieldsOf(t *testing.T, responses ...string) []string {
	t.Helper()
	all := map[string]json.RawMessage{}
	for _, response := range responses {
		envelope := struct{ Data *map[string]json.RawMessage }{&all}
		shippingtest.NoError(t, json.Unmarshal([]byte(response), &envelope))
	}
	return slices.Collect(maps.Keys(all))
}

// sameFields requires that two places have the same fields.
func sameFields(t *testing.T, place string, fields []string, other string, found []string) {
	t.Helper()
	slices.Sort(fields)
	slices.Sort(found)
	shippingtest.Diff(t, place+" and "+other, fields, found)
}

// membersOf returns the names of a struct's members on the wire, and those that are required.
func membersOf(record reflect.Type) (all, required []string) {
	for member := range record.Fields() {
		if member.Tag.Get("json") == "-" {
			continue
		}
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		all = append(all, name)
		if member.Tag.Get("spec") != "optional" {
			required = append(required, name)
		}
	}
	return all, required
}

// ofType returns the members of a struct that have a type.
func ofType[T any](record reflect.Type) (names []string) {
	for member := range record.Fields() {
		if member.Type == reflect.TypeFor[T]() {
			name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// schema is a record of the OpenAPI document.
type schema struct {
	Properties map[string]any
	Required   []string
}

// mayLack returns the properties that are not required, and those that can be null.
func (s schema) mayLack() (optional, null []string) {
	for name, property := range s.Properties {
		if !slices.Contains(s.Required, name) {
			optional = append(optional, name)
		}
		member, _ := property.(map[string]any)
		if types, _ := member["type"].([]any); slices.Contains(types, any("null")) {
			null = append(null, name)
		}
	}
	return optional, null
}

// decimals returns the properties that are amounts.
func (s schema) decimals() (names []string) {
	for name, property := range s.Properties {
		member, _ := property.(map[string]any)
		description, _ := member["description"].(string)
		if member["$ref"] == "#/components/schemas/Amount" || strings.HasPrefix(description, "Decimal or null.") {
			names = append(names, name)
		}
	}
	return names
}

// times returns the properties that are times.
func (s schema) times() (names []string) {
	for name, property := range s.Properties {
		if member, _ := property.(map[string]any); member["format"] == "date-time" {
			names = append(names, name)
		}
	}
	return names
}

func readSchemas(t *testing.T) map[string]schema {
	t.Helper()
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	shippingtest.NoError(t, json.Unmarshal([]byte(readText(t, "internal/specification/service.json")), &document))
	return document.Components.Schemas
}

// served returns the response of the server with a list.
func served(t *testing.T, server *mockserver.Server, list shippingtest.List) []byte {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet,
		shippingtest.Operation(list.Operation).Route+"?perPage=10000&"+list.Query(server.Wallets()[0]), nil)
	r.Header.Set("Authorization", "Bearer "+server.SecretKey)
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return w.Body.Bytes()
}

// recordsIn returns the records in a response with a list.
func recordsIn(t *testing.T, list shippingtest.List, response []byte) (records []map[string]json.RawMessage) {
	t.Helper()
	var envelope struct{ Data json.RawMessage }
	err := json.Unmarshal(response, &envelope)
	if list.Paged && err == nil {
		var data map[string]json.RawMessage
		err = json.Unmarshal(envelope.Data, &data)
		envelope.Data = data[list.Name]
	}
	if err := cmp.Or(err, json.Unmarshal(envelope.Data, &records)); err != nil {
		t.Errorf("%s: %v", list.Name, err)
	}
	return records
}

// fieldsIn returns the fields that any of the records has.
func fieldsIn(records []map[string]json.RawMessage) []string {
	all := map[string]json.RawMessage{}
	for _, record := range records {
		maps.Copy(all, record)
	}
	return slices.Collect(maps.Keys(all))
}

// fieldsThat returns the fields of which a condition holds in one of the records.
func fieldsThat(fields []string, records []map[string]json.RawMessage, is func(json.RawMessage) bool) (found []string) {
	for _, field := range fields {
		if slices.ContainsFunc(records, func(r map[string]json.RawMessage) bool { return is(r[field]) }) {
			found = append(found, field)
		}
	}
	return found
}

// Each operation of the table is called by the conformance suite and by the tests of promises. Other tests name the
// handler (TestRouter_NamesTheOperationWithoutAHandler), the path in the OpenAPI document
// (TestOpenAPI_DescribesEveryOperation) and the golden response of a list (TestLists_EveryFieldOfTheGoldenResponse)
// that are missing.
func TestOperations_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	server := mockserver.New()
	defer server.Close()
	if err := server.Err(); err != nil { // the suite cannot make a call
		t.Error(err)
	}
	conformance.Check(t.Context(), conformance.Target{BaseURL: server.URL, Wallet: server.Wallets()[0],
		Shipment: server.Shipments()[0]},
		conformance.WithSecretKey(server.SecretKey), conformance.WithPurchase("CUSTOMS", "100000 NGN"))
	for _, list := range shippingtest.Lists() {
		switch op := shippingtest.Operation(list.Operation); {
		case op.Route == "":
			t.Errorf("the table in operations.go has no %s, for List of client.%s: add a row of that name", list.Operation,
				strings.ToUpper(list.Name[:1])+list.Name[1:])
		case op.Pages != list.Paged:
			t.Errorf("%s: Pages is %t in operations.go, and List returns pages: %t", list.Operation, op.Pages, list.Paged)
		}
	}
	rules := readText(t, "docs/internals/RULES.md")
	for _, op := range operations.All() {
		if path := strings.NewReplacer("{", ":", "}", "").Replace(op.Route); !op.Provisional &&
			!strings.Contains(rules, path) {
			t.Errorf("docs/internals/RULES.md has no rule of %s: add a row that names its path, %s", op.Name, path)
		}
		if !op.Provisional && server.Err() == nil && server.Requests(op.Name) == 0 {
			t.Errorf("the conformance suite makes no call of %s: add a check to conformance/", op.Name)
		}
		if slices.ContainsFunc(shippingtest.Calls(), func(c shippingtest.Call) bool { return c.Operation == op.Name }) {
			continue
		}
		if name, isList := strings.CutSuffix(op.Name, ".list"); isList {
			t.Errorf("%s: shipping.Client has no field %q of a service with a method List: add the service to %s.go and the "+
				"field to client.go", op.Name, strings.ToUpper(name[:1])+name[1:], name)
		} else {
			t.Errorf("%s is missing in Calls of internal/shippingtest/calls.go, so test/promises runs no failure against it",
				op.Name)
		}
	}
}

// A status was added to the constants alone: the client waited without end, and no test failed.
func TestStatuses_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	var names []string
	ends := map[string]bool{}
	for _, row := range status.All() {
		names = append(names, row.Name)
		ends[row.Name] = row.Final
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Enum []string }
		}
	}
	shippingtest.NoError(t, json.Unmarshal(openapi.Service(), &document))
	shippingtest.Diff(t, "RequestStatus in service.json", names, document.Components.Schemas["RequestStatus"].Enum)
	shippingtest.Diff(t, "constants of regulatory.go", names, constants(t, "regulatory.go", "RequestStatus"))
	shippingtest.Diff(t, "constants of mockserver/internal/regulatory/states.go", names,
		constants(t, "mockserver/internal/regulatory/states.go", "State"))
	before, stages, end := map[string]bool{}, map[string]bool{}, "90"
	for _, element := range literal(t, "conformance/purchase.go", "stages") {
		row := element.(*ast.KeyValueExpr)
		stages[text(row.Key)], before[text(row.Key)] = text(row.Value) == end, text(row.Value) == "10"
	}
	shippingtest.Diff(t, "ends in stages of conformance/purchase.go", ends, stages)
	_, tones, _ := strings.Cut(readText(t, "mockserver/internal/admin/console/dom.js"), "const tones = {")
	tones, _, _ = strings.Cut(tones, "}")
	_, rule, _ := strings.Cut(readText(t, "docs/internals/RULES.md"), "| The states are ")
	rule, _, _ = strings.Cut(rule, " |")
	_, shown, _ := strings.Cut(readText(t, "conformance/legitimate_test.go"), `"a request that is read in each state": `)
	shown, _, _ = strings.Cut(shown, "\n")
	_, bought, _ := strings.Cut(readText(t, "docs/SPECIFICATION.md"), "bought = r.status is ")
	bought, _, _ = strings.Cut(bought, "\n")
	for _, row := range status.All() {
		is := strings.Contains(bought, row.Name)
		shippingtest.Diff(t, row.Name+" is a purchase in docs/SPECIFICATION.md", row.Purchased, is)
		shippingtest.Diff(t, row.Name+" has the stage of draft in conformance/purchase.go", !row.Purchased, before[row.Name])
		if row.Purchased && !row.Final {
			shippingtest.Contains(t, "states that conformance/legitimate_test.go shows", shown, `"`+row.Name+`"`)
		}
		places := []string{"docs/SPECIFICATION.md"}
		if !row.Purchased && row.State != status.Draft {
			places = append(places, "docs/batches.md")
		}
		for _, place := range places {
			written, _, _ := strings.Cut(readText(t, place), "<!-- generated -->")
			shippingtest.Contains(t, place, written, "`"+row.Name+"`")
		}
	}
	for _, place := range [][2]string{ // lines that name each end and, after "purchasing", each status of a purchase
		{"docs/SPECIFICATION.md", "| `completed` or"}, {"docs/SPECIFICATION.md", "if r.status is completed"},
		{"docs/internals/EVIDENCE.md", "| lost | `purchasing`"}, {"internal/evidence/evidence.go", "draft,     purchasing"},
		{"internal/evidence/evidence.go", "not known  purchasing"},
		{"conformance/purchase.go", "a purchased request ends in "}, {"conformance/purchase.go", `"one of purchasing`},
		{"test/languages/programs.py", `["status"] not in (`}, {"test/contract/node/smoke.ts", "for (let polls = 0;"},
	} {
		_, line, _ := strings.Cut(readText(t, place[0]), place[1])
		line, _, _ = strings.Cut(place[1]+line, "\n")
		for _, row := range status.All() {
			if row.Final || row.Purchased && strings.Contains(line, "purchasing") {
				shippingtest.Contains(t, place[0], line, row.Name)
			}
		}
	}
	for _, name := range names {
		shippingtest.Contains(t, "the states in docs/internals/RULES.md", rule, "`"+name+"`")
		if name != "draft" { // which has the default tone
			shippingtest.Contains(t, "tones of the console's dom.js", tones, " "+name+": ")
		}
	}
}

// Each Need has its row and its states in docs/batches.md, and a line in the nightly job.
func TestNeeds_AreInEveryPlace(t *testing.T) {
	t.Parallel()
	_, page, _ := strings.Cut(readText(t, "docs/batches.md"), "| State | Meaning |")
	states, rows, _ := strings.Cut(page, "| `Need` | You |")
	exits := map[string]string{"run": "75", "service": "75", "period": "3"} // of examples/nightly
	for _, need := range constants(t, "batch/advice.go", "Need") {
		shippingtest.Contains(t, "the table of Need in docs/batches.md", rows, "\n| "+need+" | ")
		_, row, _ := strings.Cut(rows, "\n| "+need+" | ")
		row, _, _ = strings.Cut(row, "\n")
		shippingtest.Contains(t, "the exit code of "+need+" in docs/batches.md", row, " | "+cmp.Or(exits[need], "1")+" |")
		shippingtest.Contains(t, "the states in docs/batches.md", strings.ReplaceAll(states, "|", ","), ", "+need)
		if need != "person" { // whose action is that of each line
			shippingtest.Contains(t, "action of examples/nightly/output.go", readText(t, "examples/nightly/output.go"),
				"batch.Need"+strings.ToUpper(need[:1])+need[1:]+":")
		}
	}
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	return shippingtest.Must(parser.ParseFile(token.NewFileSet(), file, readText(t, file), 0))(t)
}

// constants returns the values of the constants of a type, without the empty one.
func constants(t *testing.T, file, of string) (values []string) {
	t.Helper()
	ast.Inspect(parsed(t, file), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == of && text(spec.Values[0]) != "" {
			values = append(values, text(spec.Values[0]))
		}
		return true
	})
	return values
}

// literal returns the elements of a variable.
func literal(t *testing.T, file, variable string) (elements []ast.Expr) {
	t.Helper()
	ast.Inspect(parsed(t, file), func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == variable {
			elements = spec.Values[0].(*ast.CompositeLit).Elts
		}
		return true
	})
	return elements
}

// text returns a basic literal without its quotation marks.
func text(of ast.Expr) string {
	written := of.(*ast.BasicLit).Value
	if plain, err := strconv.Unquote(written); err == nil {
		return plain
	}
	return written
}
