package documents_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The commands of RELIABILITY.md run existing tests.
func TestRELIABILITY_ItsCommandsRunTests(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile("`(?:SHIPPING_\\w+=-?\\w+ )*go test (?:-C (\\S+) )?[^`]*?-(?:run|fuzz) '?\\^?((?:Test|Fuzz)\\w+)\\$?'? (?:-fuzztime \\w+ )?(\\.[^\\s`]*)[^`]*`").FindAllStringSubmatch(readText(t, "docs/RELIABILITY.md"), -1)
	if want := strings.Count(readText(t, "docs/RELIABILITY.md"), "go test -"); len(commands) < 30 || len(commands) < want {
		t.Errorf("%d commands are understood, of %d", len(commands), want)
	}
	for _, command := range commands {
		found := false
		for name := range testsIn(t, path.Join(command[1], command[3])) {
			found = found || strings.HasPrefix(name, command[2])
		}
		if !found {
			t.Errorf("%s is not a test in %s", command[2], path.Join(command[1], command[3]))
		}
	}
}

// Each fuzz target has a row.
func TestRELIABILITY_HasEveryFuzzTarget(t *testing.T) {
	t.Parallel()
	text := readText(t, "docs/RELIABILITY.md")
	for _, folder := range goFolders(t, false) {
		for name := range testsIn(t, folder) {
			place := strings.TrimSuffix("./"+filepath.ToSlash(folder), "/.")
			if strings.HasPrefix(name, "Fuzz") && !strings.Contains(text, "-fuzz "+name+"$ -fuzztime 3m "+place+"`") {
				t.Errorf("%s of %s has no row", name, place)
			}
		}
	}
}

// goFolders returns the folders that hold tests, of this module or of the nested ones too.
func goFolders(t *testing.T, nested bool) []string {
	t.Helper()
	fromRoot(t)
	var folders []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			if strings.HasSuffix(name, "_test.go") && !slices.Contains(folders, filepath.Dir(name)) {
				folders = append(folders, filepath.Dir(name))
			}
			return nil
		}
		if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != "." && !nested || entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}
