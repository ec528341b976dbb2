package wire

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Reply is an answer before it is written, so that a fault can still change or withhold it.
type Reply struct {
	Status      int
	Header      http.Header // besides the content's; may be nil
	ContentType string      // "" means JSON; a Content-Type in the header replaces it
	Body        []byte
	Pooled      bool    // body is in memory that the next answer may use
	fixed       *Static // that the body is; nil for nearly every answer
	coded       []byte  // body as it is sent, where that is another form of it
	// Stream writes the body as it comes about, in place of body; nil for nearly every answer.
	Stream func(http.ResponseWriter) error

	// What the journal, /_mock/why/ and the coverage want to know besides.
	Refusal Refusal
	Record  *regulatory.Record // the request that the answer is about; may be nil
	Then    func(*Exchange)    // what a failpoint that interrupted the operation does to the exchange; may be nil
}

// Refusal is why a request was refused. The zero value is that of a request that was not.
type Refusal struct {
	Code    string // error_code
	Message string
	Rule    string // the sentence that it rests on, where the one who refused knows it
}

// Codes that a refusal's data carries as error_code, for programs to tell refusals apart.
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

// OpenEnvelope begins a success answer; the caller appends the data and calls closeEnvelope.
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

// Succeed is a success answer around data that is already JSON.
func Succeed(dst []byte, message string, data []byte) Reply {
	return CloseEnvelope(append(OpenEnvelope(dst, message), data...))
}

// SucceedWith is succeed for the answers that are not worth keeping encoded.
func SucceedWith(dst []byte, message string, data any) Reply {
	encoded, err := jsontext.Encode(data)
	if err != nil {
		return Refused(http.StatusInternalServerError, CodeInternal, "the answer cannot be encoded: "+err.Error())
	}
	return Succeed(dst, message, encoded)
}

// Refused is a failure answer; its message tells the reader what to do next.
func Refused(status int, code, message string) Reply {
	return RefusedWith(status, Refusal{Code: code, Message: message}, map[string]any{"error_code": code})
}

// Redirect sends the caller to another path.
func Redirect(path string) Reply {
	p := Succeed(nil, "See "+path, []byte("null"))
	p.Status, p.Header = http.StatusPermanentRedirect, http.Header{"Location": {path}}
	return p
}

// Limits of what a refusal repeats of a request, so that a long request has no long answer and no long journal entry.
const (
	maxMessage  = 1000 // bytes
	MaxReason   = 200  // bytes of a problem's field, and of its reason
	MaxProblems = 100
)

// Bounded returns a text without its middle, and without keys, if it is longer than some bytes. Its end usually
// contains what to do next.
func Bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = Redact(text) // before a cut can hide that it is a key
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
		return Refused(http.StatusInternalServerError, CodeInternal, "the answer cannot be encoded: "+err.Error())
	}
	return Reply{Status: status, Body: body, Refusal: why}
}

// WithoutKeys takes out of a refusal what looks like a secret key: it tells the caller what was sent, and keys
// are sent to the wrong place by mistake.
func (p *Reply) WithoutKeys() {
	if p.Refusal.Code != "" {
		p.Refusal.Message = Redact(p.Refusal.Message)
		p.Body = []byte(Redact(string(p.Body)))
	}
}

// Write sends the reply. A HEAD request gets the headers that GET would.
func (p *Reply) Write(w http.ResponseWriter) error {
	p.writeHeader(w)
	if p.Stream != nil {
		return p.Stream(w)
	}
	sent := p.sent()
	if len(sent) == 0 {
		return nil // 204 takes no Write, not even of nothing
	}
	_, err := w.Write(sent)
	return err
}

// sent is the body in the form in which it is sent.
func (p *Reply) sent() []byte {
	if p.coded != nil {
		return p.coded
	}
	return p.Body
}

func (p *Reply) writeHeader(w http.ResponseWriter) {
	header, own := w.Header(), make([]string, 2) // both values in one piece of memory
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
		if p.Stream == nil && header["Content-Length"] == nil {
			own[1] = strconv.Itoa(len(p.sent()))
			header["Content-Length"] = own[1:]
		}
	}
	w.WriteHeader(p.Status)
}
