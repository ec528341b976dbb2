package documents_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers are the packages of the module from top to bottom. A package imports only packages below it. Packages of a
// line do not import each other.
const layers = `
	mockserver/cmd/mockserver
	mockserver/sweep
	mockserver
	mockserver/internal/admin
	mockserver/internal/explain mockserver/internal/openapi mockserver/internal/doctor
	mockserver/internal/api
	mockserver/internal/world
	mockserver/internal/seed mockserver/internal/watch mockserver/internal/inject
	mockserver/internal/account mockserver/internal/wire
	mockserver/internal/delivery mockserver/internal/regulatory
	mockserver/internal/clock mockserver/internal/compliance mockserver/internal/ledger mockserver/internal/formpdf mockserver/internal/country
	mockserver/journal
	mockserver/assumption mockserver/fault mockserver/notify mockserver/internal/records mockserver/internal/jsontext
	mockserver/internal/spelling mockserver/internal/shell mockserver/internal/splitmix
	internal/batchtest
	batch webhook/storetest
	webhook
	.
	conformance internal/transport internal/paging internal/evidence internal/workflow
	internal/jsonread
	internal/operations internal/decimal internal/redact internal/filelock internal/workgroup internal/randomtest internal/specification
`

// Imports point one way: a folder can be read without what stands above it.
func TestImports_PointDown(t *testing.T) {
	fromRoot(t)
	level := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(layers), "\n") {
		for name := range strings.FieldsSeq(line) {
			level[name] = i + 1
		}
	}
	found := map[string]bool{}
	for _, root := range []string{".", "batch", "conformance", "webhook", "internal", "mockserver"} {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (root == "." && file != "." || entry.Name() == "testdata" || entry.Name() == "shippingtest"):
				return filepath.SkipDir
			case !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			folder := path.Dir(filepath.ToSlash(file))
			found[folder] = true
			if level[folder] == 0 {
				t.Errorf("%s is in no layer: add it to layers in test/documents/imports_test.go", folder)
				return nil
			}
			for _, imported := range importsOf(t, file) {
				if level[imported] <= level[folder] {
					t.Errorf("%s imports %s, which is not below %s", file, imported, folder)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range level {
		if !found[name] {
			t.Errorf("%s is in layers, and does not exist", name)
		}
	}
}

// The conformance suite finds a mistake that client and server share, because it shares no code with them beside the redaction of keys: it took
// its names from the client, and found nothing wrong with one that both misspelled.
func TestImports_TheConformanceSuiteSharesNothingWithTheClient(t *testing.T) {
	fromRoot(t)
	files, err := filepath.Glob("conformance/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		for _, imported := range importsOf(t, file) {
			if !strings.HasSuffix(file, "_test.go") && imported != "internal/redact" && imported != "internal/specification" {
				t.Errorf("%s imports %s", file, imported)
			}
		}
	}
}

// importsOf returns the packages of this module that a file imports, as folders.
func importsOf(t *testing.T, file string) (folders []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		const module = "github.com/shipping-go/shipping"
		if rest, ours := strings.CutPrefix(name, module); ours {
			folders = append(folders, path.Join(".", strings.TrimPrefix(rest, "/")))
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}
