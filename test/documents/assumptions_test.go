package documents_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/assumption"
)

// The table of ASSUMPTIONS.md is generated from the assumptions of the server; -record writes it.
func TestAPI_AssumptionsAreDocumented(t *testing.T) {
	t.Parallel()
	const path, head = "docs/ASSUMPTIONS.md", "| Open point | Default | Why | Field |\n|---|---|---|---|\n"
	before, table, _ := strings.Cut(readText(t, path), head)
	var want strings.Builder
	for _, row := range new(assumption.Set).Rows() {
		fmt.Fprintf(&want, "| %s | %s | %s | `%s` |\n", row.Open, row.Default, row.Basis, row.Field)
	}
	switch {
	case table == want.String():
	case *record:
		if err := os.WriteFile(path, []byte(before+head+want.String()), 0o644); err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("run go test -run TestAPI ./test/documents -record; the table should be:\n%s", &want)
	}
}
