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

var record = flag.Bool("record", false, "write the generated table of docs/ASSUMPTIONS.md")

// The table of ASSUMPTIONS.md is generated from the fields of a dialect; -record writes it.
func TestAssumptions_AreDocumented(t *testing.T) {
	t.Parallel()
	const path, head = "docs/ASSUMPTIONS.md", "| Open point | The reference server | Why | Field | Used by | Observed " +
		"by |\n|---|---|---|---|---|---|\n"
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
		t.Errorf("run go test -run TestAssumptions ./test/documents -record (-want +got):\n%s",
			cmp.Diff(want.String(), table))
	}
}
