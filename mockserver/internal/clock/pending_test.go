package clock

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/journal"
)

func TestPending_NamesWhatWaitsInTheOrderOfItsTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, time.January, 5, 9, 30, 0, 0, time.UTC)
	c := Virtual(start)
	nothing := func() {}
	c.After(time.Hour, "second", nothing)
	c.After(time.Minute, "first", nothing)
	c.After(2*time.Hour, "third", nothing)
	want := []journal.Fired{{Due: start.Add(time.Minute), Label: "first"}, {Due: start.Add(time.Hour), Label: "second"}}
	if diff := cmp.Diff(want, c.Pending(2)); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	if _, err := c.Advance(90 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := c.Pending(10); len(got) != 1 || got[0].Label != "third" {
		t.Errorf("pending %v, want the third alone", got)
	}
	if got := c.Pending(-1); len(got) != 0 {
		t.Errorf("pending %v, want none", got)
	}
}
