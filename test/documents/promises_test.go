package documents_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every test that a table of promises or of rules names exists. The command ran checks that it also ran.
func TestPromises_NameExistingTests(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	for _, folder := range goFolders(t) {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, name := range declared.FindAllStringSubmatch(readText(t, file), -1) {
				tests[name[1]] = true
			}
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Z]\\w*)`")
	for _, path := range []string{"docs/RELIABILITY.md", "docs/SPECIFICATION.md"} {
		promises := named.FindAllStringSubmatch(readText(t, path), -1)
		if len(promises) < 40 {
			t.Errorf("%s: only %d tests were found", path, len(promises))
		}
		for _, name := range promises {
			if !tests[name[1]] {
				t.Errorf("%s names %s, which does not exist", path, name[1])
			}
		}
	}
}

// goFolders returns the folders that contain tests, also those of nested modules.
func goFolders(t *testing.T) []string {
	t.Helper()
	fromRoot(t)
	var folders []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "node_modules":
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			folders = append(folders, filepath.Dir(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}
