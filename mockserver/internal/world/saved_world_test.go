package world

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shipping-go/shipping/mockserver/internal/seed"
)

// A list that only the seed knows is in a state file too.
func TestSavedWorld_HasEveryList(t *testing.T) {
	t.Parallel()
	seeded, _, err := seed.New(seed.Plan{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	seeded.Add("pickups", []byte(`{"pickup_id":"PU-1"}`))
	seeded.Add("pickups", []byte(`{"pickup_id":"PU-2"}`))
	saved, err := (&Snapshot{State: *seeded, at: seed.Epoch}).saved()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(saved)
	if err != nil {
		t.Fatal(err)
	}
	var read savedWorld
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	restored, err := read.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pickups", "rates"} {
		want, got := fmt.Sprintf("%s", seeded.List(name).Stored()), fmt.Sprintf("%s", restored.State.List(name).Stored())
		if got != want {
			t.Errorf("%s: %s is restored as %s", name, want, got)
		}
	}
	read.Lists["rates"] = nil
	if _, err := read.Snapshot(); err == nil {
		t.Error("rates are restored from two places")
	}
}
