package shipping

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

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

// reportDrift holds a body, or the part of it under path, against the type it is read into.
func reportDrift[T any](report func(Drift), operation, path string, body []byte) {
	type key struct {
		path, detail string
		kind         DriftKind
	}
	counts := map[key]int{}
	w := walker{note: func(path string, kind DriftKind, detail string) {
		counts[key{strings.TrimPrefix(path, "."), detail, kind}]++
	}}
	w.value(body, reflect.TypeFor[T](), path)
	if len(counts) == 0 {
		return
	}
	drift := Drift{Operation: operation}
	for found, count := range counts {
		drift.Findings = append(drift.Findings, DriftFinding{Path: found.path, Kind: found.kind, Detail: found.detail, Count: count})
	}
	slices.SortFunc(drift.Findings, func(a, b DriftFinding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	report(drift)
}
