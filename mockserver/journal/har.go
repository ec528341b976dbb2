package journal

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// HAR returns entries as an HTTP archive, version 1.2, which browsers and HTTP tools open. The bodies in it are those of
// the entries; a comment notes a truncated one. The secret key is not in it.
func HAR(baseURL string, entries []Entry) ([]byte, error) {
	archive := harLog{Version: "1.2", Creator: harCreator{Name: "mockserver", Version: "1"}, Entries: []harEntry{}}
	for i := range entries {
		archive.Entries = append(archive.Entries, entries[i].har(baseURL))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(struct {
		Log harLog `json:"log"`
	}{archive})
	return out.Bytes(), err
}

type harLog struct {
	Version string     `json:"version"`
	Creator harCreator `json:"creator"`
	Entries []harEntry `json:"entries"`
}

type harCreator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type harEntry struct {
	Started  string      `json:"startedDateTime"`
	Time     float64     `json:"time"` // in milliseconds
	Request  harRequest  `json:"request"`
	Response harResponse `json:"response"`
	Cache    struct{}    `json:"cache"`
	Timings  harTimings  `json:"timings"`
	Comment  string      `json:"comment,omitempty"` // why it was refused
}

type harRequest struct {
	Method      string      `json:"method"`
	URL         string      `json:"url"`
	HTTPVersion string      `json:"httpVersion"`
	Cookies     []struct{}  `json:"cookies"`
	Headers     []harPair   `json:"headers"`
	Query       []harPair   `json:"queryString"`
	Body        *harContent `json:"postData,omitempty"`
	HeaderBytes int         `json:"headersSize"`
	BodyBytes   int         `json:"bodySize"`
}

type harResponse struct {
	Status      int        `json:"status"` // 0 without a response
	StatusText  string     `json:"statusText"`
	HTTPVersion string     `json:"httpVersion"`
	Cookies     []struct{} `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Content     harContent `json:"content"`
	RedirectURL string     `json:"redirectURL"`
	HeaderBytes int        `json:"headersSize"`
	BodyBytes   int        `json:"bodySize"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harContent struct {
	Size    int    `json:"size"`
	Type    string `json:"mimeType"`
	Text    string `json:"text"`
	Comment string `json:"comment,omitempty"`
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// har returns an entry of an archive. In the format, a size of -1 is unknown.
func (c *Entry) har(baseURL string) harEntry {
	const unknown, version = -1, "HTTP/1.1"
	milliseconds := float64(c.Duration) / float64(time.Millisecond)
	e := harEntry{
		Started: c.At.Add(-time.Duration(c.Duration)).UTC().Format("2006-01-02T15:04:05.000Z07:00"), Time: milliseconds, Comment: c.Message,
		Timings: harTimings{Wait: milliseconds},
		Request: harRequest{
			Method: c.Method, URL: baseURL + c.target(), HTTPVersion: version, Cookies: []struct{}{}, Headers: []harPair{}, Query: harQuery(c.Query),
			HeaderBytes: unknown, BodyBytes: c.RequestBytes,
		},
		Response: harResponse{
			Status: c.Status, StatusText: http.StatusText(c.Status), HTTPVersion: version, Cookies: []struct{}{},
			Headers: []harPair{{"X-Request-Id", c.RequestID}},
			Content: harBody("application/json", c.ResponseBody, c.ResponseBytes), HeaderBytes: unknown, BodyBytes: c.ResponseBytes,
		},
	}
	if c.ContentType != "" {
		e.Request.Headers = append(e.Request.Headers, harPair{"Content-Type", c.ContentType})
	}
	if c.RequestBytes > 0 {
		body := harBody(c.ContentType, c.RequestBody, c.RequestBytes)
		e.Request.Body = &body
	}
	return e
}

func harBody(contentType, text string, size int) harContent {
	content := harContent{Size: size, Type: contentType, Text: text}
	if size > len(text) {
		content.Comment = "truncated"
	}
	return content
}

// harQuery returns the parameters of a query in their order. A malformed one is left out.
func harQuery(query string) []harPair {
	pairs := []harPair{}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if name != "" && nameErr == nil && valueErr == nil {
			pairs = append(pairs, harPair{name, value})
		}
	}
	return pairs
}
