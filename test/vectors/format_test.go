package vectors_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/shipping-go/shipping/test/vectors"
)

// The reports of a vector follow from the kind of its response, and nothing else.
func TestVectors_FollowTheTableOfResults(t *testing.T) {
	t.Parallel()
	all, err := vectors.All()
	if err != nil || len(all) < 149 {
		t.Fatalf("%d vectors: %v", len(all), err)
	}
	classes := append(slices.Sorted(values(classes())), "", "any")
	names := map[string]bool{}
	for _, v := range all {
		if names[v.Name] {
			t.Errorf("%s: a second vector of this name", v.Name)
		}
		names[v.Name] = true
		if !slices.Contains(classes, v.Error) {
			t.Errorf("%s: unknown class %q", v.Name, v.Error)
		}
		charged, not := v.Purchase.Charged, v.Purchase.NotCharged
		switch {
		case v.Refused && v.Purchase.Sends == 0 && charged == nil && *not == vectors.Report{Outcome: "not charged", Error: "connection"}:
		case v.Purchase.Sends != 1 || charged == nil || charged.Outcome != "charged":
			t.Errorf("%s: %+v", v.Name, v.Purchase)
		case not == nil && charged.Error == "" && (v.Error == "" || v.Error == "any"): // a confirmation
		case not != nil && not.Outcome == "unknown" && not.Error != "" && charged.Error == "": // a lost response: the charge is found by reading
		case not != nil && not.Outcome == "not charged" && not.Error != "" && charged.Error == not.Error: // a refusal, which is never a success
		default:
			t.Errorf("%s: no row of the table has %+v and %+v", v.Name, charged, not)
		}
		for _, part := range v.Response {
			set := 0
			for _, field := range reflect.ValueOf(part).Fields() {
				if !field.IsZero() {
					set++
				}
			}
			if set != 1 {
				t.Errorf("%s: a part with %d fields: %+v", v.Name, set, part)
			}
		}
	}
}

func values(m map[error]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, value := range m {
			if !yield(value) {
				return
			}
		}
	}
}
