package mockserver

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// keyVariable is where exported requests take the secret key from; the key itself is never exported.
const keyVariable = "SHIPPING_SECRET_KEY"

// Curl returns a shell command that makes the call again at a base address, with the key from the
// environment variable SHIPPING_SECRET_KEY. A body that the journal cut off is said to be.
func (c *Call) Curl(baseURL string) string {
	var b strings.Builder
	if c.cutOff() {
		fmt.Fprintf(&b, "# the body had %d bytes, of which the journal kept %d\n", c.RequestBytes, len(c.RequestBody))
	}
	b.WriteString("curl -i")
	if c.Method != "GET" {
		b.WriteString(" -X " + c.Method)
	}
	if c.Key != "" {
		b.WriteString(` -H "Authorization: Bearer $` + keyVariable + `"`)
	}
	if c.ContentType != "" {
		b.WriteString(" -H " + shellQuote("Content-Type: "+c.ContentType))
	}
	if c.RequestBody != "" {
		b.WriteString(" --data-raw " + shellQuote(c.RequestBody))
	}
	b.WriteString(" " + shellQuote(baseURL+c.target()) + "\n")
	return b.String()
}

// GoTest returns a Go test file that makes the call again at a base address and expects the same
// status. It needs nothing but the standard library.
func (c *Call) GoTest(baseURL string) string {
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
	fmt.Fprintf(&b, "// %s as it was called on %s.\n", cmp.Or(c.Operation, "A request for no operation"), c.At.UTC().Format("2006-01-02 at 15:04:05 UTC"))
	if c.cutOff() {
		fmt.Fprintf(&b, "// The body had %d bytes, of which the journal kept %d.\n", c.RequestBytes, len(c.RequestBody))
	}
	fmt.Fprintf(&b, "func TestReplayed_%s(t *testing.T) {\n", strings.ReplaceAll(c.RequestID, "-", "_"))
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
		b.WriteString("\tif err == nil {\n\t\tresp.Body.Close()\n\t\tt.Errorf(\"status %d, want the connection to close without an answer\", resp.StatusCode)\n\t}\n}\n")
		return b.String()
	}
	b.WriteString("\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tdefer resp.Body.Close()\n")
	b.WriteString("\tbody, err := io.ReadAll(resp.Body)\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n")
	fmt.Fprintf(&b, "\tif resp.StatusCode != %d {\n\t\tt.Errorf(\"status %%d, want %d: %%s\", resp.StatusCode, body)\n\t}\n}\n", c.Status, c.Status)
	return b.String()
}

func (c *Call) cutOff() bool { return c.RequestBytes > len(c.RequestBody) }

// target is the path as a URL has it, with the query.
func (c *Call) target() string {
	target := (&url.URL{Path: c.Path}).EscapedPath()
	if c.Query != "" {
		target += "?" + c.Query
	}
	return target
}

// shellQuote quotes a text for a POSIX shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// goQuote quotes a text for Go, between backquotes where that can be read better.
func goQuote(text string) string {
	if strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}
