package regulatory_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// restored returns another world with the saved requests of w, later by shift.
func restored(t *testing.T, w *world, saved []regulatory.Saved, shift time.Duration) (*world, error) {
	t.Helper()
	text := must[[]byte](t)(json.Marshal(saved))
	var read []regulatory.Saved
	must[any](t)(nil, json.Unmarshal(text, &read))
	later := &world{t: t, config: w.config, ledger: w.ledger.Clone(), now: w.now.Add(shift), ids: w.ids}
	later.config.Ledger, later.config.After, later.config.NewID = later.ledger, later.after, later.id
	later.config.Now = func() time.Time { return later.now }
	later.Service = regulatory.New(later.config)
	loaded, err := regulatory.Load(read, later.ledger)
	later.Resume(loaded, shift)
	return later, err
}

// Time does not pass for a service in a file: an event that was due in two seconds is due in two seconds after loading.
func TestLoad_GoesOnWhereTheServiceWasSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *regulatory.Config) { c.Assume.Purchasing = 4 * time.Second })
	draft, generating, purchasing := w.analyze(parcel), w.analyze(parcel), w.analyze(parcel)
	once := w.analyze("SH-MAGICFAILONCE")
	w.purchase(generating, "CUSTOMS", "WATCH")
	w.purchase(once, "CUSTOMS")
	w.advance(9 * time.Second)
	w.purchase(purchasing, "CUSTOMS")
	if _, err := w.Analyze(regulatory.AnalyzeInput{FileURL: "https://invoices.example/unknown.pdf"}); err == nil {
		t.Fatal("an unknown invoice was analyzed")
	}

	later := must[*world](t)(restored(t, w, w.Save(), time.Hour))
	for _, r := range w.Records() {
		if diff := cmp.Diff(string(r.JSON()), string(later.get(r).JSON())); diff != "" {
			t.Errorf("request %s (-saved +loaded):\n%s", r.RequestID, diff)
		}
	}
	if got := later.advance(2*time.Second - 1); len(got) != 0 {
		t.Errorf("before anything is due %v happened", got)
	}
	later.advance(time.Minute)
	for _, r := range []*regulatory.Record{generating, purchasing} {
		if got := later.get(r); got.Status != regulatory.StateCompleted {
			t.Errorf("request %s is %s", r.RequestID, got.Status)
		}
	}
	if got := later.get(once); got.Status != regulatory.StateFailed {
		t.Errorf("the special request is %s", got.Status)
	}
	later.purchase(draft, "FDA")
	later.checkSound()
}

// A service with a request in any state can be saved and loaded.
func TestLoad_TakesEveryState(t *testing.T) {
	t.Parallel()
	for _, state := range regulatory.States() {
		w := newWorld(t)
		r := states()[state](w)
		if got := w.get(r).Status; got != state {
			t.Fatalf("the request is %s, want %s", got, state)
		}
		later := must[*world](t)(restored(t, w, w.Save(), 0))
		if got := later.get(r).Status; got != state {
			t.Errorf("%s was loaded as %s", state, got)
		}
	}
}

func TestLoad_RefusesWhatNoServiceHasSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	w.purchase(r, "CUSTOMS")
	damage := map[string]struct {
		change func(s []regulatory.Saved) []regulatory.Saved
		want   string
	}{
		"twice":         {func(s []regulatory.Saved) []regulatory.Saved { return append(s, s[0]) }, "appears twice"},
		"no record":     {func(s []regulatory.Saved) []regulatory.Saved { s[0].Record = []byte("null"); return s }, "unknown fields, or another order"},
		"odd status":    {edited(`"processing"`, `"lost"`), `status "lost"`},
		"odd field":     {edited(`"source"`, `"sauce"`), "unknown fields, or another order"},
		"another price": {edited(`"charged_amount":`, `"charged_amount":1`), "the ledger"},
		"another id":    {edited(`"transaction_id":"TR-`, `"transaction_id":"TX-`), "the ledger"},
		"other wallet":  {edited(`"wallet":"`+naira, `"wallet":"`+dollars), "the ledger"},
		"no times":      {func(s []regulatory.Saved) []regulatory.Saved { s[0].DocumentsDue = nil; return s }, "times for 0"},
		"not offered":   {func(s []regulatory.Saved) []regulatory.Saved { s[0].Purchased = []string{"STEEL"}; return s }, "does not offer"},
	}
	for name, test := range damage {
		t.Run(name, func(t *testing.T) {
			if _, err := restored(t, w, test.change(w.Save()), 0); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("loading: %v, want %q in it", err, test.want)
			}
		})
	}
}

func edited(old, new string) func([]regulatory.Saved) []regulatory.Saved {
	return func(s []regulatory.Saved) []regulatory.Saved {
		s[0].Record = []byte(strings.ReplaceAll(string(s[0].Record), old, new))
		return s
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
