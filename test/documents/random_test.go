package documents_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A random test can be replayed: its random numbers follow from a seed that it logs, that of internal/randomtest, of rapid
// or of a fuzz target, and not from one that is written into the test or from none.
func TestRandomTests_HaveASeed(t *testing.T) {
	t.Parallel()
	unseeded := regexp.MustCompile(`\brand\.(?:NewPCG\(\d|NewPCG\(rand\.|N\(|(?:ExpFloat|NormFloat|Float|Int|Perm|Shuffle|Uint)\w*\()`)
	read := 0
	for _, folder := range goFolders(t, true) {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text := readText(t, file)
			if !strings.Contains(text, `"math/rand`) {
				continue
			}
			read++
			if found := unseeded.FindString(text); found != "" {
				t.Errorf("%s: %s…: take the seed from internal/randomtest", file, found)
			}
		}
	}
	if read < 10 {
		t.Errorf("only %d files use random numbers", read)
	}
}
