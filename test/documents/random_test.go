package documents_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A random test is the same each time, and can be replayed: its random numbers follow from a seed of internal/randomtest, which
// it logs, or of a fuzz target, and not from one that is written into the test or from none. Tests with rapid failed at random.
func TestRandomTests_HaveASeed(t *testing.T) {
	t.Parallel()
	unseeded := regexp.MustCompile(`\brand\.(?:NewPCG\(\d|NewPCG\(rand\.|N\(|(?:ExpFloat|NormFloat|Float|Int|Perm|Shuffle|Uint)\w*\()`)
	drawn := regexp.MustCompile(`\*rapid\.T\)`)
	read := 0
	for _, folder := range goFolders(t) {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text := readText(t, file)
			if drawn.MatchString(text) && !strings.Contains(text, `internal/randomtest"`) {
				t.Errorf("%s: import internal/randomtest, so that rapid draws the same values each time", file)
			}
			if !strings.Contains(text, `"math/rand`) {
				continue
			}
			read++
			if found := unseeded.FindString(text); found != "" {
				t.Errorf("%s: %s…: take the seed from internal/randomtest", file, found)
			}
		}
	}
	if read < 8 {
		t.Errorf("only %d files use random numbers", read)
	}
}
