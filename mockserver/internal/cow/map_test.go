package cow

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

// After any sequence of sets and clones, every copy equals a plain map that was copied completely.
func TestMap_AgreesWithPlainMaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		copies := []*Map[int, int]{{}}
		plain := []map[int]int{{}}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			i := rapid.IntRange(0, len(copies)-1).Draw(t, "map")
			if rapid.IntRange(0, 9).Draw(t, "action") == 0 {
				clone := copies[i].Clone()
				copies, plain = append(copies, &clone), append(plain, maps.Clone(plain[i]))
				continue
			}
			key, value := rapid.IntRange(0, 40).Draw(t, "key"), rapid.Int().Draw(t, "value")
			copies[i].Set(key, value)
			plain[i][key] = value
		}
		for i, m := range copies {
			for key := range 41 {
				got, known := m.Get(key)
				want, wanted := plain[i][key]
				if got != want || known != wanted {
					t.Fatalf("map %d: Get(%d) = %d, %v; want %d, %v", i, key, got, known, want, wanted)
				}
			}
		}
	})
}

func TestMap_LayersStayFew(t *testing.T) {
	t.Parallel()
	var m Map[int, int]
	for i := range 10_000 {
		m.Set(i, i)
		m.Clone()
	}
	if len(m.shared) > 15 {
		t.Errorf("%d layers after 10,000 copies", len(m.shared))
	}
	if last, known := m.Get(0); !known || last != 0 {
		t.Errorf("Get(0) = %d, %v", last, known)
	}
}
