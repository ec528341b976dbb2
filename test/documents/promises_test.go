package documents_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that a table of promises or of rules names exists. The command ran checks that it also ran.
func TestPromises_NameExistingTests(t *testing.T) {
	t.Parallel()
	fromRoot(t)
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			for _, name := range declared.FindAllStringSubmatch(readText(t, path), -1) {
				tests[name[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z]\\w*)`")
	for _, path := range []string{"docs/RELIABILITY.md", "docs/SPECIFICATION.md"} {
		for _, name := range named.FindAllStringSubmatch(readText(t, path), -1) {
			if !tests[name[1]] {
				t.Errorf("%s names %s, which does not exist", path, name[1])
			}
		}
	}
}
