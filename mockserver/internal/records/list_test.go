package records

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

func TestAppendPage_ShowsTheNewestFirst(t *testing.T) {
	t.Parallel()
	var list List
	for i := range 5 {
		list.Prepend(fmt.Appendf(nil, `{"n":%d}`, i))
	}
	tests := []struct {
		name          string
		page, perPage int
		want          string
	}{
		{"first page", 1, 2, `[{"n":4},{"n":3}]`},
		{"middle page", 2, 2, `[{"n":2},{"n":1}]`},
		{"last page is short", 3, 2, `[{"n":0}]`},
		{"past the end", 4, 2, `[]`},
		{"all on one page", 1, 100, `[{"n":4},{"n":3},{"n":2},{"n":1},{"n":0}]`},
		{"exactly all", 1, 5, `[{"n":4},{"n":3},{"n":2},{"n":1},{"n":0}]`},
		{"page zero", 0, 2, `[]`},
		{"negative size", 1, -2, `[]`},
		{"largest numbers", math.MaxInt, math.MaxInt, `[]`},
		{"largest size", 1, math.MaxInt, `[{"n":4},{"n":3},{"n":2},{"n":1},{"n":0}]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, string(list.AppendPage(nil, test.page, test.perPage))); diff != "" {
				t.Errorf("page %d of %d (-want +got):\n%s", test.page, test.perPage, diff)
			}
		})
	}
}

func TestAppendPage_OfAnEmptyListIsAnEmptyArray(t *testing.T) {
	t.Parallel()
	var list List
	if got := string(list.AppendPage([]byte("data:"), 1, 100)); got != "data:[]" {
		t.Errorf("got %q, want %q", got, "data:[]")
	}
}

func TestPrepend_KeepsEarlierPagesUntouched(t *testing.T) {
	t.Parallel()
	var list List
	list.Prepend([]byte(`"first"`))
	page := list.AppendPage(nil, 1, 10)
	list.Prepend([]byte(`"second"`))
	if got := string(page); got != `["first"]` {
		t.Errorf("a page handed out earlier became %s", got)
	}
}

// Every page of every copy agrees with the same list kept as a plain slice, whatever the sizes, whatever
// was computed behind it, and whenever it was copied.
func TestAppendPage_AgreesWithASlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		past := rapid.IntRange(0, 300).Draw(t, "computed")
		lists := []List{Behind(Past{Total: past, Append: func(dst []byte, ordinal int) []byte {
			return fmt.Append(dst, ordinal)
		}})}
		plain := [][]int{{}}
		for i := range past {
			plain[0] = append(plain[0], i)
		}
		for step := range rapid.IntRange(0, 4).Draw(t, "copies") + 1 {
			i := rapid.IntRange(0, len(lists)-1).Draw(t, "list")
			for n := range rapid.IntRange(0, 2*perChunk).Draw(t, "added") {
				record := (step+1)*1_000_000 + n
				lists[i].Prepend(fmt.Append(nil, record))
				plain[i] = append(plain[i], record)
			}
			for range rapid.IntRange(0, perChunk+5).Draw(t, "removed") {
				lists[i].RemoveNewest()
				plain[i] = plain[i][:max(past, len(plain[i])-1)]
			}
			lists, plain = append(lists, lists[i].Clone()), append(plain, slices.Clone(plain[i]))
		}
		page := rapid.IntRange(1, 9).Draw(t, "page")
		perPage := rapid.IntRange(1, 2*perChunk).Draw(t, "perPage")
		for i := range lists {
			newestFirst := slices.Clone(plain[i])
			slices.Reverse(newestFirst)
			want := newestFirst[min((page-1)*perPage, len(newestFirst)):min(page*perPage, len(newestFirst))]
			check(t, lists[i].AppendPage(nil, page, perPage), want)
			check(t, lists[i].AppendStored(nil), newestFirst[:lists[i].Stored()])
			if lists[i].Len() != len(newestFirst) || lists[i].Stored() != len(newestFirst)-past {
				t.Fatalf("Len() = %d, Stored() = %d of %d", lists[i].Len(), lists[i].Stored(), len(newestFirst))
			}
		}
	})
}

func check(t *rapid.T, array []byte, want []int) {
	var got []int
	if err := json.Unmarshal(array, &got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// Prepending a record to a copy copies nothing of what the copy shares. The test is not parallel, so that nothing else
// allocates meanwhile.
func TestPrepend_ToACopyCopiesNothing(t *testing.T) {
	record := []byte(`"` + strings.Repeat("x", 1_000) + `"`)
	var long List
	for range 10*perChunk - 1 {
		long.Prepend(record)
	}
	long.Clone()
	const copies = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range copies {
		clone := long.Clone()
		clone.Prepend(record)
	}
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) / copies; allocated > 3_000 {
		t.Errorf("a copy with another record of %d bytes takes %d", len(record), allocated)
	}
}

func TestClone_RunsStayFew(t *testing.T) {
	t.Parallel()
	var list List
	for i := range 10_000 {
		list.Prepend(fmt.Append(nil, i))
		list.Clone()
	}
	if len(list.shared) > 15 {
		t.Errorf("%d runs after 10,000 copies", len(list.shared))
	}
	if got := string(list.AppendPage(nil, 10_000, 1)) + string(list.AppendPage(nil, 1, 1)); got != "[0][9999]" {
		t.Errorf("the oldest and the newest are %s", got)
	}
}

// A list of which nothing changes may be copied, and its copies changed, by many at once.
func TestClone_ByManyAtOnce(t *testing.T) {
	t.Parallel()
	var list List
	list.Prepend([]byte(`"base"`))
	template := list.Clone()
	var running sync.WaitGroup
	for i := range 50 {
		running.Go(func() {
			own := template.Clone()
			own.Prepend(fmt.Append(nil, i))
			if got, want := string(own.AppendPage(nil, 1, 9)), fmt.Sprintf(`[%d,"base"]`, i); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	running.Wait()
}
