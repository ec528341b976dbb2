package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	c := costs{
		purchased:    {100_000: {then: 400 * time.Millisecond}},
		emptyWorlds:  {10_000: {bytes: 7_000}},
		boughtWorlds: {10_000: {bytes: 73_000}},
	}
	var b strings.Builder
	c.writeTargets(&b)
	want := `| Target | Before | Limit | Measured | Met |
| --- | --- | --- | --- | --- |
| virtual clock: advance past 100,000 purchased requests, s | 5–15 | ≤ 1 | 0.40 | yes |
| first purchase in a world: KB kept | 208 | ≤ 60 | 66.0 | **no** |
| 10,000 worlds with a purchase each, MB | 2400 | ≤ 700 | 730 | **no** |

`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

func TestTheRepositoryHasAPlaceForTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "BENCHMARKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := place().Replace(string(text), ""); err != nil {
		t.Error(err)
	}
}
