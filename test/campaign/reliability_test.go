package campaign

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The figures of RELIABILITY.md are those of the tables.
func TestRELIABILITY_CountsTheFaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/RELIABILITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{
		fmt.Sprintf("%d ways to deliver a purchase", len(deliveries())), fmt.Sprintf("%d ways to damage its response", len(purchaseDamages())),
		fmt.Sprintf("%d to damage a read-back", len(readDamages())), fmt.Sprintf("%d kinds of connections", len(wires())), fmt.Sprintf("%d forgeries", len(forgeries())),
	} {
		if !strings.Contains(string(text), figure) {
			t.Errorf("RELIABILITY.md does not contain %q any more", figure)
		}
	}
}
