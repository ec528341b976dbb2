package records

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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

// Every page agrees with the same list kept as a plain slice, whatever the sizes.
func TestAppendPage_AgreesWithASlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list List
		var plain []int
		for i := range rapid.IntRange(0, 3*perChunk).Draw(t, "total") {
			list.Prepend(fmt.Append(nil, i))
			plain = append(plain, i)
		}
		slices.Reverse(plain)
		page := rapid.IntRange(1, 9).Draw(t, "page")
		perPage := rapid.IntRange(1, 2*perChunk).Draw(t, "perPage")

		want := plain[min((page-1)*perPage, len(plain)):min(page*perPage, len(plain))]
		var got []int
		if err := json.Unmarshal(list.AppendPage(nil, page, perPage), &got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("page %d of %d: got %v, want %v", page, perPage, got, want)
		}
		if list.Len() != len(plain) {
			t.Fatalf("Len() = %d, want %d", list.Len(), len(plain))
		}
	})
}
