package sweep_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/sweep"
)

// A new fault was missing in the documentation, and nothing noticed.
func TestFaults_AreDocumented(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(document), "\n## Faults\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var rows, want []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	for _, f := range sweep.Faults() {
		want = append(want, fmt.Sprintf("| `%s` | %s |", f.Name, f.Summary))
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("the table in docs/sweep.md, section Faults (-want +got):\n%s", diff)
	}
}
