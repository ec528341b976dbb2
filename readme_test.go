package shipping_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What README shows is what is in the repository: the first program word for word, and every file and
// folder it points to.
func TestREADMEShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("examples", "first", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(program), "\npackage main")
	if !strings.Contains(string(readme), "```go\npackage main"+code+"```") {
		t.Error("README's first program is not examples/first/main.go")
	}
	documents, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.FromSlash(link[1])); err != nil {
				t.Errorf("%s points to %s: %v", document, link[1], err)
			}
		}
	}
	layout := regexp.MustCompile("(?m)^\\| (`[^|]+) \\|")
	for _, row := range layout.FindAllStringSubmatch(string(readme), -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			if found, err := filepath.Glob(strings.TrimSuffix(name[1], "/")); err != nil || len(found) == 0 {
				t.Errorf("README names %s, which is not there", name[1])
			}
		}
	}
}
