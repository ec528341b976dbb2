package documents_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

var record = flag.Bool("record", false, "write the generated parts of documents")

// The table of internals/DIALECT.md is generated from the fields of a dialect. Each has a test, which exists.
func TestAssumptions_AreDocumented(t *testing.T) {
	t.Parallel()
	const head = "| Field | Open point | The reference server | Used by | Needed because | Observed by | Test |\n" +
		"|---|---|---|---|---|---|---|\n"
	var points map[string]struct{ Test string }
	shippingtest.NoError(t, json.Unmarshal([]byte(readText(t, "dialect/points.json")), &points))
	tests := ""
	for _, folder := range []string{"mockserver", "webhook"} {
		for _, file := range shippingtest.Must(filepath.Glob(folder + "/*_test.go"))(t) {
			tests += readText(t, file)
		}
	}
	var want strings.Builder
	for _, row := range new(dialect.Dialect).Fields() {
		test := points[row.Name].Test
		shippingtest.Contains(t, row.Name, tests, "func "+test+"(")
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s | %s | `%s` |\n", row.Name, row.Open, row.Default, row.Used,
			row.Needed, row.Observed, test)
	}
	isGenerated(t, "docs/internals/DIALECT.md", head, want.String())
}

// isGenerated requires that a document ends with a generated text, after a line that it contains; -record writes it.
func isGenerated(t *testing.T, path, after, want string) {
	t.Helper()
	before, got, _ := strings.Cut(readText(t, path), after)
	switch {
	case got == want:
	case *record:
		written := path + ".new" // other tests read the document meanwhile
		shippingtest.NoError(t, os.WriteFile(written, []byte(before+after+want), 0o644))
		shippingtest.NoError(t, os.Rename(written, path))
	default:
		t.Errorf("run go test ./test/documents -record (-want +got):\n%s", cmp.Diff(want, got))
	}
}
