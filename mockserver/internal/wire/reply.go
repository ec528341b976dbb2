package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Reply is a response before it is written, so that a fault can still change or suppress it.
type Reply struct {
	Status      int
	Header      http.Header // besides the content's; may be nil
	ContentType string      // "" means JSON; a Content-Type in the header replaces it
	Body        []byte
	Rows        *Rows  // the body of a list, in place of Body
	Tag         string // the ETag of an immutable body; "" for most responses
	Shaped      bool   // the body has the names, places and formats of the world's dialect

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

// envelope is the body of a response.
//
// Specification: "Response envelope".
type envelope struct {
	Status  bool   `json:"status"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

func Succeed(message string, data any) Reply {
	body, err := jsontext.Encode(envelope{true, message, data})
	if err != nil {
		return unencodable(err)
	}
	return Reply{Status: http.StatusOK, Body: body}
}

// SucceedJSON is like [Succeed], with data that is JSON already.
func SucceedJSON(message string, data []byte) Reply {
	return Reply{Status: http.StatusOK, Body: fmt.Appendf(nil, `{"status":true,"message":%q,"data":%s}`, message, data)}
}

func unencodable(err error) Reply {
	return Refused(http.StatusInternalServerError, CodeInternal, "cannot encode the response: "+err.Error())
}

// Refused returns a refusal. The message explains what to do next.
func Refused(status int, code, message string) Reply {
	return RefusedWith(status, Refusal{Code: code, Message: message}, map[string]any{"error_code": code})
}

// MethodNotAllowed returns the refusal of a request whose path has other methods only.
func MethodNotAllowed(r *http.Request, methods []string) Reply {
	allow := strings.Join(methods, ", ")
	p := Refused(http.StatusMethodNotAllowed, CodeMethod,
		fmt.Sprintf("%s is not allowed on %s: use %s", r.Method, r.URL.Path, allow))
	p.Header = http.Header{"Allow": {allow}}
	return p
}

func Redirect(path string) Reply {
	p := Succeed("See "+path, nil)
	p.Status, p.Header = http.StatusPermanentRedirect, http.Header{"Location": {path}}
	return p
}

// Limits of texts of the request in a refusal, so that the response and the journal entry stay short.
const (
	maxMessage  = 1000 // bytes
	MaxReason   = 200  // bytes of a problem's field, and of its reason
	MaxProblems = 100
)

// Bounded shortens a text that is too long: it removes secret keys, then, if necessary, its middle. The end usually
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
	body, err := jsontext.Encode(envelope{false, why.Message, data})
	if err != nil {
		return unencodable(err)
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

// Revalidate makes an immutable response a 304 if the client has it.
//
// Assumption: the specification does not mention ETag. It works as in RFC 9110.
func (p *Reply) Revalidate(r *http.Request) {
	if p.Tag == "" {
		return
	}
	p.Header = http.Header{"Etag": {p.Tag}}
	if MatchesTag(r.Header["If-None-Match"], p.Tag) {
		p.Status, p.Body = http.StatusNotModified, nil
	}
}

// Write sends the reply. The response to HEAD has the headers of the response to GET.
func (p *Reply) Write(w http.ResponseWriter) error {
	p.writeHeader(w)
	if p.Rows != nil {
		return p.Rows.write(w)
	}
	if len(p.Body) == 0 {
		return nil // 204 allows no Write, not even an empty one
	}
	_, err := w.Write(p.Body)
	return err
}

func (p *Reply) Length() int {
	if p.Rows != nil {
		return p.Rows.length
	}
	return len(p.Body)
}

// Start returns the first bytes of the body, at most that many.
func (p *Reply) Start(most int) []byte {
	if p.Rows != nil {
		return p.Rows.start(most)
	}
	return p.Body[:min(len(p.Body), most)]
}

// Encode makes Body the whole body, for a fault that changes it.
func (p *Reply) Encode() {
	if p.Rows != nil {
		p.Body, p.Rows = p.Rows.start(p.Rows.length), nil
	}
}

// writeTimeout is how long a client may take to read a response, or a byte of a slow one. After it the connection is
// closed, so that clients that do not read take no memory.
const writeTimeout = 30 * time.Second

// LimitWrite sets the deadline of a response that is written from now on; the zero duration removes it. A writer
// without deadlines, such as a recorder, has no slow client.
func LimitWrite(w http.ResponseWriter, within time.Duration) {
	var deadline time.Time
	if within > 0 {
		deadline = time.Now().Add(within)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(deadline)
}

func (p *Reply) writeHeader(w http.ResponseWriter) {
	LimitWrite(w, writeTimeout)
	header := w.Header()
	maps.Copy(header, p.Header)
	if p.Status != http.StatusNoContent && p.Status != http.StatusNotModified {
		if _, given := p.Header["Content-Type"]; !given {
			header.Set("Content-Type", cmp.Or(p.ContentType, "application/json; charset=utf-8"))
		}
		if header["Content-Length"] == nil {
			header.Set("Content-Length", strconv.Itoa(p.Length()))
		}
	}
	w.WriteHeader(p.Status)
}

const KeyPrefix = "sk_"

var secretKey = regexp.MustCompile(KeyPrefix + "[A-Za-z0-9_]*")

// Redact removes everything that looks like a secret key from a text.
func Redact(text string) string {
	if !strings.Contains(text, KeyPrefix) { // most texts, and faster than the expression
		return text
	}
	return secretKey.ReplaceAllLiteralString(text, KeyPrefix+"…")
}

// Fingerprint identifies a key without revealing it: its prefix and eight digits of a hash.
func Fingerprint(key string) string {
	if key == "" {
		return ""
	}
	kind := ""
	for _, prefix := range []string{"sk_test_", "sk_live_"} {
		if strings.HasPrefix(key, prefix) {
			kind = prefix
		}
	}
	hash := sha256.Sum256([]byte(key))
	return kind + "…" + hex.EncodeToString(hash[:4])
}

// MatchesTag reports whether an If-None-Match names a tag. It compares weakly (RFC 9110, 13.1.2).
func MatchesTag(conditions []string, tag string) bool {
	for _, condition := range conditions {
		for candidate := range strings.SplitSeq(condition, ",") {
			if candidate = strings.TrimSpace(candidate); candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// Prefers reports whether a request accepts a media type by name, but not the other. Of the weights, only 0 counts: it
// means that the type is not acceptable (RFC 9110, 12.4.2).
func Prefers(requested http.Header, mediaType, other string) bool {
	accepted := map[string]bool{}
	for entry := range strings.SplitSeq(strings.Join(requested["Accept"], ","), ",") {
		name, parameters, err := mime.ParseMediaType(entry)
		weight, invalid := strconv.ParseFloat(parameters["q"], 64)
		accepted[name] = err == nil && (invalid != nil || weight > 0)
	}
	return accepted[mediaType] && !accepted[other]
}
