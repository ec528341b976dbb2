package mockserver

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// reply is an answer before it is written, so that a fault can still change or withhold it.
type reply struct {
	status      int
	header      http.Header // besides the content's; may be nil
	contentType string      // "" means JSON
	body        []byte
	pooled      bool       // body is in memory that the next answer may use
	fixed       *fixedBody // that the body is; nil for nearly every answer
	coded       []byte     // body as it is sent, where that is another form of it
	// stream writes the body as it comes about, in place of body; nil for nearly every answer.
	stream func(http.ResponseWriter) error

	// What the journal, /_mock/why/ and the coverage want to know besides.
	refusal refusal
	record  *regulatory.Record // the request that the answer is about; may be nil
	struck  *armedRule         // the rule whose failpoint interrupted the operation; may be nil
}

// refusal is why a request was refused. The zero value is that of a request that was not.
type refusal struct {
	code    string // error_code
	message string
	rule    string // the sentence that it rests on, where the one who refused knows it
}

// Codes that a refusal's data carries as error_code, for programs to tell refusals apart.
//
// Assumption: the codes, and their place in data; the specification does not show the error body.
const (
	codeUnauthorized = "unauthorized"
	codeNotFound     = "not_found"
	codeMethod       = "method_not_allowed"
	codeTooLarge     = "body_too_large"
	codeHeaderLarge  = "header_too_large"
	codeMediaType    = "unsupported_media_type"
	codeMalformed    = "malformed_body"
	codeInvalid      = "invalid_request"
	codeForbidden    = "forbidden"
	codeUnavailable  = "unavailable"
	codeFull         = "server_full"
	codeInternal     = "internal_error"
	codeInjected     = "injected_fault"
	codeInterrupted  = "interrupted"
	codeTimeout      = "timeout"
)

// openEnvelope begins a success answer; the caller appends the data and calls closeEnvelope.
//
// Specification: "Response envelope".
func openEnvelope(dst []byte, message string) []byte {
	dst = append(dst, `{"status":true,"message":`...)
	dst = jsontext.AppendString(dst, message)
	return append(dst, `,"data":`...)
}

func closeEnvelope(dst []byte) reply {
	return reply{status: http.StatusOK, body: append(dst, '}'), pooled: true}
}

// succeed is a success answer around data that is already JSON.
func succeed(dst []byte, message string, data []byte) reply {
	return closeEnvelope(append(openEnvelope(dst, message), data...))
}

// succeedWith is succeed for the answers that are not worth keeping encoded.
func succeedWith(dst []byte, message string, data any) reply {
	encoded, err := jsontext.Encode(data)
	if err != nil {
		return refused(http.StatusInternalServerError, codeInternal, "the answer cannot be encoded: "+err.Error())
	}
	return succeed(dst, message, encoded)
}

// refused is a failure answer; its message tells the reader what to do next.
func refused(status int, code, message string) reply {
	return refusedWith(status, refusal{code: code, message: message}, map[string]any{"error_code": code})
}

// redirected sends the caller to another path.
func redirected(path string) reply {
	p := succeed(nil, "See "+path, []byte("null"))
	p.status, p.header = http.StatusPermanentRedirect, http.Header{"Location": {path}}
	return p
}

// refusedBy is a refusal of the regulatory desk, whose data says more than a code.
func refusedBy(status int, r *regulatory.Refusal) reply {
	data := r.Payload()
	if problems, ok := data["problems"].([]regulatory.Problem); ok {
		data["problems"] = boundedProblems(problems)
	}
	return refusedWith(status, refusal{code: string(r.Code), message: r.Message, rule: r.Rule}, data)
}

// Limits of what a refusal repeats of a request, so that a long request has no long answer and no long journal entry.
const (
	maxMessage  = 1000 // bytes
	maxReason   = 200  // bytes of a problem's field, and of its reason
	maxProblems = 100
)

// bounded returns a text without its middle, and without keys, if it is longer than some bytes. Its end usually
// contains what to do next.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = redact(text) // before a cut can hide that it is a key
	if len(text) <= most {
		return text
	}
	const between = " … "
	end := most / 3
	start := most - end - len(between)
	return strings.ToValidUTF8(text[:start], "") + between + strings.ToValidUTF8(text[len(text)-end:], "")
}

func boundedProblems(problems []regulatory.Problem) []regulatory.Problem {
	out := make([]regulatory.Problem, min(len(problems), maxProblems))
	for i := range out {
		out[i] = regulatory.Problem{Field: bounded(problems[i].Field, maxReason), Reason: bounded(problems[i].Reason, maxReason)}
	}
	return out
}

func refusedWith(status int, why refusal, data any) reply {
	why.message = bounded(why.message, maxMessage)
	body, err := jsontext.Encode(struct {
		Status  bool   `json:"status"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}{false, why.message, data})
	if err != nil {
		return refused(http.StatusInternalServerError, codeInternal, "the answer cannot be encoded: "+err.Error())
	}
	return reply{status: status, body: body, refusal: why}
}

// withoutKeys takes out of a refusal what looks like a secret key: it tells the caller what was sent, and keys
// are sent to the wrong place by mistake.
func (p *reply) withoutKeys() {
	if p.refusal.code != "" {
		p.refusal.message = redact(p.refusal.message)
		p.body = []byte(redact(string(p.body)))
	}
}

// write sends the reply. A HEAD request gets the headers that GET would.
func (p *reply) write(w http.ResponseWriter) error {
	p.writeHeader(w)
	if p.stream != nil {
		return p.stream(w)
	}
	sent := p.sent()
	if len(sent) == 0 {
		return nil // 204 takes no Write, not even of nothing
	}
	_, err := w.Write(sent)
	return err
}

// sent is the body in the form in which it is sent.
func (p *reply) sent() []byte {
	if p.coded != nil {
		return p.coded
	}
	return p.body
}

func (p *reply) writeHeader(w http.ResponseWriter) {
	header, own := w.Header(), make([]string, 2) // both values in one piece of memory
	for name, values := range p.header {
		header[name] = values
	}
	if p.status != http.StatusNoContent && p.status != http.StatusNotModified {
		contentType := p.contentType
		if contentType == "" {
			contentType = "application/json; charset=utf-8"
		}
		own[0] = contentType
		header["Content-Type"] = own[:1:1]
		if p.stream == nil && header["Content-Length"] == nil {
			own[1] = strconv.Itoa(len(p.sent()))
			header["Content-Length"] = own[1:]
		}
	}
	w.WriteHeader(p.status)
}
