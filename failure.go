package shipping

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/transport"
	"github.com/shipping-go/shipping/internal/wait"
)

// usualRefusals are the refusals of a service without a dialect: the defaults of [dialect.Refusal] that failures need.
var usualRefusals = dialect.Refusal{Message: "message", Code: "data.error_code", FundsCode: "insufficient_funds"}

// transportFailure returns the error of a call without a whole response, from the error of the transport.
func (x *exchange) transportFailure(ctx context.Context, err error) *Error {
	returned := err
	if ctx.Err() != nil {
		if x.response != nil { // it ended before a retry: report the API's error, not only the context's
			failure := x.core.failureOf(x)
			failure.Cause = wait.WithReason(ctx, context.Cause(ctx))
			return failure
		}
		err = wait.WithReason(ctx, err)
	}
	failure := &Error{
		Operation: x.operation.Name, RequestID: x.requestID, Attempts: x.attempts, NotRetried: x.notRetried,
		Cause: err, kind: ErrConnection, operation: *x.operation,
		notSent: transport.NotSent(returned), heldBack: transport.HeldBack(returned),
		address: x.core.baseURL.String() + " (" + x.core.baseURL.option + ")",
	}
	if _, partial := transport.Partial(returned); x.core.transport.IsForeign() && !partial && !failure.notSent &&
		!isNetworkError(err) {
		failure.request = x.operation.Method + " " +
			(&url.URL{Scheme: x.url.Scheme, Host: x.url.Host, Path: x.url.Path}).String()
	}
	if partial, ok := transport.Partial(returned); ok {
		x.header, failure.explained = partial.Header, x.core.explainedAt(partial.Header)
		failure.StatusCode, failure.Body, failure.kind = partial.StatusCode, partial.Body, ErrTruncated
		failure.RetryAfter, _ = transport.RetryAfter(partial.Header, time.Now())
		if errors.Is(partial, ErrBodyTooLarge) {
			failure.kind = ErrBodyTooLarge
		}
	}
	if paused, ok := transport.Paused(returned); ok {
		failure.RetryAfter, failure.kind = paused.Left, ErrRateLimited
	}
	return failure
}

// isNetworkError reports whether an error is that of a connection or a context, which does not depend on the request.
func isNetworkError(err error) bool {
	_, timed := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return timed || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || contextEnded(err)
}

// failureOf returns the error of a failed response, whatever its body is.
func (c *core) failureOf(x *exchange) *Error {
	got := x.response
	body := got.Body
	failure := &Error{
		Operation: x.operation.Name, StatusCode: got.StatusCode, RequestID: x.requestID, kind: statusKind(got.StatusCode),
		operation: *x.operation, Body: body, Attempts: x.attempts, NotRetried: x.notRetried, dialect: c.dialect,
		noEnvelope: len(bytes.TrimSpace(body)) == 0,
	}
	failure.RetryAfter, _ = transport.RetryAfter(got.Header, time.Now())
	failure.redirect, failure.explained = c.redirectOf(got), c.explainedAt(got.Header)
	if allowed := got.Header.Get("Allow"); got.StatusCode == http.StatusMethodNotAllowed && isWord(allowed, false) {
		failure.operation.Method = allowed
	}
	var reply envelope[RawJSON]
	bound := jsonread.Options{Members: fewestMembers}
	if !failure.noEnvelope && responses().Read(body, &reply, bound) != nil {
		failure.noEnvelope = true
		if failure.redirect == "" && got.StatusCode != http.StatusProxyAuthRequired {
			failure.Message = c.describeBody(body).Error()
		}
		return failure
	}
	contentType, _, _ := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if contentType == "application/problem+json" {
		failure.refused = got.StatusCode/100 == 4 && RawJSON(body).isObject() && RawJSON(body).Get("status") != "true"
	}
	if status := RawJSON(body).Get("status"); status == "false" || status == `"false"` {
		failure.refused = !reply.Status.several
	}
	decided := !failure.refused && c.refusals.Format == "object" &&
		refuses(c.refusals.Message, got.StatusCode, body)
	failure.refused = (failure.refused || decided) && !got.Truncated
	if failure.refused && x.operation.Charges {
		failure.refusal = evidence.ReadRefusal(string(body), x.requestID, c.dialect)
		uncoded := textAt(body, c.refusals.Code) == ""
		failure.announces = announcesPurchase(got) || decided && uncoded
	}
	failure.Message = cmp.Or(textAt(body, c.dialect.Refusal.Message), c.reason(got.StatusCode, body, reply.Message))
	failure.Data, failure.Code = reply.Data, cmp.Or(textAt(body, c.refusals.Code),
		reply.Data.Get("error_code").Text())
	failure.funds = failure.Code == c.refusals.FundsCode
	if id := reply.Data.Get("request_id").Text(); id != "" {
		failure.RequestID = id
	}
	return failure
}

// statusKind returns the sentinel of a status code.
func statusKind(status int) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return ErrUnauthorized
	case status == http.StatusNotFound || status == http.StatusGone:
		return ErrNotFound
	case status == http.StatusTooManyRequests:
		return ErrRateLimited
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		return ErrServer
	case status/100 == 3:
		return ErrRedirected
	case status/100 == 4:
		return ErrInvalidRequest
	case status/100 == 5:
		return ErrServer
	default:
		return ErrUnexpectedBody
	}
}

// refuses reports whether a 4xx response is a refusal: an object with a reason at this path, and no status true.
func refuses(reasonAt string, status int, text []byte) bool {
	if status/100 != 4 {
		return false
	}
	body := jsonread.Parse(string(text))
	reason := body.At(reasonAt)
	return body.Kind == '{' && body.Get("status").Text != "true" && reason.Kind == '"' &&
		strings.TrimSpace(reason.Text) != ""
}

// textAt returns the text at a path of a body; "" without a path, or if the body is too large for a refusal.
func textAt(body []byte, path string) string {
	if path == "" || len(body) > maxErrorBody {
		return ""
	}
	value := jsonread.Parse(string(body))
	return cmp.Or(value.At(path).Text, value.At(strings.TrimPrefix(path, "data.")).Text) // problem+json has no "data"
}

// redirectOf returns the target of a redirect, without its user and query.
func (c *core) redirectOf(got *transport.Response) string {
	location := got.Header.Get("Location")
	if got.StatusCode/100 != 3 || location == "" {
		return ""
	}
	target, err := url.Parse(location)
	if err != nil {
		return ""
	}
	if !target.IsAbs() {
		target = (&url.URL{Scheme: c.baseURL.scheme, Host: c.baseURL.host, Path: "/"}).ResolveReference(target)
	}
	target.User, target.RawQuery, target.Fragment = nil, "", ""
	return target.String()
}

// announcesPurchase reports whether the refusal of a purchase states that the resource is busy, so that a purchase may
// be under way.
func announcesPurchase(refusal *transport.Response) bool {
	switch refusal.StatusCode {
	case http.StatusConflict, http.StatusLocked, http.StatusTooManyRequests:
		return true
	}
	return refusal.Header.Get("Retry-After") != ""
}

// unexpected returns the error of a 2xx response that cannot be read.
func (c *core) unexpected(x *exchange, cause error) *Error {
	failure := c.failureOf(x)
	_, mismatch := errors.AsType[*jsonread.MismatchError](cause) // the envelope is as documented, its data is not
	failure.Message, failure.Cause, failure.kind, failure.noEnvelope = "", cause, ErrUnexpectedBody, !mismatch
	return failure
}

// withoutStatus returns the error of a 2xx response whose JSON reports neither success nor failure.
func (c *core) withoutStatus(x *exchange) *Error {
	problem := "it has no status"
	if status := RawJSON(x.response.Body).Get("status"); status != "" {
		problem = "its status is " + oneLine(string(status), maxErrorID) + " instead of true or false"
	}
	failure := c.failureOf(x)
	failure.kind, failure.noEnvelope = ErrUnexpectedBody, true
	failure.Cause = errors.New("the response is JSON but not the documented envelope: " + problem)
	return failure
}

// unusable completes the error of a response in the documented envelope whose data is not a result of the operation.
func (x *exchange) unusable(failure *Error) *Error {
	failure.Operation, failure.StatusCode, failure.Attempts = x.operation.Name, x.response.StatusCode, x.attempts
	failure.RequestID, failure.kind = cmp.Or(x.requestID, failure.RequestID), ErrUnexpectedBody
	failure.explained = x.core.explainedAt(x.response.Header)
	return x.core.redacted(failure)
}

// responseID returns the id that the service gave a response; "" without one.
func (c *core) responseID(header http.Header) string {
	names := []string{"X-Request-Id", "Request-Id", "X-Correlation-Id"} // the usual headers
	if name := c.dialect.Refusal.ResponseID; name != "" {
		names = []string{http.CanonicalHeaderKey(name)}
	}
	for _, name := range names {
		for _, id := range header[name] {
			if id = strings.TrimSpace(id); id != "" {
				return oneLine(id, maxErrorID)
			}
		}
	}
	return ""
}

// explainedAt returns the path at which the reference server explains a response; "" for any other service.
func (c *core) explainedAt(header http.Header) string {
	path := header.Get("X-Mock-Why")
	switch {
	case path == redact.Mark: // redacted: the world's name in it is a part of the key
		return controlPath + "journal/" + c.responseID(header) + " with the key of this client"
	case strings.HasPrefix(path, controlPath):
		return oneLine(path, maxErrorMessage)
	}
	return ""
}

// controlPath is the start of the paths of the reference server that are not the service's.
const controlPath = "/_mock/"

// describeBody describes a body that is not an envelope.
func (c *core) describeBody(body []byte) error {
	text := bytes.TrimSpace(body)
	switch {
	case len(text) == 0:
		return errors.New("the body is empty")
	case isMarkup(text):
		return errors.New("the body is HTML or XML, not JSON")
	case text[0] != '{' && text[0] != '[':
		return errors.New("the body is not JSON: " + c.startOf(text))
	case !json.Valid(text):
		return errors.New("the body is not valid JSON, or ends early")
	default:
		return errors.New("the body is JSON but not the documented envelope")
	}
}

func isMarkup(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// redacted truncates the texts of an error, and withholds texts of the service that contain the key. Every [Error]
// passes through it before it is returned.
func (c *core) redacted(e *Error) *Error {
	e.Message = clip(c.key.Text(e.Message), maxErrorMessage)
	e.RequestID, e.Code = c.key.Text(e.RequestID), clip(c.key.Text(e.Code), maxErrorID)
	e.redirect, e.address, e.request = c.key.Text(e.redirect), c.key.Text(e.address), c.key.Text(e.request)
	if len(e.Data) > maxErrorBody {
		e.Data = ""
	}
	if c.key.In(string(e.Data)) {
		e.Data = `"` + redact.Mark + `"`
	}
	e.Body = c.key.Start(e.Body, maxErrorBody)
	e.Cause = c.key.Error(e.Cause)
	return e
}
