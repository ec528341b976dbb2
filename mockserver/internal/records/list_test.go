package records

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// texts returns the records of a page, such as "[2 1]".
func texts(rows []func() json.RawMessage) string {
	var all []string
	for _, row := range rows {
		all = append(all, string(row()))
	}
	return fmt.Sprint(all)
}

// Every page of every clone agrees with the same list as a separate slice, whatever is computed, added and removed, and
// whenever it is cloned.
func TestPage_OfClones(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		past := rapid.IntRange(0, 30).Draw(t, "computed")
		lists := []List{{Past: Past{Total: past,
			Record: func(ordinal int) json.RawMessage { return fmt.Append(nil, ordinal) }}}}
		plain := [][]int{{}}
		for i := range past {
			plain[0] = append(plain[0], i)
		}
		for step := range rapid.IntRange(0, 9).Draw(t, "clones") + 1 {
			i := rapid.IntRange(0, len(lists)-1).Draw(t, "list")
			for range rapid.IntRange(0, 3).Draw(t, "removed") {
				lists[i].RemoveNewest()
				plain[i] = plain[i][:max(past, len(plain[i])-1)]
			}
			for n := range rapid.IntRange(0, 9).Draw(t, "added") {
				record := (step+1)*1000 + n
				lists[i].Prepend(fmt.Append(nil, record))
				plain[i] = append(plain[i], record)
			}
			lists, plain = append(lists, lists[i].Clone()), append(plain, slices.Clone(plain[i]))
		}
		for i := range lists {
			if got, want := texts(lists[i].Page(1, 100, true)), fmt.Sprint(plain[i]); got != want {
				t.Fatalf("list %d of %d is %s, want %s", i, len(lists), got, want)
			}
			if lists[i].Len() != len(plain[i]) || lists[i].Stored() != len(plain[i])-past {
				t.Fatalf("Len() = %d, %d stored of %d", lists[i].Len(), lists[i].Stored(), len(plain[i]))
			}
		}
	})
}

// A list that does not change may be cloned, and its clones changed, by many goroutines at once. If two clones appended
// to one array, each could read the record of the other.
func TestClone_ByManyAtOnce(t *testing.T) {
	t.Parallel()
	var template List
	for _, record := range []string{"1", "2", "3"} {
		template.Prepend(json.RawMessage(record))
	}
	var running sync.WaitGroup
	for i := range 50 {
		running.Go(func() {
			own := template.Clone()
			own.Prepend(fmt.Append(nil, i))
			shippingtest.Diff(t, "clone", fmt.Sprintf("[%d 3 2 1]", i), texts(own.Page(1, 9, false)))
		})
	}
	running.Wait()
}

func TestPage_SelectsRecords(t *testing.T) {
	t.Parallel()
	var list, empty List
	for i := range 5 {
		list.Prepend(fmt.Append(nil, i))
	}
	for _, test := range []struct {
		name          string
		list          *List
		page, perPage int
		oldestFirst   bool
		want          string
	}{
		{"first page", &list, 1, 2, false, "[4 3]"},
		{"middle page", &list, 2, 2, false, "[2 1]"},
		{"last page is short", &list, 3, 2, false, "[0]"},
		{"oldest first", &list, 2, 2, true, "[2 3]"},
		{"last page, oldest first", &list, 3, 2, true, "[4]"},
		{"past the end", &list, 4, 2, false, "[]"},
		{"all on one page", &list, 1, 100, false, "[4 3 2 1 0]"},
		{"exactly all", &list, 1, 5, false, "[4 3 2 1 0]"},
		{"page zero", &list, 0, 2, false, "[]"},
		{"negative size", &list, 1, -2, false, "[]"},
		{"largest numbers", &list, math.MaxInt, math.MaxInt, false, "[]"},
		{"largest size", &list, 1, math.MaxInt, false, "[4 3 2 1 0]"},
		{"empty list", &empty, 1, 2, false, "[]"},
		{"second page of an empty list", &empty, 2, 2, false, "[]"},
	} {
		shippingtest.Diff(t, test.name, test.want, texts(test.list.Page(test.page, test.perPage, test.oldestFirst)))
	}
}
