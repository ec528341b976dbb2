package journal

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// keyVariable is the environment variable from which exported requests read the secret key; the key is never exported.
const keyVariable = "SHIPPING_SECRET_KEY"

// Curl returns a command for a POSIX shell that sends the request again to a base address, with the key from the
// environment variable SHIPPING_SECRET_KEY. Everything else in it is quoted, so that a shell, a terminal and curl take
// it as text. A comment notes a truncated body.
func (c *Entry) Curl(baseURL string) string {
	words := []string{"curl"}
	words = append(words, c.curlMethod()...)
	if c.Key != "" {
		words = append(words, "-H", `"Authorization: Bearer $`+keyVariable+`"`)
	}
	if c.ContentType != "" {
		words = append(words, "-H", shell.Quote("Content-Type: "+c.ContentType))
	} else if c.RequestBody != "" {
		words = append(words, "-H", "Content-Type:") // else curl would add one
	}
	piped := ""
	switch {
	case c.RequestBody == "":
	case shell.Visible(c.RequestBody):
		words = append(words, "--data-raw", shell.Quote(c.RequestBody))
	default:
		piped = shell.Print(c.RequestBody) + " | "
		words = append(words, "--data-binary", "@-")
	}
	words = append(words, c.curlURL(baseURL)...)
	truncated := ""
	if c.cutOff() {
		truncated = fmt.Sprintf("# the body had %d bytes, of which the journal kept %d\n", c.RequestBytes, len(c.RequestBody))
	}
	return truncated + piped + strings.Join(words, " ") + "\n"
}

// curlMethod returns the options that make curl send the method and show the head of the response.
func (c *Entry) curlMethod() []string {
	switch {
	case c.RequestBody == "" && (c.Method == http.MethodGet || c.Method == ""):
		return []string{"-i"}
	case c.RequestBody == "" && c.Method == http.MethodHead:
		return []string{"-I"} // with -X HEAD curl waits for a body
	}
	return []string{"-i", "-X", shell.Quote(cmp.Or(c.Method, http.MethodGet))}
}

// curlURL returns the URL, and the options without which curl would change it.
func (c *Entry) curlURL(baseURL string) []string {
	if c.Path == "*" {
		return []string{"--request-target", shell.Quote(c.target()), shell.Quote(baseURL)}
	}
	target := c.target()
	var words []string
	if strings.Contains(c.Path, "/.") {
		words = append(words, "--path-as-is")
	}
	if strings.ContainsAny(target, "[]{}") {
		words = append(words, "--globoff")
	}
	return append(words, shell.Quote(baseURL+target))
}

// GoTest returns a Go test file that sends the request again to a base address and expects the same
// status. It needs nothing but the standard library.
func (c *Entry) GoTest(baseURL string) string {
	var b strings.Builder
	imports := []string{"net/http", "testing"}
	body := "http.NoBody"
	if c.RequestBody != "" {
		imports = append(imports, "strings")
		body = "strings.NewReader(" + goQuote(c.RequestBody) + ")"
	}
	if c.Status != 0 {
		imports = append(imports, "io")
	}
	if c.Key != "" {
		imports = append(imports, "os")
	}
	slices.Sort(imports)
	b.WriteString("package replayed\n\nimport (\n\t\"" + strings.Join(imports, "\"\n\t\"") + "\"\n)\n\n")
	fmt.Fprintf(&b, "// %s as it was called on %s.\n", c.named(), c.At.UTC().Format("2006-01-02 at 15:04:05 UTC"))
	if c.cutOff() {
		fmt.Fprintf(&b, "// The body had %d bytes, of which the journal kept %d.\n", c.RequestBytes, len(c.RequestBody))
	}
	fmt.Fprintf(&b, "func TestReplayed_%s(t *testing.T) {\n", identifier(c.RequestID))
	fmt.Fprintf(&b, "\treq, err := http.NewRequest(%q, %q, %s)\n", c.Method, baseURL+c.target(), body)
	b.WriteString("\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n")
	if c.Key != "" {
		fmt.Fprintf(&b, "\treq.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(%q))\n", keyVariable)
	}
	if c.ContentType != "" {
		fmt.Fprintf(&b, "\treq.Header.Set(\"Content-Type\", %q)\n", c.ContentType)
	}
	b.WriteString("\tresp, err := http.DefaultTransport.RoundTrip(req)\n")
	if c.Status == 0 {
		b.WriteString("\tif err == nil {\n\t\tresp.Body.Close()\n\t\tt.Errorf(\"status %d, want the connection to close without a response\", resp.StatusCode)\n\t}\n}\n")
		return b.String()
	}
	b.WriteString("\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tdefer resp.Body.Close()\n")
	b.WriteString("\tbody, err := io.ReadAll(resp.Body)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n")
	fmt.Fprintf(&b, "\tif resp.StatusCode != %d {\n\t\tt.Errorf(\"status %%d, want %d: %%s\", resp.StatusCode, body)\n\t}\n}\n", c.Status, c.Status)
	return b.String()
}

func (c *Entry) cutOff() bool { return c.RequestBytes > len(c.RequestBody) }

// named is the operation, as a line of a comment.
func (c *Entry) named() string {
	if c.Operation == "" {
		return "A request for no operation"
	}
	return strings.Trim(strconv.Quote(c.Operation), `"`)
}

// identifier replaces what no identifier of Go may have.
func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, text)
}

// target is the path and query as a URL has them: visible ASCII, without a fragment. The query is otherwise as it was
// sent.
func (c *Entry) target() string {
	target := (&url.URL{Path: c.Path}).EscapedPath()
	if c.Query == "" {
		return target
	}
	target += "?"
	for _, b := range []byte(c.Query) {
		if b <= ' ' || b >= 0x7f || b == '#' {
			target += fmt.Sprintf("%%%02X", b)
		} else {
			target += string(rune(b))
		}
	}
	return target
}

// goQuote quotes a text for Go, between backquotes if that is easier to read.
func goQuote(text string) string {
	if strconv.CanBackquote(text) && shell.Visible(strings.ReplaceAll(text, "\t", "")) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}
