package documents_test

import (
	"github.com/shipping-go/shipping/internal/shippingtest"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A name in brackets in a comment is a link. go doc shows it with its brackets if the name does not exist.
func TestComments_TheirLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	fromRoot(t)
	positions, packages := token.NewFileSet(), map[string][]*ast.File{}
	shippingtest.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(positions, path, nil, parser.ParseComments)
		folder := filepath.Dir(path)
		packages[folder] = append(packages[folder], file)
		return err
	}))
	dead := regexp.MustCompile(`\\\[(\*?(?:[A-Za-z]\w*\.)*[A-Z]\w*)\]`) // Markdown escapes the bracket if it is not a link
	for folder, files := range packages {
		described := shippingtest.Must(doc.NewFromFiles(positions, files, folder, doc.AllDecls|doc.PreserveAST))(t)
		for _, file := range files {
			for _, group := range file.Comments {
				text := described.Printer().Markdown(described.Parser().Parse(group.Text()))
				for _, name := range dead.FindAllSubmatch(text, -1) {
					t.Errorf("%s: [%s] is not a name of this package or of a package that it imports",
						positions.Position(group.Pos()), name[1])
				}
			}
		}
	}
}
