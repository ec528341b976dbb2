package wire

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Reply is a response before it is written, so that a fault can still change or suppress it.
type Reply struct {
	Status      int
	Header      http.Header // besides the content's; may be nil
	ContentType string      // "" means JSON; a Content-Type in the header replaces it
	Body        []byte
	Pooled      bool    // body is in memory that the next response reuses
	fixed       *Static // the source of the body; nil for most responses
	// Stream writes the body in place of Body; nil for most responses.
	Stream func(http.ResponseWriter) error

	// Fields for the journal and its explanations.
	Refusal Refusal
	Record  *regulatory.Record // the request in the response; may be nil
	Then    func(*Exchange)    // the fault of a failpoint that interrupted the operation; may be nil
}

// Refusal is the reason why a request was refused. The zero value means that it was not.
type Refusal struct {
	Code    string // error_code
	Message string
	Rule    string // the sentence of the specification, if known
}

// Values of error_code in the data of refusals.
//
// Assumption: the codes, and their place in data; the specification does not show the error body.
const (
	CodeUnauthorized = "unauthorized"
	CodeNotFound     = "not_found"
	CodeMethod       = "method_not_allowed"
	CodeTooLarge     = "body_too_large"
	CodeHeaderLarge  = "header_too_large"
	CodeMediaType    = "unsupported_media_type"
	CodeMalformed    = "malformed_body"
	CodeInvalid      = "invalid_request"
	CodeForbidden    = "forbidden"
	CodeUnavailable  = "unavailable"
	CodeFull         = "server_full"
	CodeInternal     = "internal_error"
	CodeInjected     = "injected_fault"
	CodeInterrupted  = "interrupted"
	CodeTimeout      = "timeout"
)

// OpenEnvelope begins the body of a success; the caller appends the data and calls CloseEnvelope.
//
// Specification: "Response envelope".
func OpenEnvelope(dst []byte, message string) []byte {
	dst = append(dst, `{"status":true,"message":`...)
	dst = jsontext.AppendString(dst, message)
	return append(dst, `,"data":`...)
}

func CloseEnvelope(dst []byte) Reply {
	return Reply{Status: http.StatusOK, Body: append(dst, '}'), Pooled: true}
}

// Succeed returns a success with data that is already JSON.
func Succeed(dst []byte, message string, data []byte) Reply {
	return CloseEnvelope(append(OpenEnvelope(dst, message), data...))
}

// SucceedWith returns a success with data that it encodes.
func SucceedWith(dst []byte, message string, data any) Reply {
	encoded, err := jsontext.Encode(data)
	if err != nil {
		return Refused(http.StatusInternalServerError, CodeInternal, "cannot encode the response: "+err.Error())
	}
	return Succeed(dst, message, encoded)
}

// Refused returns a refusal. The message explains what to do next.
func Refused(status int, code, message string) Reply {
	return RefusedWith(status, Refusal{Code: code, Message: message}, map[string]any{"error_code": code})
}

// Redirect returns a redirect to another path.
func Redirect(path string) Reply {
	p := Succeed(nil, "See "+path, []byte("null"))
	p.Status, p.Header = http.StatusPermanentRedirect, http.Header{"Location": {path}}
	return p
}

// Limits of texts of the request in a refusal, so that the response and the journal entry stay short.
const (
	maxMessage  = 1000 // bytes
	MaxReason   = 200  // bytes of a problem's field, and of its reason
	MaxProblems = 100
)

// Bounded removes the middle and secret keys of a text that is longer than most bytes. The end usually
// contains what to do next.
func Bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = Redact(text) // before the cut, which could split a key
	if len(text) <= most {
		return text
	}
	const between = " … "
	end := most / 3
	start := most - end - len(between)
	return strings.ToValidUTF8(text[:start], "") + between + strings.ToValidUTF8(text[len(text)-end:], "")
}

func RefusedWith(status int, why Refusal, data any) Reply {
	why.Message = Bounded(why.Message, maxMessage)
	body, err := jsontext.Encode(struct {
		Status  bool   `json:"status"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{false, why.Message, data})
	if err != nil {
		return Refused(http.StatusInternalServerError, CodeInternal, "cannot encode the response: "+err.Error())
	}
	return Reply{Status: status, Body: body, Refusal: why}
}

// WithoutKeys removes secret keys from a refusal, which may contain a part of the request.
func (p *Reply) WithoutKeys() {
	if p.Refusal.Code != "" {
		p.Refusal.Message = Redact(p.Refusal.Message)
		p.Body = []byte(Redact(string(p.Body)))
	}
}

// Write sends the reply. The response to HEAD has the headers of the response to GET.
func (p *Reply) Write(w http.ResponseWriter) error {
	p.writeHeader(w, !p.isCounted(w))
	if p.Stream != nil {
		return p.Stream(w)
	}
	if len(p.Body) == 0 {
		return nil // 204 allows no Write, not even an empty one
	}
	_, err := w.Write(p.Body)
	return err
}

// counted is the length of the longest body that net/http holds back until the handler returns.
const counted = 2048

// isCounted reports whether net/http adds the Content-Length, which takes it less time than to copy and check one. A recorder
// adds none; it has no connection.
func (p *Reply) isCounted(w http.ResponseWriter) bool {
	if sent := len(p.Body); sent == 0 || sent > counted || p.Stream != nil {
		return false
	}
	_, connected := w.(http.Hijacker)
	return connected
}

// writeHeader sends the status and the header, with the length of the body if it is wanted.
func (p *Reply) writeHeader(w http.ResponseWriter, length bool) {
	header, own := w.Header(), make([]string, 2) // both values in one allocation
	for name, values := range p.Header {
		header[name] = values
	}
	if p.Status != http.StatusNoContent && p.Status != http.StatusNotModified {
		contentType := p.ContentType
		if contentType == "" {
			contentType = "application/json; charset=utf-8"
		}
		if _, given := p.Header["Content-Type"]; !given {
			own[0] = contentType
			header["Content-Type"] = own[:1:1]
		}
		if length && p.Stream == nil && header["Content-Length"] == nil {
			own[1] = strconv.Itoa(len(p.Body))
			header["Content-Length"] = own[1:]
		}
	}
	w.WriteHeader(p.Status)
}
