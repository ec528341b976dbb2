package regulatory_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// historyLines formats a history: seconds since its beginning, and the event.
func historyLines(r *regulatory.Record) []string {
	var text []string
	for _, step := range r.History() {
		what := string(step.Status)
		switch {
		case step.Edited:
			what = "edited"
		case step.DocumentType != "":
			what = fmt.Sprintf("%s %s %d", step.DocumentType, step.DocumentStatus, step.Attempt)
		}
		text = append(text, fmt.Sprintf("%v %s", step.At.Sub(r.History()[0].At.Time), what))
	}
	return text
}

func TestHistory_Steps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze("SH-MAGICFAILONCE")
	w.advance(time.Second)
	must[*regulatory.Record](t)(w.UpdateProfile(r.RequestID, "CUSTOMS", regulatory.Profile{"incoterm": json.RawMessage(`"DAP"`)}))
	w.advance(time.Second)
	w.purchase(r, "CUSTOMS")
	w.advance(time.Minute)
	must[*regulatory.Record](t)(w.Retry(r.RequestID))
	w.advance(time.Minute)
	want := []string{
		"0s draft", "1s edited", "2s purchasing", "2s processing", "2s CUSTOMS generating 1", "5s CUSTOMS failed 1", "5s failed",
		"1m2s processing", "1m2s CUSTOMS generating 2", "1m5s CUSTOMS generated 2", "1m5s completed",
	}
	if diff := cmp.Diff(want, historyLines(w.get(r))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	failed := w.get(r).History()[5]
	if failed.DocumentStatus != regulatory.DocumentFailed || failed.Failure == "" {
		t.Errorf("the failure is recorded as %+v", failed)
	}
}

// The memory of a request that is edited endlessly is bounded.
func TestHistory_IsBoundedAndKeepsItsBeginning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	for i := range 500 {
		value := json.RawMessage(fmt.Sprintf(`"%s"`, []string{"DAP", "DDP"}[i%2]))
		must[*regulatory.Record](t)(w.UpdateProfile(r.RequestID, "CUSTOMS", regulatory.Profile{"incoterm": value}))
	}
	history := w.get(r).History()
	if len(history) != 200 || history[0].Status != regulatory.StateDraft || !history[199].Edited {
		t.Errorf("%d steps, from %+v to %+v", len(history), history[0], history[len(history)-1])
	}
}
