package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTableOfEverythingFound(t *testing.T) {
	t.Parallel()
	output, err := os.ReadFile(filepath.Join("testdata", "round.txt"))
	if err != nil {
		t.Fatal(err)
	}
	f := &findings{
		plan: plan{rounds: 1, benchTime: 300 * time.Millisecond, walks: 1},
		runs: map[string]*samples{}, sizes: map[string]map[string]int64{},
		machine: machine{
			cpu: "Abacus 3000", goVersion: "go1.26", platform: "linux/amd64", cores: 2,
			modules: []string{"example.com/peer v1.2.3"},
		},
	}
	for _, v := range variants() {
		f.runs[v.name] = &samples{}
		if err := f.runs[v.name].addRound(output); err != nil {
			t.Fatal(err)
		}
		f.sizes[v.name] = map[string]int64{
			"raw": 6_000_000, "shipping": 6_400_000, "gogithub": 7_000_000,
			"stripego": 7_500_000, "hcloudgo": 10_000_000, "godo": 7_250_000,
		}
	}
	want, err := os.ReadFile(filepath.Join("testdata", "table.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := f.markdown(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
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
