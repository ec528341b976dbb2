//go:build unix

package mockserver_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// curled is a request as curl would send it.
type curled struct {
	method, target string
	header         map[string]string // a missing value is a header that curl removes
	body           string
}

// exportKey is a key that a shell must not evaluate either.
const exportKey = `k"$(touch key)`

// runCurl runs an exported command in a real shell, with a curl that records its arguments, and returns the request
// that those ask for.
func runCurl(t *testing.T, command, base string) curled {
	t.Helper()
	for _, r := range command {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("a terminal would act on %q of %q", r, command)
		}
	}
	dir := t.TempDir()
	// A function, because a file that was just written can be busy when another test starts a process.
	const curl = `curl() { for a in "$@"; do printf '%s\0' "$a"; done >>arguments; echo >>runs; case " $* " in *' --data-binary @- '*) cat >input;; esac; }`
	sh := exec.CommandContext(t.Context(), "/bin/sh", "-c", curl+"\n"+command)
	sh.Dir, sh.Env = dir, []string{"PATH=/usr/bin:/bin", "SHIPPING_SECRET_KEY=" + exportKey}
	if out, err := sh.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v %s: %q", err, out, command)
	}
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(content)
	}
	input, piped := files["input"]
	if files["runs"] != "\n" || len(files) > 3 || len(files) == 3 && !piped {
		t.Fatalf("%q ran curl %d times and left %q", command, len(files["runs"]), files)
	}
	return parseCurl(t, strings.Split(strings.TrimSuffix(files["arguments"], "\x00"), "\x00"), input, base)
}

// parseCurl reads arguments as curl does, as far as exports have them.
func parseCurl(t *testing.T, args []string, input, base string) curled {
	t.Helper()
	c := curled{method: http.MethodGet, header: map[string]string{}}
	body, explicit, globbing, requestTarget := false, "", true, ""
	var urls []string
	for len(args) > 0 {
		option := args[0]
		args = args[1:]
		value := func() string {
			if len(args) == 0 {
				t.Fatalf("%s has no value", option)
			}
			v := args[0]
			args = args[1:]
			return v
		}
		switch option {
		case "-i", "--path-as-is":
		case "--globoff":
			globbing = false
		case "-I":
			c.method = http.MethodHead
		case "-X":
			explicit = value()
		case "-H":
			header := value()
			name, content, found := strings.Cut(header, ":")
			if !found || strings.HasPrefix(header, "@") {
				t.Errorf("the header %q", header)
			}
			c.header[name] = strings.TrimPrefix(content, " ")
		case "--data-raw":
			body, c.body = true, value()
		case "--data-binary":
			if from := value(); from != "@-" {
				t.Errorf("the body is read from %q", from)
			}
			body, c.body = true, input
		case "--request-target":
			requestTarget = value()
		default:
			if strings.HasPrefix(option, "-") {
				t.Errorf("the option %q", option)
			}
			urls = append(urls, option)
		}
	}
	if body {
		c.method = http.MethodPost
		if _, set := c.header["Content-Type"]; !set {
			c.header["Content-Type"] = "application/x-www-form-urlencoded"
		}
	}
	if explicit != "" {
		c.method = explicit
	}
	if len(urls) != 1 || !strings.HasPrefix(urls[0], base) {
		t.Fatalf("the URLs %q, want one of %s", urls, base)
	}
	c.target = strings.TrimPrefix(urls[0], base)
	if globbing && strings.ContainsAny(c.target, "[]{}") {
		t.Errorf("curl expands %q", c.target)
	}
	if requestTarget != "" {
		c.target = requestTarget
	}
	return c
}

// want fails the test unless the request is the call.
func (c curled) want(t *testing.T, call *journal.Entry) {
	t.Helper()
	path, query, _ := strings.Cut(c.target, "?")
	path, err := url.PathUnescape(path)
	if err != nil || path != call.Path {
		t.Errorf("the path is %q, want %q (%v)", path, call.Path, err)
	}
	if got, want := decoded(query), decoded(call.Query); got != want {
		t.Errorf("the query is %q, want %q", got, want)
	}
	if want := call.Method; c.method != want {
		t.Errorf("the method is %q, want %q", c.method, want)
	}
	if c.body != call.RequestBody {
		t.Errorf("the body is %q, want %q", c.body, call.RequestBody)
	}
	if c.header["Content-Type"] != strings.ReplaceAll(call.ContentType, "\x00", "") {
		t.Errorf("the content type is %q, want %q", c.header["Content-Type"], call.ContentType)
	}
	if authorization := c.header["Authorization"]; (call.Key == "") != (authorization == "") || authorization != "" && authorization != "Bearer "+exportKey {
		t.Errorf("the authorization is %q", authorization)
	}
}

// decoded is a query with every escape read, so that two spellings of one compare equal.
func decoded(query string) string {
	var out strings.Builder
	for i := 0; i < len(query); i++ {
		if query[i] == '%' && i+2 < len(query) {
			if b, err := strconv.ParseUint(query[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(b))
				i += 2
				continue
			}
		}
		out.WriteByte(query[i])
	}
	return out.String()
}

// hostileCalls contain characters that a shell, curl, Go or a terminal interprets, and random bytes.
func hostileCalls(t *testing.T) []journal.Entry {
	texts := []string{
		"", "x", "it's", "a b", "$(touch made)", "`touch made`", "a|touch made", ";touch made", "&touch made", ">made", "$SHIPPING_SECRET_KEY",
		"@/etc/passwd", "@-", "-o", "--output", "-", "a\nb", "\n", "a\r\nX-Other: b", "\x00", "a\x00b", "\x1b[2J", "\u009b2J", "\u202e", "\xff", "%", `\`, `"`,
		"{a,b}", "[1-9]", "#fragment", "!!", "~", "*", "%00", "a=1&b=2;c", "\t", "// touch\n", "*/", "`+evil+`",
	}
	calls := []journal.Entry{
		{Method: "GET", Path: "/v1/rates", RequestBody: "a body"},
		{Method: "HEAD", Path: "/v1/rates"},
		{Method: "OPTIONS", Path: "*"},
		{Method: "GET", Path: "//evil.example/x"},
		{Method: "GET", Path: "/v1/../x/./y"},
		{Method: "POST", Path: "/v1/a", RequestBody: "{}", Key: "sk_test_…"},
	}
	methods := []string{"A|touch", "$(touch)", "`touch`", "-o", "-", "&touch", "*", "!", "it's", "~", "#", "get", "POST", "HEAD", "GET"}
	for i, text := range texts {
		calls = append(calls, journal.Entry{
			RequestID: "req-" + text, Operation: text, Method: methods[i%len(methods)], Path: "/" + text, Query: text, ContentType: text, RequestBody: text, Key: "k",
		})
	}
	const special = "'\"\\$`%\n\r!;|&()<>-@#{}[]\x00\x1b *?="
	random := randomtest.Random(t)
	bytesOf := func() string {
		text := make([]byte, random.IntN(30))
		for i := range text {
			text[i] = byte(random.IntN(256))
			if random.IntN(2) == 0 {
				text[i] = special[random.IntN(len(special))]
			}
		}
		return string(text)
	}
	for range 60 {
		calls = append(calls, journal.Entry{
			RequestID: "req-1", Method: methods[random.IntN(len(methods))], Path: "/" + bytesOf(), Query: bytesOf(), ContentType: bytesOf(), RequestBody: bytesOf(),
		})
	}
	for i := range calls {
		calls[i].RequestBytes = len(calls[i].RequestBody)
		if calls[i].Method == http.MethodHead {
			calls[i].RequestBody = ""
		}
	}
	return calls
}

// Whatever a journal entry contains, the exported command runs curl once, with the recorded request, and nothing else.
func TestCurl_IsTheRequestInARealShell(t *testing.T) {
	t.Parallel()
	const base = "http://127.0.0.1:4010"
	for i, call := range hostileCalls(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			runCurl(t, call.Curl(base), base).want(t, &call)
		})
	}
}

// The command that the console shows for an analysis comes from the server, quoted like every other command.
func TestAdminWorlds_HaveTheCommandThatAnalyzesAShipment(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	var goods struct{ Curl string }
	get(t, srv, "/_mock/worlds/home").want(t, http.StatusOK).data(t, &goods)
	got := runCurl(t, goods.Curl, srv.URL)
	var body map[string]string
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.method != "POST" || got.target != "/v1/regulatory-documents/analyze" || body["shipment_id"] != srv.Shipments()[0] {
		t.Errorf("%+v, %v", got, err)
	}
}

// The exported Go test contains the request only in literals, so that no part of it becomes code.
func TestGoTest_IsOneFunctionWithTheRequest(t *testing.T) {
	t.Parallel()
	for _, call := range hostileCalls(t) {
		source := call.GoTest("http://127.0.0.1:4010")
		file, err := parser.ParseFile(token.NewFileSet(), "replayed_test.go", source, 0)
		if err != nil {
			t.Errorf("%v:\n%s", err, source)
			continue
		}
		if strings.ContainsFunc(source, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }) {
			t.Errorf("not printable: %q", source)
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
		if len(functions) != 1 || !slices.Contains(literals, call.Method) || call.RequestBody != "" && !slices.Contains(literals, call.RequestBody) ||
			call.ContentType != "" && !slices.Contains(literals, call.ContentType) {
			t.Errorf("functions %q, literals %q of %+v", functions, literals, call)
		}
	}
}
