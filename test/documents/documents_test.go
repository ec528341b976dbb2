// Package documents_test checks that the links of the documents resolve, that their blocks of code are copies of code
// that runs, and that the generated ones are up to date.
package documents_test

import (
	"github.com/shipping-go/shipping/internal/shippingtest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// changeDir makes the root of the repository the working directory. It runs inside a test, not in TestMain: the cache
// of go test notices a changed working directory, and so which files the tests read, only then.
var changeDir = sync.OnceValue(func() error { return os.Chdir(filepath.Join("..", "..")) })

// fromRoot lets a test read the repository from its root.
func fromRoot(t *testing.T) {
	t.Helper()
	shippingtest.NoError(t, changeDir())
}

// documents returns README, the guides and the other documents, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	fromRoot(t)
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/internals/*.md", "stores/*.md", "test/vectors/*.md"} {
		paths := shippingtest.Must(filepath.Glob(pattern))(t)
		for _, path := range paths {
			texts[filepath.ToSlash(path)] = readText(t, path)
		}
	}
	return texts
}

func readText(t *testing.T, path string) string {
	t.Helper()
	fromRoot(t)
	text := shippingtest.Must(os.ReadFile(path))(t)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// Every block of Go, Python or JavaScript stands, word for word, in the file that the comment above it names; the tests
// compile and run that file, and test/languages/run.sh those that are not in Go.
func TestDocuments_TheirCodeIsCompiledAndRun(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)(?:<!-- ([^\n]+) -->\n)?```(?:go|python|js)\n(.*?)```")
	for path, text := range documents(t) {
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			source, err := os.ReadFile(filepath.FromSlash(found[1]))
			if err != nil {
				t.Errorf("%s: a block of code names a file that does not exist: %v", path, err)
				continue
			}
			held := slices.ContainsFunc([]string{"", "\t", "\t\t", "\t\t\t", "  ", "    ", "        "},
				func(indent string) bool {
					indented := regexp.MustCompile("(?m)^(.)").ReplaceAllString(found[2], indent+"$1")
					return strings.Contains(string(source), "\n"+indented)
				})
			if !held {
				t.Errorf("%s: not in %s:\n%s", path, found[1], found[2])
			}
		}
	}
}

// Every link leads to an existing file or folder, and to one of its headings.
func TestDocuments_TheirLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.+)$`)
	code := regexp.MustCompile("(?s)```.*?```")
	strange := regexp.MustCompile(`[^a-z0-9 _-]`)
	for path, text := range documents(t) {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			name, anchor, _ := strings.Cut(found[1], "#")
			target := filepath.Join(filepath.Dir(filepath.FromSlash(path)), filepath.FromSlash(name))
			if name == "" {
				target = filepath.FromSlash(path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, found[1], err)
				continue
			}
			if anchor == "" {
				continue
			}
			linked, err := os.ReadFile(target)
			if err != nil {
				t.Errorf("%s links to %s: %v", path, found[1], err)
			}
			if !slices.ContainsFunc(heading.FindAllStringSubmatch(string(linked), -1), func(h []string) bool {
				return strings.ReplaceAll(strange.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == anchor
			}) {
				t.Errorf("%s links to %s, which has no such heading", path, found[1])
			}
		}
	}
}
