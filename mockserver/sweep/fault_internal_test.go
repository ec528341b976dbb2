package sweep

import (
	"slices"
	"testing"

	"github.com/shipping-go/shipping/mockserver/fault"
)

// A new kind of fault that a program can meet in production was not tried by any sweep.
func TestFaults_HaveEachKindOrLeaveItOut(t *testing.T) {
	t.Parallel()
	// Tests of the client have these, because each adds runs to every sweep. No program can notice the last.
	leftOut := []string{"redirect", "early-hints", "malformed", "content-type", "repeat-page", "cap-page",
		"drop-notification"}
	tried := map[string]bool{}
	for _, f := range Faults() {
		tried[f.rule.Fault.Kind] = true
	}
	for _, kind := range fault.Kinds() {
		if tried[kind.Kind] == slices.Contains(leftOut, kind.Kind) {
			t.Errorf("%s: add a row to Faults, or leave it out here", kind.Kind)
		}
	}
}
