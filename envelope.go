package shipping

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/shipping-go/shipping/internal/jsonexact"
)

// envelope is what every answer is wrapped in.
//
// Specification: "Response envelope".
type envelope[T any] struct {
	Status  *bool  `json:"status"`
	Message string `json:"message"`
	Data    T      `json:"data"`
}

// decodeReply reads a 2xx answer in one pass over its bytes: in the fast one of decode.go, or where
// that is not sure, or not wanted, in encoding/json's. Both match the names of members exactly.
func decodeReply[T any](c *core, got *reply) (T, *Error) {
	body := got.body.data
	var answer envelope[T]
	if err := c.crowded(body); err != nil {
		failure := c.unexpected(got, err)
		failure.kind = ErrBodyTooLarge
		return answer.Data, failure
	}
	read := false
	if !c.plainDecoding {
		answer, read = scanEnvelope[T](body)
	}
	if !read {
		var err error
		if answer, err = plainEnvelope[T](body); err != nil {
			return answer.Data, c.unexpected(got, err)
		}
	}
	if c.drift != nil {
		reportDrift[envelope[T]](c.drift, got.state.operation.Name, "", body)
	}
	if answer.Status != nil && *answer.Status {
		return answer.Data, nil
	}
	if answer.Status == nil {
		return answer.Data, c.unexpected(got, errors.New("the answer is JSON but not the documented envelope: it has no status"))
	}
	failure := c.failureOf(got)
	failure.kind = ErrInvalidRequest
	return answer.Data, failure
}

// errNoJSON is a body to be described by describeBody.
var errNoJSON = errors.New("the body is not JSON")

// plainEnvelope reads an answer with encoding/json. Where that meets a value of another type than
// documented, the body is straightened (see repair.go) and read again.
//
// A body with more than one status is an error: it reports success and failure at once.
func plainEnvelope[T any](body []byte) (envelope[T], error) {
	var answer envelope[T]
	if severalStatuses(body) {
		return answer, errors.New("the envelope has more than one status")
	}
	body = jsonexact.Text(body, &answer)
	err := json.Unmarshal(body, &answer)
	if err == nil {
		return answer, nil
	}
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax || len(bytes.TrimSpace(body)) == 0 {
		return answer, errNoJSON
	}
	answer = envelope[T]{}
	if err = json.Unmarshal(straighten[envelope[T]](body), &answer); err == nil && answer.Status != nil && *answer.Status {
		err = lostRecords[T](body)
	}
	return answer, err
}

// severalStatuses reports whether an envelope has its status more than once.
func severalStatuses(body []byte) bool {
	if bytes.Count(body, []byte(`status"`)) < 2 && !bytes.Contains(body, []byte(`\u`)) {
		return false
	}
	var answer struct {
		Status onceOnly `json:"status"`
	}
	return jsonexact.Unmarshal(body, &answer) == nil && answer.Status.several
}

// onceOnly reads any value, and reports whether its member is given more than once.
type onceOnly struct {
	_       jsonexact.Once
	several bool
}

func (o *onceOnly) UnmarshalJSON(data []byte) error {
	o.several = string(data) == jsonexact.GivenTwice
	return nil
}

// failureOf makes the error of an answer that says no, from whatever its body is.
func (c *core) failureOf(got *reply) *Error {
	failure := c.describe(got.state, got.status, got.header, got.body)
	failure.Attempts, failure.NotRetried = got.state.attempts, got.state.notRetried
	return failure
}

// failure is failureOf for an answer that is about to be thrown away for a repeat.
func (c *core) failure(state *callState, response *http.Response) *Error {
	body, _ := response.Body.(*buffer)
	if body == nil {
		return nil
	}
	return c.describe(state, response.StatusCode, response.Header, body)
}

func (c *core) describe(state *callState, status int, header http.Header, received *buffer) *Error {
	body := received.data
	failure := &Error{
		Operation: state.operation.Name, StatusCode: status, RequestID: state.requestID, kind: statusKind(status),
		Body: body,
	}
	failure.RetryAfter, _ = retryAfter(header, time.Now())
	var answer envelope[RawJSON]
	exact := jsonexact.Text(body, &answer)
	if json.Unmarshal(exact, &answer) != nil {
		answer = envelope[RawJSON]{}
		if json.Unmarshal(straighten[envelope[RawJSON]](exact), &answer) != nil {
			failure.Message = c.describeBody(body).Error()
			return c.redacted(failure)
		}
	}
	if contentType, _, _ := mime.ParseMediaType(header.Get("Content-Type")); contentType == "application/problem+json" {
		failure.refused = status/100 == 4 && jsonKind(body) == "object" && RawJSON(body).Get("status") != "true"
		answer.Message = problemText(RawJSON(body))
	}
	if said := RawJSON(body).Get("status"); said == "false" || said == `"false"` {
		failure.refused = !severalStatuses(body)
	}
	failure.refused = failure.refused && !received.truncated
	failure.Message, failure.Data = answer.Message, answer.Data
	if id := answer.Data.Get(regulatoryRequestID).Text(); id != "" {
		failure.RequestID = id
	}
	return c.redacted(failure)
}

// problemText returns the title and the detail of an application/problem+json body (RFC 9457).
func problemText(body RawJSON) string {
	members := body.members()
	title, detail := members["title"].Text(), members["detail"].Text()
	if title == "" || detail == "" {
		return title + detail
	}
	return title + ": " + detail
}

// clip keeps the start of a text.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// oneLine is clip for a text of the service's that goes into an error's: with the control characters and
// line breaks that are in it, it could pass for lines of a log.
func oneLine(text string, n int) string {
	return clip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text), n)
}

// unexpected makes the error of a 2xx answer that cannot be understood.
func (c *core) unexpected(got *reply, cause error) *Error {
	failure := c.failureOf(got)
	if cause == errNoJSON {
		cause = c.describeBody(got.body.data)
	}
	failure.Message, failure.Cause, failure.kind = "", cause, ErrUnexpectedBody
	return c.redacted(failure)
}

// describeBody says what a body that is no envelope looks like.
func (c *core) describeBody(body []byte) error {
	text := bytes.TrimSpace(body)
	switch {
	case len(text) == 0:
		return errors.New("the body is empty")
	case text[0] == '<':
		return errors.New("the body is HTML or XML, not JSON")
	case text[0] != '{' && text[0] != '[':
		return errors.New("the body is not JSON: it starts with " + quoteShort(string(c.key.Start(text, maxErrorID))))
	case !json.Valid(text):
		return errors.New("the body is not valid JSON, or ends early")
	default:
		return errors.New("the body is JSON but not the documented envelope")
	}
}
