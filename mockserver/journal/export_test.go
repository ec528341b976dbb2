package journal_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/shipping-go/shipping/mockserver/journal"
)

const base = "http://127.0.0.1:4010"

// The command has every part of the request in quotes, where a shell or curl would interpret it. Package shell runs the
// quotes in a real shell.
func TestEntry_CurlQuotesEveryPart(t *testing.T) {
	t.Parallel()
	for want, entry := range map[string]journal.Entry{
		`curl -i -H "Authorization: Bearer $SHIPPING_SECRET_KEY" 'http://127.0.0.1:4010/v1/rates?page=2&perPage=1'`: {Method: "GET", Path: "/v1/rates", Query: "page=2&perPage=1", Key: "sk_test_…"},
		`curl -I http://127.0.0.1:4010/v1/rates`:                                                                                                                                   {Method: "HEAD", Path: "/v1/rates"},
		`curl -i -X GET -H Content-Type: --data-raw 'a body' http://127.0.0.1:4010/v1/rates`:                                                                                       {Method: "GET", Path: "/v1/rates", RequestBody: "a body"},
		`curl -i -X OPTIONS --request-target '*' http://127.0.0.1:4010`:                                                                                                            {Method: "OPTIONS", Path: "*"},
		`curl -i --path-as-is http://127.0.0.1:4010/v1/../x`:                                                                                                                       {Method: "GET", Path: "/v1/../x"},
		"curl -i --globoff 'http://127.0.0.1:4010/a%27b%20$%28id%29%23f?x=[1-3]&z='\\''`id`'":                                                                                      {Method: "GET", Path: "/a'b $(id)#f", Query: "x=[1-3]&z='`id`"},
		`curl -i -X 'A|touch' -H 'Content-Type: text/$(id)' --data-raw 'it'\''s $(touch made)' http://127.0.0.1:4010/`:                                                             {Method: "A|touch", Path: "/", ContentType: "text/$(id)", RequestBody: "it's $(touch made)"},
		"# the body had 9 bytes, of which the journal kept 7\n" + `printf '@file\000\033' | curl -i -X POST -H 'Content-Type: text/plain' --data-binary @- http://127.0.0.1:4010/`: {Method: "POST", Path: "/", ContentType: "text/plain", RequestBody: "@file\x00\x1b", RequestBytes: 9},
	} {
		if got := entry.Curl(base); got != want+"\n" {
			t.Errorf("%+v\n%s\nwant\n%s", entry, got, want)
		}
	}
}

// The exported Go test is one function, as gofmt writes it, with the request in literals only, so that no part of it
// becomes code.
func TestEntry_GoTestHasTheRequestInLiterals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "x", "`touch made`", "@-", "a\nb", "a\r\nX-Other: b", "\x00", "\x1b[2J", "\u202e", "\xff", "%", `\`, `"`, "// touch\n", "*/", "`+evil+`",
	} {
		entry := journal.Entry{
			RequestID: "req-" + text, Operation: text, Method: "P" + text, Path: "/" + text, Query: text, ContentType: text, RequestBody: text, Key: "k", Status: len(text),
			RequestBytes: 3,
		}
		source := entry.GoTest(base)
		file, err := parser.ParseFile(token.NewFileSet(), "replayed_test.go", source, 0)
		if err != nil {
			t.Errorf("%v:\n%s", err, source)
			continue
		}
		formatted, err := format.Source([]byte(source))
		if err != nil || string(formatted) != source || strings.ContainsFunc(source, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) {
			t.Errorf("%v, not as gofmt writes it, or not printable: %q", err, source)
		}
		var literals, functions []string
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					literals = append(literals, text)
				}
			case *ast.FuncDecl:
				functions = append(functions, n.Name.Name)
			}
			return true
		})
		if len(functions) != 1 || !slices.Contains(literals, entry.Method) || text != "" && !slices.Contains(literals, text) {
			t.Errorf("functions %q, literals %q of %+v", functions, literals, entry)
		}
	}
}
