package regulatory_test

import (
	"encoding/json"
	"fmt"
	"strings"
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

func TestHistory_TellsWhatHappenedToARequest(t *testing.T) {
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
	got := strings.Join(historyLines(w.get(r)), "\n")
	for _, want := range []string{
		"0s draft\n1s edited\n2s purchasing\n2s processing\n2s CUSTOMS generating 1\n",
		"CUSTOMS failed 1\n", " failed\n", "1m2s processing\n1m2s CUSTOMS generating 2\n", "CUSTOMS generated 2\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the history is\n%s\nand has not\n%s", got, want)
		}
	}
	if !strings.HasSuffix(got, " completed") {
		t.Errorf("the history does not end with completed:\n%s", got)
	}
	failed := w.get(r).History()[5]
	if failed.DocumentStatus != regulatory.DocumentFailed || failed.Failure == "" {
		t.Errorf("the failure is recorded as %+v", failed)
	}
	later := must[*world](t)(restored(t, w, time.Hour, "", ""))
	if diff := cmp.Diff(historyLines(w.get(r)), historyLines(later.get(r))); diff != "" {
		t.Errorf("a history from a file (-saved +loaded):\n%s", diff)
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
