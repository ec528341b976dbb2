package shipping

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/transport"
)

const (
	maxErrorBody    = 64 << 10 // kept in an Error
	maxErrorMessage = 2 << 10  // kept in an Error
	maxErrorID      = 128      // shown of an identifier
)

// Sentinels to test with [errors.Is]. Each names a condition, not a single status code: the specification
// shows no status codes ("Errors").
var (
	// ErrUnauthorized: the key is missing, wrong, or not allowed to do this (401, 403).
	ErrUnauthorized = errors.New("shipping: unauthorized")
	// ErrNotFound: the resource or route does not exist (404, 410).
	ErrNotFound = errors.New("shipping: not found")
	// ErrInvalidRequest: the request breaks a rule, found by the client before sending or by the
	// service (any other 4xx except 408, 425 and 429, and a false envelope status on a 2xx).
	ErrInvalidRequest = errors.New("shipping: invalid request")
	// ErrRateLimited: too many requests (429), or a call that was not sent because of an earlier 429.
	ErrRateLimited = errors.New("shipping: rate limited")
	// ErrInsufficientFunds: the wallet holds less than the operation costs. Such an error is
	// ErrInvalidRequest too.
	//
	// Assumption: the specification shows no error codes. A refusal matches if its
	// [Error.Code] is "insufficient_funds" or the dialect's refusal.funds_code, or its status is 402.
	ErrInsufficientFunds = errors.New("shipping: insufficient funds")
	// ErrServer: the service failed (408, 425, 5xx).
	ErrServer = errors.New("shipping: service failure")
	// ErrRedirected: the response is a redirect, which is never followed.
	ErrRedirected = errors.New("shipping: redirected")
	// ErrUnexpectedBody: the body is not the documented envelope: HTML, empty, or other JSON.
	ErrUnexpectedBody = errors.New("shipping: unexpected body")
	// ErrTruncated: the connection ended in the middle of the body.
	ErrTruncated = transport.ErrTruncated
	// ErrBodyTooLarge: the body is larger, or its lists are longer, than [WithMaxResponseBytes] allows.
	ErrBodyTooLarge = transport.ErrBodyTooLarge
	// ErrConnection: no response was received, because the connection was not established, broke, or timed out.
	ErrConnection = errors.New("shipping: no response")
)

// Error is returned for a call that failed while it was sent or afterwards. Test it with [errors.Is] and the
// sentinels of this package, or read its fields with [errors.AsType]. Its methods that report something return false
// for nil.
type Error struct {
	// Operation is the name of the operation, such as "rates.list".
	Operation string
	// StatusCode is the HTTP status; 0 if no response was received.
	StatusCode int
	// Message is the reason that the service gave, 2 KiB at most: the envelope's message, or a text, list or object in
	// its place, such as "error", "errors" or "detail". If no reason is found, it is the start of the body. Never match
	// on it: messages change.
	Message string
	// Code is the service's own code of the failure, such as "insufficient_funds", 128 bytes at most; empty
	// if the service sent none.
	//
	// Assumption: it is the member "error_code" of the envelope's data, or the one that refusal.code of the dialect
	// names.
	Code string
	// Data is the envelope's data, as sent; absent if it is larger than 64 KiB.
	Data RawJSON
	// Body is the start of the raw body, 64 KiB at most.
	Body []byte
	// RequestID is the id of the regulatory request that the call was about, if any.
	RequestID string
	// RetryAfter is the wait that the service requested, or the rest of it if the call was not sent because
	// of an earlier 429; 0 if the service requested none.
	RetryAfter time.Duration
	// Attempts are the attempts that were made, in order.
	Attempts []Attempt
	// NotRetried is the reason why a retryable failure was not retried, such as "the deadline would pass first"; empty
	// otherwise.
	NotRetried string
	// Cause is the failure below HTTP, or the context error that ended the call while it waited to retry.
	// It may be nil.
	Cause error

	kind    error            // the sentinel
	dialect *dialect.Dialect // of the client that received the response
	refused bool             // the whole body is a refusal; Body may hold only the start of it
	refusal evidence.Refused // what the refusal of a purchase shows
	funds   bool             // Code means that the wallet holds too little
	// announces: the refusal announces a purchase under way, or has no code and is a refusal only by the dialect.
	announces bool
	// The evidence that nothing was sent. It is not derived from Cause, which may wrap the error of another call that
	// cancelled a context.
	notSent, heldBack bool
	operation         operations.Operation
	noEnvelope        bool   // the body is empty, or not the documented envelope
	redirect          string // the target of a redirect
	request           string // the method and URL for which another RoundTripper returned Cause
	address           string // the base address, if it was not reached, and its option
	explained         string // the path at which the reference server explains the response
	lines             string // see [Error.undeclared]; empty for a purchase, whose error adds its own
}

// Attempt is one attempt to send the request of a call.
type Attempt struct {
	// StatusCode is 0 if no response was received.
	StatusCode int
	// Duration is how long the attempt took.
	Duration time.Duration
	// Wait is how long the client waited after it, before the next.
	Wait time.Duration
	// RequestID is the id of the regulatory request that the call is about, if any.
	RequestID string
	// ResponseID is the id under which the service logs the attempt, 128 bytes at most: the header X-Request-Id,
	// Request-Id or X-Correlation-Id of the response, or the one that refusal.response_id of the dialect names. It is
	// empty if the service sent none.
	ResponseID string
	// Err is the reason why no complete response was received, or nil.
	Err error
}

// Error returns the operation, the status and message of the response, the cause, the id of the response, and what to
// do.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("shipping: ")
	b.WriteString(e.Operation)
	if e.StatusCode != 0 {
		b.WriteString(strings.TrimRight(fmt.Sprintf(": %d %s", e.StatusCode, http.StatusText(e.StatusCode)), " "))
	}
	if e.refused && e.StatusCode/100 == 2 {
		b.WriteString(" with status false")
	}
	if e.redirect != "" {
		b.WriteString(" to " + oneLine(e.redirect, maxErrorMessage))
	}
	switch {
	case e.Message != "":
		b.WriteString(": " + oneLine(e.Message, maxErrorMessage))
	case e.kind != nil && e.StatusCode/100 == 2, e.kind != nil && e.StatusCode == 0:
		b.WriteString(": " + strings.TrimPrefix(e.kind.Error(), "shipping: "))
	}
	if e.RequestID != "" && !strings.Contains(e.Message, e.RequestID) {
		b.WriteString(" (request " + oneLine(e.RequestID, maxErrorID) + ")")
	}
	if e.Cause != nil && (e.kind == nil || e.Cause.Error() != e.kind.Error()) && !transport.SpeaksTLS(e.Cause) {
		b.WriteString(": " + e.Cause.Error())
	}
	if e.request != "" && e.connectionHint() == "" {
		b.WriteString(", for " + oneLine(e.request, maxErrorMessage))
	}
	if n := len(e.Attempts); n > 1 {
		fmt.Fprintf(&b, " [%d attempts]", n)
	}
	if e.NotRetried != "" {
		b.WriteString(" [not retried: " + e.NotRetried + "]")
	}
	if id := e.responseID(); id != "" {
		b.WriteString(" [response id " + id + "]")
	}
	if hint := e.hint(); hint != "" {
		b.WriteString("; " + hint)
	}
	return b.String() + e.explanation()
}

// responseID returns the id of the last response that had one.
func (e *Error) responseID() string {
	for _, attempt := range slices.Backward(e.Attempts) {
		if attempt.ResponseID != "" {
			return attempt.ResponseID
		}
	}
	return ""
}

// explanation returns where the reference server explains the response; "" for any other service.
func (e *Error) explanation() string {
	if e.explained == "" {
		return ""
	}
	return "; see " + e.explained
}

// Unwrap returns the sentinels and the cause.
func (e *Error) Unwrap() []error {
	errs := make([]error, 0, 3)
	if e.kind != nil {
		errs = append(errs, e.kind)
	}
	if e.Refused() && (e.funds || e.Code == usualRefusals.FundsCode || e.StatusCode == http.StatusPaymentRequired) {
		errs = append(errs, ErrInsufficientFunds)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	return errs
}

// Timeout reports whether the call ended at the timeout of its last attempt, or at the deadline of its context
// (also [context.DeadlineExceeded]).
func (e *Error) Timeout() bool {
	if e == nil {
		return false
	}
	_, attempt := errors.AsType[*transport.TimeoutError](e.Cause)
	return attempt || errors.Is(e.Cause, context.DeadlineExceeded)
}

// Retryable reports whether the same call may succeed later: no response came, the body was cut off, the
// service failed (408, 425, 5xx except 501 and 505), or it limits the rate. A wrong scheme, a refused certificate
// and a body that is too large are not retryable. The client's own retries, polls and batches follow the same
// rule.
//
// It does not report whether a retry is safe: a call that changes something on the service may have been
// performed unless [Error.NotSent] reports true.
func (e *Error) Retryable() bool {
	return e != nil && transport.Retryable(e.StatusCode, e.Cause)
}

func retryable(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Retryable()
}

// NotSent reports evidence that nothing reached the service: the client held the request back, or its own
// transport did not establish a connection. Without such evidence it reports false.
func (e *Error) NotSent() bool { return e != nil && e.notSent }

// Refused reports whether the service itself reported that it did not perform the operation: in the documented
// envelope, as application/problem+json, or in the form of refusal.format of the dialect. The status is 2xx or 4xx,
// not 408 or 425. If both Refused and [Error.NotSent] report false, the operation may have been performed.
func (e *Error) Refused() bool { return e != nil && e.refused && mayRefuse(e.StatusCode) }

// mayRefuse reports whether a response with this status can be a refusal.
func mayRefuse(status int) bool {
	switch class := status / 100; {
	case class != 2 && class != 4, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return false
	}
	return true
}

// ValidationError is returned for a request or an option that was refused before anything was sent. It wraps
// [ErrInvalidRequest].
type ValidationError struct {
	// Operation is the operation's name; empty for an option of the client.
	Operation string
	// Field names the field, parameter or option.
	Field string
	// Problem describes the mistake and its correction.
	Problem string
}

// Error returns the operation, the field and the problem.
func (e *ValidationError) Error() string {
	if e.Operation == "" {
		return "shipping: " + e.Field + " " + e.Problem
	}
	text := "shipping: " + e.Operation + ": " + e.Field + " " + e.Problem
	if e.Operation == OpPurchase && e.Field != "PurchaseOptions" { // also options of SettlePurchase
		text += "; this purchase was not sent"
	}
	return text
}

// Unwrap returns [ErrInvalidRequest].
func (e *ValidationError) Unwrap() error { return ErrInvalidRequest }

func invalidRequest(operation, field, problem string) error {
	return &ValidationError{Operation: operation, Field: field, Problem: problem}
}

func invalidOption(option, problem string) error {
	return &ValidationError{Field: option, Problem: problem}
}

// joinErrors joins two errors on one line. Either may be nil.
func joinErrors(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return fmt.Errorf("%w; %w", first, second)
}

// clip truncates text to n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}

// oneLine truncates service-supplied text and removes control characters, so that it cannot forge log lines.
func oneLine(text string, n int) string {
	return clip(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text), n)
}
