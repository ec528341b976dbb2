package regulatory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// changes lists the changes of each request.
func changes(now, then regulatory.Requests) []string {
	state := func(r *regulatory.Record) string {
		if r == nil {
			return "-"
		}
		return string(r.Status)
	}
	var lines []string
	for _, c := range now.Since(then) {
		either := c.After
		if either == nil {
			either = c.Before
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", either.RequestID, state(c.Before), state(c.After)))
	}
	return lines
}

func TestSince_ReturnsWhatHasChangedInTheOrderOfAnalysis(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := w.Snapshot()
	first, second := w.analyze(parcel), w.analyze(parcel)
	drafted := w.Snapshot()
	third := w.analyze(parcel)
	w.purchase(second, "CUSTOMS")
	w.purchase(first, "CUSTOMS")
	purchased := w.Snapshot()
	w.advance(time.Minute)
	completed := w.Snapshot()

	want := func(got []string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	a, b, c := first.RequestID, second.RequestID, third.RequestID
	want(changes(began, began))
	want(changes(drafted, began), a+" - draft", b+" - draft")
	want(changes(purchased, drafted), a+" draft processing", b+" draft processing", c+" - draft")
	want(changes(completed, purchased), a+" processing completed", b+" processing completed")
	want(changes(drafted, completed), a+" completed draft", b+" completed draft", c+" draft -")

	later := regulatory.NewDesk(w.config)
	later.Resume(purchased, time.Hour) // which only postpones the pending events
	want(changes(later.Snapshot(), purchased))
}
