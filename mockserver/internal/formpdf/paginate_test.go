package formpdf

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPaginate_KeepsBlocksInOrderWholeAndHeadlinesWithWhatFollows(t *testing.T) {
	t.Parallel()
	const room = 100.0
	rapid.Check(t, func(t *rapid.T) {
		heading := block{height: 7.5}
		var blocks []block
		for range rapid.IntRange(1, 60).Draw(t, "blocks") {
			afterHeadline := len(blocks) > 0 && blocks[len(blocks)-1].attached
			blocks = append(blocks, block{
				height:   float64(rapid.IntRange(0, 40).Draw(t, "height")),
				attached: !afterHeadline && rapid.Bool().Draw(t, "attached"),
			})
			if rapid.Bool().Draw(t, "in a table") {
				blocks[len(blocks)-1].heading = &heading
			}
		}
		var got []float64
		for n, page := range paginate(blocks, room) {
			used := 0.0
			for _, b := range page {
				used += b.height
			}
			if used > room {
				t.Fatalf("page %d is %v high, with room for %v", n+1, used, room)
			}
			if n > 0 && page[0].height == heading.height {
				page = page[1:] // heights of the others are whole
				if len(page) == 0 || page[0].heading == nil {
					t.Fatalf("page %d repeats a headline for nothing", n+1)
				}
			} else if n > 0 && page[0].heading != nil {
				t.Fatalf("page %d goes on with a table without its headline", n+1)
			}
			for _, b := range page {
				got = append(got, b.height)
			}
			if last := page[len(page)-1]; last.attached && len(got) < len(blocks) {
				t.Fatalf("page %d ends in a headline", n+1)
			}
		}
		var want []float64
		for _, b := range blocks {
			want = append(want, b.height)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("blocks printed %v, want %v", got, want)
		}
	})
}

func TestColumns_FillThePage(t *testing.T) {
	t.Parallel()
	sum := 0.0
	for _, c := range columns() {
		sum += c.width
	}
	if sum != across {
		t.Errorf("the columns are %v mm wide, the page has %v", sum, across)
	}
}
