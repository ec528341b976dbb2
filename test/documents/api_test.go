package documents_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var recordAPI = flag.Bool("record", false, "write the exported names to test/api/, and missing lists, records and fields to docs/SPECIFICATION.md")

// The exported names are recorded in test/api/, a line a declaration. A line that is removed or changed can break a
// program, so the changelog must list it first, once a version is released.
func TestAPI_IsAsRecorded(t *testing.T) {
	changelog := readText(t, "CHANGELOG.md")
	for name, folder := range map[string]string{
		"shipping": ".", "batch": "batch", "webhook": "webhook", "storetest": "webhook/storetest", "mockserver": "mockserver", "fault": "mockserver/fault", "assumption": "mockserver/assumption", "notify": "mockserver/notify", "journal": "mockserver/journal", "sweep": "mockserver/sweep", "conformance": "conformance",
		"pgstore": "stores/pgstore", "redisstore": "stores/redisstore",
	} {
		t.Run(name, func(t *testing.T) {
			fromRoot(t)
			path := filepath.Join("test", "api", name+".txt")
			now := exported(t, folder)
			if _, err := os.Stat(path); os.IsNotExist(err) && *recordAPI {
				writeText(t, path, now)
			}
			broken, changed := compareAPI(strings.Split(strings.TrimSpace(readText(t, path)), "\n"), now, changelog)
			switch {
			case len(broken) > 0:
				t.Errorf("gone or changed; take it back, or add a line \"- Breaking: <its name> …\" to CHANGELOG.md under Unreleased:\n%s", strings.Join(broken, "\n"))
			case *recordAPI:
				writeText(t, path, now)
			case len(changed) > 0:
				t.Errorf("not recorded yet; run go test -run TestAPI ./test/documents -record and commit %s:\n%s", path, strings.Join(changed, "\n"))
			}
		})
	}
}

func TestAPI_ABreakingChangeIsNoticedUnlessTheChangelogTellsOfIt(t *testing.T) {
	t.Parallel()
	before := declarations(t, `package p
		type Wallet struct { ID, Currency string; balance int }
		func (w *Wallet) Debit(amount int, reference string) error { return nil }
		func (w *Wallet) Close() {}
		func (hidden) Debit() {}
		type Store interface { Seen(id string) bool }
		type hidden struct{}
		const Limit, limit = 100, 200
		func Open(id string) *Wallet { return nil }`)
	if diff := cmp.Diff([]string{
		"const Limit = 100", "field Wallet.Currency string", "field Wallet.ID string", "func Open(string) *Wallet",
		"method (*Wallet) Close()", "method (*Wallet) Debit(int, string) error", "type Store interface{Seen(string) bool}", "type Wallet struct",
	}, before); diff != "" {
		t.Fatalf("exported names (-want +got):\n%s", diff)
	}
	for name, c := range map[string]struct {
		from, to, changelog string
		broken, changed     int
	}{
		"nothing":                         {},
		"a method is gone":                {from: "method (*Wallet) Close()", broken: 1},
		"a method takes something else":   {from: "Debit(int,", to: "Debit(int64,", broken: 1, changed: 1},
		"a method needs a pointer":        {from: "(*Wallet) Close", to: "(Wallet) Close", broken: 1, changed: 1},
		"a field has another type":        {from: "ID string", to: "ID int", broken: 1, changed: 1},
		"an interface asks for more":      {from: "Seen(string) bool}", to: "Seen(string) bool; Forget()}", broken: 1, changed: 1},
		"a constant has another value":    {from: "100", to: "101", broken: 1, changed: 1},
		"something is new":                {from: "func Open", to: "func Close() error\nfunc Open", changed: 1},
		"the changelog lists it":          {from: "method (*Wallet) Close()", changelog: "## Unreleased\n\n- Breaking: `Wallet.Close` is gone.\n"},
		"the changelog listed it earlier": {from: "method (*Wallet) Close()", changelog: "## Unreleased\n\n## 0.1.0\n\n- Breaking: Wallet.Close is gone.\n", broken: 1},
		"the changelog lists another":     {from: "method (*Wallet) Close()", changelog: "## Unreleased\n\n- Breaking: Wallet.CloseAll, MyWallet.Close.\n", broken: 1},
		"nothing was released":            {from: "method (*Wallet) Close()", changelog: "## Unreleased\n\n## 0.1.0 – the first release, not tagged yet\n", changed: 1},
		"the changelog has it as added":   {from: "method (*Wallet) Close()", changelog: "## Unreleased\n\n- Wallet.Close is gone.\n", broken: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := strings.Split(strings.Replace(strings.Join(before, "\n"), c.from, c.to, 1), "\n")
			now = slices.DeleteFunc(now, func(line string) bool { return line == "" })
			broken, changed := compareAPI(before, now, c.changelog)
			if len(broken) != c.broken || len(changed) != c.changed {
				t.Errorf("broken %q, changed %q", broken, changed)
			}
		})
	}
}

// compareAPI returns the recorded lines that are gone and that the changelog does not list, and the lines
// that are new. Before the first release nothing is broken: lines that are gone have changed.
func compareAPI(recorded, now []string, changelog string) (broken, changed []string) {
	first := strings.Contains(changelog, "– the first release, not tagged yet\n")
	_, unreleased, _ := strings.Cut("\n"+changelog, "\n## Unreleased\n")
	unreleased, _, _ = strings.Cut(unreleased, "\n## ")
	for _, line := range recorded {
		told := regexp.MustCompile(`(?m)^- Breaking:.*(^|[^\w.])` + regexp.QuoteMeta(declared(line)) + `($|\W)`)
		switch {
		case slices.Contains(now, line):
		case first:
			changed = append(changed, line)
		case !told.MatchString(unreleased):
			broken = append(broken, line)
		}
	}
	for _, line := range now {
		if !slices.Contains(recorded, line) {
			changed = append(changed, line)
		}
	}
	return broken, changed
}

// declared is the name in a line of the record: Client.Do of "method (*Client) Do(…)".
func declared(line string) string {
	parts := regexp.MustCompile(`^\w+ (?:\(\*?(\w+)[^)]*\) )?([\w.]+)`).FindStringSubmatch(line)
	return strings.TrimPrefix(parts[1]+"."+parts[2], ".")
}

// exported lists what the package in a folder exports, on any platform.
func exported(t *testing.T, folder string) []string {
	t.Helper()
	fromRoot(t)
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			sources = append(sources, readText(t, path))
		}
	}
	return declarations(t, sources...)
}

// declarations lists what files of one package export: a line each, sorted, without the names of parameters
// and the values of variables, which nobody depends on.
func declarations(t *testing.T, sources ...string) []string {
	t.Helper()
	var lines []string
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch declaration := declaration.(type) {
			case *ast.FuncDecl:
				lines = append(lines, functionLine(declaration)...)
			case *ast.GenDecl:
				for i, spec := range declaration.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						lines = append(lines, typeLines(spec)...)
					case *ast.ValueSpec:
						lines = append(lines, valueLines(declaration, i, spec)...)
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func functionLine(f *ast.FuncDecl) []string {
	if !f.Name.IsExported() {
		return nil
	}
	signature := f.Name.Name + strings.TrimPrefix(typeText(f.Type), "func")
	if f.Recv == nil {
		return []string{"func " + signature}
	}
	receiver := typeText(f.Recv.List[0].Type)
	if !ast.IsExported(strings.TrimPrefix(receiver, "*")) {
		return nil
	}
	return []string{"method (" + receiver + ") " + signature}
}

// typeLines is a line for the type and one for each exported field. An interface is one line with all its
// methods: who implements it is broken by one more.
func typeLines(spec *ast.TypeSpec) []string {
	if !spec.Name.IsExported() {
		return nil
	}
	name := spec.Name.Name
	head := "type " + name
	if spec.TypeParams != nil {
		head += strings.TrimSuffix(strings.TrimPrefix(typeText(&ast.FuncType{TypeParams: spec.TypeParams, Params: &ast.FieldList{}}), "func"), "()")
	}
	if spec.Assign.IsValid() {
		head += " ="
	}
	of, ok := spec.Type.(*ast.StructType)
	if !ok {
		return []string{head + " " + typeText(spec.Type)}
	}
	lines := []string{head + " struct"}
	for _, field := range of.Fields.List {
		kind := typeText(field.Type)
		names := field.Names
		if names == nil { // embedded: named for its type
			names = []*ast.Ident{ast.NewIdent(kind[strings.LastIndexAny(kind, "*.")+1:])}
		}
		for _, field := range names {
			if field.IsExported() {
				lines = append(lines, "field "+name+"."+field.Name+" "+kind)
			}
		}
	}
	return lines
}

// valueLines is a line for each constant or variable. A constant without a value has that of the
// last one that does, counted on.
func valueLines(declaration *ast.GenDecl, i int, spec *ast.ValueSpec) []string {
	from := spec
	for at := i; declaration.Tok == token.CONST && from.Values == nil && at > 0; at-- {
		from = declaration.Specs[at-1].(*ast.ValueSpec)
	}
	var lines []string
	for n, name := range spec.Names {
		if !name.IsExported() {
			continue
		}
		line := declaration.Tok.String() + " " + name.Name
		if from.Type != nil {
			line += " " + typeText(from.Type)
		}
		if declaration.Tok == token.CONST && name.Name != "Version" { // which is another with every release
			value := typeText(from.Values[n])
			line += " = " + regexp.MustCompile(`\biota\b`).ReplaceAllString(value, fmt.Sprint(i))
		}
		lines = append(lines, line)
	}
	return lines
}

// typeText is an expression on one line, without the names of parameters and results.
func typeText(of ast.Expr) string {
	ast.Inspect(of, func(node ast.Node) bool {
		if function, ok := node.(*ast.FuncType); ok {
			for _, list := range []*ast.FieldList{function.Params, function.Results} {
				if list != nil {
					list.List = unnamed(list.List)
				}
			}
		}
		return true
	})
	return types.ExprString(of)
}

func unnamed(fields []*ast.Field) []*ast.Field {
	var all []*ast.Field
	for _, field := range fields {
		for range max(1, len(field.Names)) {
			all = append(all, &ast.Field{Type: field.Type})
		}
	}
	return all
}

func readText(t *testing.T, path string) string {
	t.Helper()
	fromRoot(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func writeText(t *testing.T, path string, lines []string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
