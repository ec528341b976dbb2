package journal

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// keyVariable is the environment variable from which exported requests read the secret key; the key is never exported.
const keyVariable = "SHIPPING_SECRET_KEY"

// Curl returns a command for a POSIX shell that sends the request again to a base address, with the key from the
// environment variable SHIPPING_SECRET_KEY. Everything else in it is quoted, so that a shell, a terminal and curl treat
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
		words = append(words, "-H", "Content-Type:") // otherwise curl would add one
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
	if c.RequestBytes > len(c.RequestBody) {
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
