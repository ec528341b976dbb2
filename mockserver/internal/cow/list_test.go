package cow

import (
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

// After any sequence of appends and clones, every copy equals a slice that was copied completely.
func TestList_AgreesWithSlices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		copies := []*List[int]{{}}
		plain := [][]int{nil}
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			i := rapid.IntRange(0, len(copies)-1).Draw(t, "list")
			if rapid.IntRange(0, 9).Draw(t, "action") == 0 {
				clone := copies[i].Clone()
				copies, plain = append(copies, &clone), append(plain, slices.Clone(plain[i]))
				continue
			}
			element := rapid.Int().Draw(t, "element")
			copies[i].Append(element)
			plain[i] = append(plain[i], element)
		}
		for i, l := range copies {
			if !slices.Equal(l.Slice(), plain[i]) || l.Len() != len(plain[i]) {
				t.Fatalf("list %d is %v, want %v", i, l.Slice(), plain[i])
			}
			for at, element := range l.All() {
				if element != plain[i][at] || l.At(at) != element {
					t.Fatalf("list %d: element %d is %d and %d, want %d", i, at, element, l.At(at), plain[i][at])
				}
			}
		}
	})
}

func TestList_LayersStayFew(t *testing.T) {
	t.Parallel()
	var l List[int]
	for i := range 10_000 {
		l.Append(i)
		l.Clone()
	}
	if len(l.shared) > 15 {
		t.Errorf("%d layers after 10,000 copies", len(l.shared))
	}
	if first, last := l.At(0), l.At(9_999); first != 0 || last != 9_999 {
		t.Errorf("it goes from %d to %d", first, last)
	}
}

// Appending to a copy copies nothing of what the copy shares. The test is not parallel, so that nothing else allocates
// meanwhile.
func TestList_AppendingToACopyCopiesNothing(t *testing.T) {
	var long List[[64]byte]
	for range 100_000 {
		long.Append([64]byte{})
	}
	long.Freeze()
	const copies = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range copies {
		clone := long.Clone()
		clone.Append([64]byte{})
	}
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) / copies; allocated > 1_000 {
		t.Errorf("a copy with another element takes %d bytes", allocated)
	}
}
