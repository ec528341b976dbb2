package shipping

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// CallOption configures a single call; see [WithHeader], [WithQuery], [WithResponse] and, for lists,
// [WithWindow], [WithResume] and [WithListProgress].
type CallOption func(*callSettings)

type callSettings struct {
	header   http.Header
	query    url.Values
	response *Response
	window   int
	resume   string
	progress func(ListProgress)
	invalid  error
}

// WithHeader adds a header to one call. Authorization belongs to the client and is refused, and so
// are Idempotency-Key and X-Idempotency-Key: with them net/http itself re-sends a POST after a
// dropped connection.
func WithHeader(name, value string) CallOption {
	return func(s *callSettings) {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !validHeaderName(name):
			s.invalid = invalidRequest("", "WithHeader", "has a name that is not a header name: pass name and value separately")
		case !validHeaderValue(value):
			s.invalid = invalidRequest("", "WithHeader", "has a value that no HTTP header can carry: check for line breaks")
		case canonical == "Authorization":
			s.invalid = invalidRequest("", "WithHeader", "sets Authorization: the client sends the key it was made with")
		case canonical == "Idempotency-Key" || canonical == "X-Idempotency-Key":
			s.invalid = invalidRequest("", "WithHeader", "sets "+name+": net/http would re-send the request by itself after a dropped connection")
		default:
			if s.header == nil {
				s.header = http.Header{}
			}
			s.header.Add(name, value)
		}
	}
}

// validHeaderName and validHeaderValue refuse early what net/http refuses when it sends, where it
// would look like a connection that broke.
func validHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func validHeaderValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// WithQuery adds a query parameter to one call, such as a filter that the specification does not
// document.
func WithQuery(name, value string) CallOption {
	return func(s *callSettings) {
		if s.query == nil {
			s.query = url.Values{}
		}
		s.query.Add(name, value)
	}
}

// WithResponse stores what was received in response, also when the call fails after an answer came:
// status, header, raw body and attempts.
func WithResponse(response *Response) CallOption {
	return func(s *callSettings) { s.response = response }
}

// Response is what was received for a call.
type Response struct {
	// StatusCode is the HTTP status of the last attempt; 0 when no answer came.
	StatusCode int
	// Header is the header, without the secret key if the service sent it back.
	Header http.Header
	// Body is the raw body, also without the key. It is kept only where [WithResponse] asked for it.
	Body []byte
	// Attempts tells each attempt that was made, the last one last.
	Attempts []Attempt
}

func newCallSettings(options []CallOption) (callSettings, error) {
	var s callSettings
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	return s, s.invalid
}
