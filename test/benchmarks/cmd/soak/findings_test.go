package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// steady are the samples of a server that did not grow: its memory goes up and down, as a heap does.
func steady() *findings {
	f := &findings{plan: plan{length: time.Minute, workers: 2}, before: sample{12, 1, 11}, after: sample{24, 1, 11}}
	for i := range 40 {
		f.during = append(f.during, sample{resident: 22 + float64(i%4), worlds: 5, files: 18})
	}
	return f
}

func TestWhatGrowsIsNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		grow func(f *findings)
		want string // empty: nothing grows
	}{
		{"nothing", func(*findings) {}, ""},
		{"memory that is taken once", func(f *findings) {
			for i := range f.during[:10] {
				f.during[i].resident = 12
			}
		}, ""},
		{"resident memory", func(f *findings) {
			for i := range f.during {
				f.during[i].resident += float64(i) / 5
			}
		}, "resident memory, MiB: 30.8 in the last quarter after 26.8 in the second is 1.15 times as much"},
		{"open files", func(f *findings) { f.after.files++ }, "open files and sockets: 12 are left"},
		{"worlds", func(f *findings) { f.after.worlds++ }, "worlds: 2 are left"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := steady()
			test.grow(f)
			err := f.verdict()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("verdict: %v, want %q", err, test.want)
			}
		})
	}
}

func TestAFewSamplesTellNothing(t *testing.T) {
	t.Parallel()
	f := steady()
	if err := f.enough(); err != nil {
		t.Error(err)
	}
	f.during = f.during[:7]
	if err := f.enough(); err == nil {
		t.Error("7 samples were enough")
	}
}

func TestTheTableSaysWhatIsNotFlat(t *testing.T) {
	t.Parallel()
	f := steady()
	f.after.files = 13
	_, table, _ := strings.Cut(f.markdown(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), "\n\n")
	want := `| The server holds | before | second quarter | last quarter | growth | limit | after | Flat |
| --- | --- | --- | --- | --- | --- | --- | --- |
| resident memory, MiB | 12.0 | 24.0 | 24.0 | 1.00 | ≤ 1.10 | 24.0 | yes |
| open files and sockets | 11 | 18 | 18 | – | after ≤ before | 13 | **no** |
| worlds | 1 | 5 | 5 | – | after ≤ before | 1 | yes |
`
	if diff := cmp.Diff(want, table); diff != "" {
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
