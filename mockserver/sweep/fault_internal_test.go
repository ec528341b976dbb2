package sweep

import (
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
)

// A new kind of fault that a program can meet in production was not tried by any sweep.
func TestFaults_HaveEachKindOrLeaveItOut(t *testing.T) {
	t.Parallel()
	// Tests of the client have these, because each adds runs to every sweep. No program can notice the last.
	leftOut := []string{"redirect", "early-hints", "malformed", "content-type", "repeat-page", "cap-page",
		"drop-notification"}
	tried, names := map[string]bool{}, map[string]bool{}
	for _, f := range Faults() {
		if tried[f.rule.Fault.Kind] = true; names[f.Name] {
			t.Errorf("%s is the name of two faults", f.Name)
		}
		names[f.Name] = true
	}
	for _, kind := range fault.Kinds() {
		if tried[kind.Kind] == slices.Contains(leftOut, kind.Kind) {
			t.Errorf("%s: add a row to Faults, or leave it out here", kind.Kind)
		}
	}
}

// A fault struck before the request took effect, contrary to its summary, or left some changing operations out.
func TestFaults_TakeEffectAsTheirSummariesState(t *testing.T) {
	t.Parallel()
	for _, f := range Faults() {
		states := strings.HasPrefix(f.Summary, "the request takes effect ") ||
			strings.Contains(f.Summary, "after the request took effect")
		if after := f.rule.Name == "effect"; after != states {
			t.Errorf("%s takes effect before its fault: %t; its summary: %s", f.Name, after, f.Summary)
		}
		for _, operation := range byname.Names(byname.Changes) {
			if states && !f.to(operation) {
				t.Errorf("%s leaves %s out", f.Name, operation)
			}
		}
	}
}
