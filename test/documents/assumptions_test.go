package documents_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/dialect"
)

var record = flag.Bool("record", false, "write the generated table of docs/ASSUMPTIONS.md")

// rows returns the rows of a table that another does not have.
func rows(table, other string) (only string) {
	for row := range strings.Lines(table) {
		if !strings.Contains("\n"+other, "\n"+row) {
			only += row
		}
	}
	return cmp.Or(only, "none, or in another order\n")
}

// The table of ASSUMPTIONS.md is generated from the fields of a dialect; -record writes it.
func TestAssumptions_AreDocumented(t *testing.T) {
	t.Parallel()
	const path, head = "docs/ASSUMPTIONS.md", "| Open point | The reference server | Why | Field | Used by | Observed by |\n|---|---|---|---|---|---|\n"
	before, table, _ := strings.Cut(readText(t, path), head)
	var want strings.Builder
	for _, row := range new(dialect.Dialect).Fields() {
		fmt.Fprintf(&want, "| %s | %s | %s | `%s` | %s | %s |\n", row.Open, row.Default, row.Basis, row.Name, row.Used,
			row.Observed)
	}
	switch {
	case table == want.String():
	case *record:
		if err := os.WriteFile(path, []byte(before+head+want.String()), 0o644); err != nil {
			t.Error(err)
		}
	default:
		missing, extra := rows(want.String(), table), rows(table, want.String())
		t.Errorf("run go test -run TestAssumptions ./test/documents -record; missing rows:\n%srows to remove:\n%s", missing, extra)
	}
}
