package shipping

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Sentinels to test with [errors.Is]. They name the condition, not a single status code: the
// specification shows none ("Errors").
var (
	// ErrUnauthorized: the key is missing, wrong, or not allowed to do this (401, 403).
	ErrUnauthorized = errors.New("shipping: unauthorized")
	// ErrNotFound: the resource or route does not exist (404, 410).
	ErrNotFound = errors.New("shipping: not found")
	// ErrInvalidRequest: the request breaks a rule, found by the client before sending or by the
	// service (any other 4xx except 408, 425 and 429, and a false envelope status on a 2xx).
	ErrInvalidRequest = errors.New("shipping: invalid request")
	// ErrRateLimited: too many requests (429).
	ErrRateLimited = errors.New("shipping: rate limited")
	// ErrServer: the service failed (5xx).
	ErrServer = errors.New("shipping: service failure")
	// ErrRedirected: the service answered with a redirect, which is never followed.
	ErrRedirected = errors.New("shipping: redirected")
	// ErrUnexpectedBody: the body is not the documented envelope: HTML, empty, or other JSON.
	ErrUnexpectedBody = errors.New("shipping: unexpected body")
	// ErrTruncated: the connection ended in the middle of the body.
	ErrTruncated = errors.New("shipping: truncated body")
	// ErrBodyTooLarge: the body is larger, or its lists are longer, than [WithMaxResponseBytes] allows.
	ErrBodyTooLarge = errors.New("shipping: body too large")
	// ErrConnection: no answer came: the connection could not be made, broke, or timed out.
	ErrConnection = errors.New("shipping: no answer")
	// ErrProvisionalRoute: the operation has no documented path; see [WithProvisionalRoutes].
	ErrProvisionalRoute = errors.New("shipping: the specification documents no path for this operation; " +
		"enable the assumed one with WithProvisionalRoutes()")
	// ErrNoClient: a service of a zero Client was used.
	ErrNoClient = errors.New("shipping: no client: make one with NewClient or NewClientFromEnv")
)

// Error is a call that failed after it was sent, or while it was being sent. Test it with
// [errors.Is] and the sentinels of this package, or take it apart with [errors.As].
type Error struct {
	// Operation is the name of the operation, such as "rates.list".
	Operation string
	// StatusCode is the HTTP status; 0 when no answer came.
	StatusCode int
	// Message is the envelope's message, 2 KiB at most. Never match on it: messages change.
	Message string
	// Data is the envelope's data, as sent; absent where it is larger than 64 KiB.
	Data RawJSON
	// Body is the start of the raw body, 64 KiB at most.
	Body []byte
	// RequestID is the regulatory request that the call was about, where there is one.
	RequestID string
	// RetryAfter is how long the service asked to wait; 0 when it did not.
	RetryAfter time.Duration
	// Attempts tells each attempt that was made, the last one last.
	Attempts []Attempt
	// NotRetried is why a failure that could have been retried was not, such as "the deadline
	// would pass first". Empty otherwise.
	NotRetried string
	// Cause is what failed below HTTP, or what ended the call while it waited to retry (a context
	// error). It may be nil.
	Cause error

	kind    error // the sentinel
	refused bool  // the whole body is a refusal; Body may hold only the start of it
}

// Attempt is one request that was sent, or tried to be.
type Attempt struct {
	// StatusCode is 0 when no answer came.
	StatusCode int
	// Duration is how long the attempt took.
	Duration time.Duration
	// Wait is how long the client waited after it, before the next.
	Wait time.Duration
	// Err is why no usable answer came; nil when one did.
	Err error
}

// Error says what failed, what the service said, and what to do next.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("shipping: ")
	b.WriteString(e.Operation)
	if e.StatusCode != 0 {
		b.WriteString(strings.TrimRight(fmt.Sprintf(": %d %s", e.StatusCode, http.StatusText(e.StatusCode)), " "))
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + oneLine(e.Message, maxErrorMessage))
	case e.kind != nil && e.StatusCode/100 == 2, e.kind != nil && e.StatusCode == 0:
		b.WriteString(": " + strings.TrimPrefix(e.kind.Error(), "shipping: "))
	}
	if e.RequestID != "" {
		b.WriteString(" (request " + oneLine(e.RequestID, maxErrorID) + ")")
	}
	if e.Cause != nil && (e.kind == nil || e.Cause.Error() != e.kind.Error()) {
		b.WriteString(": " + e.Cause.Error())
	}
	if n := len(e.Attempts); n > 1 {
		fmt.Fprintf(&b, " [%d attempts]", n)
	}
	if e.NotRetried != "" {
		b.WriteString(" [not retried: " + e.NotRetried + "]")
	}
	if hint := e.hint(); hint != "" {
		b.WriteString("; " + hint)
	}
	return b.String()
}

// hint tells a newcomer what to look at.
func (e *Error) hint() string {
	switch {
	case e.StatusCode == http.StatusUnauthorized:
		return "check that the secret key belongs to this base address"
	case errors.Is(e.kind, ErrRedirected):
		return "redirects are not followed: check scheme, host and path of the base address"
	case errors.Is(e.kind, ErrRateLimited) && e.RetryAfter > 0:
		return "retry after " + e.RetryAfter.String()
	case errors.Is(e.kind, ErrUnexpectedBody):
		return "check that the base address is the service's API and not a web page or proxy"
	case errors.Is(e.kind, ErrBodyTooLarge):
		return "ask for fewer records a page, or raise WithMaxResponseBytes"
	case errors.Is(e.kind, ErrConnection) && heldBack(e.Cause):
		return "nothing was sent"
	case errors.Is(e.Cause, http.ErrSchemeMismatch):
		return "the service speaks http:// there: check scheme and port of the base address"
	case errors.Is(e.kind, ErrConnection) && notSent(e.Cause) && !contextEnded(e.Cause):
		return "nothing was sent: check host, port and network"
	case errors.Is(e.kind, ErrConnection) && notConnected(e.Cause) && !contextEnded(e.Cause):
		return "check host, port and network"
	}
	return ""
}

// notConnected reports whether a connection failed last. It does not prove that nothing was sent before,
// see [notSent].
func notConnected(err error) bool {
	operation, ok := errors.AsType[*net.OpError](err)
	return ok && (operation.Op == "dial" || operation.Op == "proxyconnect")
}

// contextEnded reports whether the caller's own context is why.
func contextEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Unwrap gives the sentinel and the cause to [errors.Is] and [errors.As].
func (e *Error) Unwrap() []error {
	errs := make([]error, 0, 2)
	if e.kind != nil {
		errs = append(errs, e.kind)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	return errs
}

// Timeout reports whether the call ended because time was up: the context's, which
// [context.DeadlineExceeded] tells too, or that of its last attempt.
func (e *Error) Timeout() bool {
	_, attempt := errors.AsType[attemptTimeoutError](e.Cause)
	return attempt || errors.Is(e.Cause, context.DeadlineExceeded)
}

// both joins two errors on one line. Either may be nil.
func both(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return fmt.Errorf("%w; %w", first, second)
}

// refusal reports whether the service itself reported that it did not perform the operation: in the
// documented envelope, or as application/problem+json. 408 and 425 are no refusals, and neither is a page
// of a proxy.
func (e *Error) refusal() bool {
	switch class := e.StatusCode / 100; {
	case class != 2 && class != 4, e.StatusCode == http.StatusRequestTimeout, e.StatusCode == http.StatusTooEarly:
		return false
	}
	return e.refused
}

// Retryable reports whether the same call may succeed later: no response came, the body was cut off, the
// service failed (5xx, 408, 425), or it limits the rate. It does not report whether a retry is safe: a call that
// changes something on the service may have been performed unless [Error.NotSent] reports true.
func (e *Error) Retryable() bool {
	for _, kind := range []error{ErrServer, ErrRateLimited, ErrConnection, ErrTruncated} {
		if errors.Is(e.kind, kind) {
			return true
		}
	}
	return false
}

// retryable reports whether err is an [*Error] that reports Retryable.
func retryable(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Retryable()
}

// NotSent reports evidence that nothing reached the service: the client held the request back, or its own
// transport did not establish a connection. Without such evidence it reports false.
func (e *Error) NotSent() bool { return notSent(e.Cause) }

// Refused reports whether the service itself reported that it did not perform the operation: in the documented
// envelope, or as application/problem+json, with a 2xx or 4xx other than 408 and 425. A call that was neither
// refused nor unsent may have been performed.
func (e *Error) Refused() bool { return e.refusal() }

// statusKind is the sentinel of a status code.
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

// ValidationError is a request or an option that was refused before anything was sent. It is
// [ErrInvalidRequest].
type ValidationError struct {
	// Operation is the operation's name; empty for an option of the client.
	Operation string
	// Field names the field, parameter or option.
	Field string
	// Problem says what is wrong and what to do.
	Problem string
}

// Error says which field, what is wrong with it and what to do.
func (e *ValidationError) Error() string {
	if e.Operation == "" {
		return "shipping: " + e.Field + " " + e.Problem
	}
	return "shipping: " + e.Operation + ": " + e.Field + " " + e.Problem
}

// Unwrap returns [ErrInvalidRequest].
func (e *ValidationError) Unwrap() error { return ErrInvalidRequest }

func invalidRequest(operation, field, problem string) error {
	return &ValidationError{Operation: operation, Field: field, Problem: problem}
}

func invalidOption(option, problem string) error {
	return &ValidationError{Field: option, Problem: problem}
}
