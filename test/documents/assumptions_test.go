package documents_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/dialect"
)

var record = flag.Bool("record", false, "write the generated parts of documents")

// The table of internals/DIALECT.md is generated from the fields of a dialect.
func TestAssumptions_AreDocumented(t *testing.T) {
	t.Parallel()
	const head = "| Open point | The reference server | Why | Field | Used by | Observed by |\n|---|---|---|---|---|---|\n"
	var want strings.Builder
	for _, row := range new(dialect.Dialect).Fields() {
		fmt.Fprintf(&want, "| %s | %s | %s | `%s` | %s | %s |\n", row.Open, row.Default, row.Basis, row.Name, row.Used,
			row.Observed)
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
		if err := os.WriteFile(path, []byte(before+after+want), 0o644); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("run go test ./test/documents -record (-want +got):\n%s", cmp.Diff(want, got))
	}
}
