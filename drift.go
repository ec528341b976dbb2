package shipping

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/redact"
)

// Drift tells how an answer differs from the specification. See [WithDriftReport].
type Drift struct {
	// Operation is the name of the operation, such as "rates.list".
	Operation string
	// Findings are sorted by path.
	Findings []DriftFinding
}

// DriftFinding is one difference, however many records of the answer show it.
type DriftFinding struct {
	// Path names the field, such as "data.rates[].amount".
	Path string
	Kind DriftKind
	// Detail says what was found, such as "string instead of number".
	Detail string
	// Count is how many times.
	Count int
}

// DriftKind is the kind of a [DriftFinding].
type DriftKind string

const (
	// DriftUnknown is a field that the specification does not name.
	DriftUnknown DriftKind = "unknown"
	// DriftMissing is a field that the specification names and the answer lacks.
	DriftMissing DriftKind = "missing"
	// DriftType is a value of another type than documented.
	DriftType DriftKind = "type"
)

// String writes a finding on one line.
func (f DriftFinding) String() string {
	text := string(f.Kind) + " " + f.Path
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Count > 1 {
		text += fmt.Sprintf(" (%d times)", f.Count)
	}
	return text
}

// redactedDrift returns report for a client with a key: a service may send the key as the name of a member.
func redactedDrift(key redact.Key, report func(Drift)) func(Drift) {
	if report == nil {
		return nil
	}
	return func(drift Drift) {
		for i, finding := range drift.Findings {
			drift.Findings[i].Path, drift.Findings[i].Detail = key.Text(finding.Path), key.Text(finding.Detail)
		}
		report(drift)
	}
}

// driftCounts counts the differences of a response, each under its finding without a count.
type driftCounts map[DriftFinding]int

func (c driftCounts) add(difference jsonread.Difference) {
	kind := [...]DriftKind{jsonread.Unknown: DriftUnknown, jsonread.Missing: DriftMissing, jsonread.Type: DriftType}[difference.Kind]
	c[DriftFinding{Path: difference.Path, Kind: kind, Detail: difference.Detail}]++
}

// report reports what was counted, unless it is nothing.
func (c driftCounts) report(report func(Drift), operation string) {
	if len(c) == 0 {
		return
	}
	drift := Drift{Operation: operation}
	for finding, count := range c {
		finding.Count = count
		drift.Findings = append(drift.Findings, finding)
	}
	slices.SortFunc(drift.Findings, func(a, b DriftFinding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	report(drift)
}
