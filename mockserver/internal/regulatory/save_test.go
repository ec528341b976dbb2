package regulatory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// restored returns another world with the requests of w, as a file has them with old replaced by new, later by shift.
func restored(t *testing.T, w *world, shift time.Duration, old, new string) (*world, error) {
	t.Helper()
	snapshot := w.Snapshot()
	text := must[[]byte](t)(json.Marshal(&snapshot))
	var loaded regulatory.Requests
	must[any](t)(nil, json.Unmarshal(bytes.ReplaceAll(text, []byte(old), []byte(new)), &loaded))
	later := w.resumed(loaded, shift)
	return later, loaded.Check(later.ledger)
}

// Time does not pass for a service in a file: an event that was due in two seconds is due in two seconds after loading.
func TestLoad_GoesOnWhereTheServiceWasSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *regulatory.Config) {
		c.Assume.Purchasing = 4 * time.Second
		c.Assume.EvidenceAfter = 30 * time.Second
	})
	draft, generating, purchasing, waiting := w.analyze(parcel), w.analyze(parcel), w.analyze(parcel), w.analyze(perfume)
	once := w.analyze("SH-MAGICFAILONCE")
	w.purchase(generating, "CUSTOMS", "WATCH")
	w.purchase(once, "CUSTOMS")
	w.purchase(waiting, "MSDS")
	w.advance(9 * time.Second)
	w.purchase(purchasing, "CUSTOMS")
	if _, err := w.Analyze(regulatory.AnalyzeInput{FileURL: "https://invoices.example/unknown.pdf"}); err == nil {
		t.Fatal("an unknown invoice was analyzed")
	}

	later := must[*world](t)(restored(t, w, time.Hour, "", ""))
	for _, r := range w.Records() {
		if diff := cmp.Diff(string(r.JSON()), string(later.get(r).JSON())); diff != "" {
			t.Errorf("request %s (-saved +loaded):\n%s", r.RequestID, diff)
		}
	}
	if got := later.advance(2*time.Second - 1); len(got) != 0 {
		t.Errorf("before anything is due %v happened", got)
	}
	later.advance(time.Minute)
	for _, r := range []*regulatory.Record{generating, purchasing, waiting} {
		if got := later.get(r); got.Status != regulatory.StateCompleted {
			t.Errorf("request %s is %s", r.RequestID, got.Status)
		}
	}
	if got := later.get(generating).Documents[1].GeneratedAt.Sub(w.clock.Now()); got != time.Hour+2*time.Second {
		t.Errorf("generation ended %v after it was saved, want an hour and the 2 s that were left", got)
	}
	if got := later.get(once); got.Status != regulatory.StateFailed {
		t.Errorf("the special request is %s", got.Status)
	}
	later.purchase(draft, "FDA")
	later.checkSound()
}

// A request that contradicts the ledger is found when it is loaded.
func TestLoad_ChecksTheLedger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.purchase(w.analyze(parcel), "CUSTOMS")
	for old, new := range map[string]string{
		`"charged_amount":`: `"charged_amount":1`, `"transaction_id":"TR-`: `"transaction_id":"TX-`, `"wallet":"` + naira: `"wallet":"` + dollars,
	} {
		if _, err := restored(t, w, 0, old, new); err == nil || !strings.Contains(err.Error(), "the ledger") {
			t.Errorf("%s instead of %s: %v, want the ledger in it", new, old, err)
		}
	}
}

func TestAnalyze_IsRefusedOnceTheServiceIsFull(t *testing.T) {
	t.Parallel()
	var room error
	w := newWorld(t, func(c *regulatory.Config) { c.Room = func() error { return room } })
	w.analyze(parcel)
	room = errors.New("there is no room: reset it")
	_, err := w.Analyze(regulatory.AnalyzeInput{ShipmentID: parcel})
	refusal(t, err, regulatory.CodeFull, "no room", "reset")
}
