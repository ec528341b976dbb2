package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyTheTableOfAPageIsReplaced(t *testing.T) {
	t.Parallel()
	place := Place{Table: "table", Command: "go run ./cmd/table -into"}
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+place.begins()+"old\n"+place.ends()+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := place.Publish(nil, page, "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n<!-- table: written by go run ./cmd/table -into -->\n\nnew\n\n<!-- end of table -->\nafter\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	other := Place{Table: "other table", Command: place.Command}
	if err := other.Publish(nil, page, "new\n"); err == nil || !strings.Contains(err.Error(), "end of other table") {
		t.Errorf("a page without the comments must be refused: %v", err)
	}
}

func TestATableIsPrintedWhereNoPageIsNamed(t *testing.T) {
	t.Parallel()
	var table, out strings.Builder
	Header(&table, "Work", "Met")
	Row(&table, "all", Met(true))
	Row(&table, "more", Met(false))
	if err := (Place{}).Publish(&out, "", table.String()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("| Work | Met |\n| --- | --- |\n| all | yes |\n| more | **no** |\n", out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}
