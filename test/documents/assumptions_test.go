package documents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

// ASSUMPTIONS.md lists the server's assumptions as the server does.
func TestASSUMPTIONSTellsWhatTheServerAssumes(t *testing.T) {
	t.Parallel()
	document := readText(t, "docs/ASSUMPTIONS.md")
	_, table, _ := strings.Cut(document, "| Open point | Default | Why | Field |\n|---|---|---|---|\n")
	server := mockserver.New(mockserver.WithoutListener())
	defer server.Close()
	var want strings.Builder
	for _, a := range server.Assumptions() {
		fmt.Fprintf(&want, "| %s | %s | %s | `%s` |\n", a.Open, a.Default, a.Basis, a.Field)
	}
	if table != want.String() {
		t.Errorf("the table should be:\n%s", &want)
	}
}
