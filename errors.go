package shipping

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/transport"
	"github.com/shipping-go/shipping/internal/wait"
)

const (
	maxErrorBody    = 64 << 10 // kept in an Error
	maxErrorMessage = 2 << 10  // kept in an Error
	maxErrorID      = 128      // shown of an identifier

	codeInsufficientFunds = "insufficient_funds"
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
	// Assumption: the specification shows no error codes. The condition is a refusal with
	// [Error.Code] "insufficient_funds", or refusal.funds_code of the dialect, or with the status 402.
	ErrInsufficientFunds = errors.New("shipping: insufficient funds")
	// ErrServer: the service failed (5xx).
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
// sentinels of this package, or read its fields with [errors.AsType].
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
	// Assumption: it is the member "error_code" of the envelope's data, or that of refusal.code of the dialect.
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
	// Attempts are the attempts that were made, the last one last.
	Attempts []Attempt
	// NotRetried is the reason why a failure that could have been retried was not, such as "the deadline
	// would pass first"; empty otherwise.
	NotRetried string
	// Cause is the failure below HTTP, or the context error that ended the call while it waited to retry.
	// It may be nil.
	Cause error

	kind    error            // the sentinel
	refused bool             // the whole body is a refusal; Body may hold only the start of it
	refusal evidence.Refused // what the refusal of a purchase shows
	funds   bool             // Code is that of a wallet that holds too little
	// announces: the refusal of a purchase announces that one is under way, or is one only by the dialect, without a code.
	announces bool
	// The evidence about the request. Cause does not contain it: it may wrap the error of another call, with
	// which a context was cancelled.
	notSent, heldBack bool
	retry             operations.Retry // of the operation
	redirect          string           // the target of a redirect
	address           string           // the base address, if it was not reached, and its option
}

// Attempt is one attempt to send the request of a call.
type Attempt struct {
	// StatusCode is 0 if no response was received.
	StatusCode int
	// Duration is how long the attempt took.
	Duration time.Duration
	// Wait is how long the client waited after it, before the next.
	Wait time.Duration
	// Err is the reason why no complete response was received, or nil.
	Err error
}

// Error returns the operation, the status and message of the response, the cause, and a hint for the reader.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("shipping: ")
	b.WriteString(e.Operation)
	if e.StatusCode != 0 {
		b.WriteString(strings.TrimRight(fmt.Sprintf(": %d %s", e.StatusCode, http.StatusText(e.StatusCode)), " "))
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

// hint returns advice what to check or change; "" for other errors.
func (e *Error) hint() string {
	const proxy = "HTTP_PROXY and HTTPS_PROXY, or "
	refused := e.refusedByProxy()
	switch {
	case e.StatusCode == http.StatusProxyAuthRequired, refused == http.StatusProxyAuthRequired:
		return "a proxy requires credentials: check the user and password in " + proxy + "in the Proxy of the http.Transport"
	case refused != 0:
		return "a proxy refused the connection: allow " + e.address + " there, or change " + proxy +
			"the Proxy of the http.Transport"
	case e.StatusCode == http.StatusUnauthorized:
		return "check that the secret key belongs to this base address"
	case errors.Is(e.kind, ErrRedirected):
		return "redirects are not followed: check scheme, host and path of the base address"
	case errors.Is(e.kind, ErrRateLimited) && e.RetryAfter > 0:
		return "retry after " + e.RetryAfter.String()
	case errors.Is(e.kind, ErrUnexpectedBody) && e.Message == "": // an envelope has a message about its data
		return "check that the base address is the service's API and not a web page or proxy"
	case errors.Is(e.kind, ErrBodyTooLarge):
		return "request fewer records a page, or raise WithMaxResponseBytes"
	case errors.Is(e.kind, ErrConnection) && e.heldBack:
		return "this request was not sent"
	case errors.Is(e.Cause, http.ErrSchemeMismatch):
		return "the service expects http:// there: check scheme and port of the base address"
	case transport.SpeaksTLS(e.Cause):
		return "the service expects https:// there: check scheme and port of the base address"
	case errors.Is(e.kind, ErrConnection) && failedAt(e.Cause, "proxyconnect") && !contextEnded(e.Cause):
		return "the proxy cannot be reached: check " + proxy + "the Proxy of the http.Transport"
	case errors.Is(e.kind, ErrConnection) && e.NotSent() && !contextEnded(e.Cause):
		return "this request was not sent: " + e.checkAddress()
	case errors.Is(e.kind, ErrConnection) && failedAt(e.Cause, "dial") && !contextEnded(e.Cause):
		return e.checkAddress()
	case errors.Is(e.kind, ErrConnection), errors.Is(e.kind, ErrTruncated), errors.Is(e.kind, ErrServer):
		if hint := e.lostHint(); hint != "" {
			return hint
		}
	}
	if e.StatusCode >= 400 && isMarkup(e.Body) {
		return "a proxy or firewall may have sent it: Error.Body contains it"
	}
	return ""
}

// checkAddress returns advice about a base address to which there was no connection.
func (e *Error) checkAddress() string {
	return "check that the service runs at " + e.address + ", and host, port and network"
}

// lostHint returns advice about a request that may have been performed. That of a purchase is in the [RegulatoryError].
func (e *Error) lostHint() string {
	switch {
	case e.NotSent() || e.Refused():
		return ""
	case e.retry == operations.Safe && errors.Is(e.Cause, context.DeadlineExceeded):
		return "a read changes nothing: give it more time"
	case e.Operation == OpAnalyze:
		text := "the service may have performed it: an analysis charges nothing, so analyze again"
		if e.RetryAfter > 0 {
			text += " after " + e.RetryAfter.String()
		}
		return text
	case e.retry == operations.Unsent:
		return "the service may have performed it"
	}
	return ""
}

// failedAt reports whether the last connection failed at an operation of package net. It does not prove that nothing
// was sent before; see [Error.NotSent].
func failedAt(err error, operation string) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && failed.Op == operation
}

// refusedByProxy returns the status with which a proxy refused CONNECT, or 0. The error of net/http is only its text.
func (e *Error) refusedByProxy() int {
	if e.StatusCode != 0 || e.Cause == nil {
		return 0
	}
	cause := e.Cause
	for inner := cause; inner != nil; inner = errors.Unwrap(inner) {
		cause = inner
	}
	for status := 400; status < 600; status++ {
		if text := http.StatusText(status); text != "" && cause.Error() == text {
			return status
		}
	}
	return 0
}

// contextEnded reports whether the end of a context is the cause.
func contextEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Unwrap returns the sentinels and the cause.
func (e *Error) Unwrap() []error {
	errs := make([]error, 0, 3)
	if e.kind != nil {
		errs = append(errs, e.kind)
	}
	if e.Refused() && (e.funds || e.Code == codeInsufficientFunds || e.StatusCode == http.StatusPaymentRequired) {
		errs = append(errs, ErrInsufficientFunds)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	return errs
}

// Timeout reports whether the call ended at the deadline of its context, which is also
// [context.DeadlineExceeded], or at the timeout of its last attempt.
func (e *Error) Timeout() bool {
	_, attempt := errors.AsType[*transport.TimeoutError](e.Cause)
	return attempt || errors.Is(e.Cause, context.DeadlineExceeded)
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

// Retryable reports whether the same call may succeed later: no response came, the body was cut off, the
// service failed (408, 425, 5xx except 501 and 505), or it limits the rate. A wrong scheme, a refused certificate
// and a body that is too large are not retryable. The client's own retries, polls and batches follow the same
// rule.
//
// It does not report whether a retry is safe: a call that changes something on the service may have been
// performed unless [Error.NotSent] reports true.
func (e *Error) Retryable() bool {
	return transport.Retryable(e.StatusCode, e.Cause)
}

func retryable(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	return ok && failed.Retryable()
}

// NotSent reports evidence that nothing reached the service: the client held the request back, or its own
// transport did not establish a connection. Without such evidence it reports false.
func (e *Error) NotSent() bool { return e.notSent }

// Refused reports whether the service itself reported that it did not perform the operation: in the documented
// envelope, as application/problem+json, or in the form of refusal.format of the dialect, with a 2xx or 4xx other than
// 408 and 425. If both Refused and [Error.NotSent] report false, the operation may have been performed.
func (e *Error) Refused() bool { return e.refused && mayRefuse(e.StatusCode) }

// mayRefuse reports whether a response with this status can be a refusal.
func mayRefuse(status int) bool {
	switch class := status / 100; {
	case class != 2 && class != 4, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return false
	}
	return true
}

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
		Cause: err, kind: ErrConnection, retry: x.operation.Retry,
		notSent: transport.NotSent(returned), heldBack: transport.HeldBack(returned),
		address: x.core.baseURL.String() + " (" + x.core.baseURL.option + ")",
	}
	if partial, ok := transport.Partial(returned); ok {
		x.header = partial.Header
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

// failureOf returns the error of a failed response, whatever its body is.
func (c *core) failureOf(x *exchange) *Error {
	got := x.response
	body := got.Body
	failure := &Error{
		Operation: x.operation.Name, StatusCode: got.StatusCode, RequestID: x.requestID, kind: statusKind(got.StatusCode),
		retry: x.operation.Retry, Body: body, Attempts: x.attempts, NotRetried: x.notRetried,
	}
	failure.RetryAfter, _ = transport.RetryAfter(got.Header, time.Now())
	failure.redirect = c.redirectOf(got)
	var reply envelope[RawJSON]
	if len(bytes.TrimSpace(body)) > 0 && readJSON(body, &reply) != nil {
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
	decided := !failure.refused && c.refusesInDialect(got)
	failure.refused = (failure.refused || decided) && !got.Truncated
	if failure.refused && x.operation.Charges {
		failure.refusal = evidence.ReadRefusal(string(body), x.requestID, c.dialect)
		uncoded := textAt(body, cmp.Or(c.dialect.Refusal.Code, "data.error_code")) == ""
		failure.announces = announcesPurchase(got) || decided && uncoded
	}
	failure.Message = cmp.Or(textAt(body, c.dialect.Refusal.Message), c.reason(got.StatusCode, body, reply.Message))
	failure.Data, failure.Code = reply.Data, cmp.Or(textAt(body, c.dialect.Refusal.Code),
		reply.Data.Get("error_code").Text())
	failure.funds = failure.Code != "" && failure.Code == c.dialect.Refusal.FundsCode
	if id := reply.Data.Get(regulatoryRequestID).Text(); id != "" {
		failure.RequestID = id
	}
	return failure
}

// refusesInDialect reports whether a response is a refusal because the dialect states the form of refusals: an object
// with a text in the place of the message.
func (c *core) refusesInDialect(got *transport.Response) bool {
	if c.dialect.Refusal.Format != "object" || got.StatusCode/100 != 4 {
		return false
	}
	body := jsonread.Parse(string(got.Body))
	reason := body.At(cmp.Or(c.dialect.Refusal.Message, "message"))
	return body.Kind == '{' && body.Get("status").Text != "true" && reason.Kind == '"' &&
		strings.TrimSpace(reason.Text) != ""
}

// textAt returns the text at a path of a body; "" without a path.
func textAt(body []byte, path string) string {
	if path == "" {
		return ""
	}
	value := jsonread.Parse(string(body))
	return cmp.Or(value.At(path).Text, value.At(strings.TrimPrefix(path, "data.")).Text) // problem details have no data
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

// redacted truncates the texts of an error, and withholds each that the service sent and that contains the key. Every
// [Error] passes through it before it is returned.
func (c *core) redacted(e *Error) *Error {
	e.Message = clip(c.key.Text(e.Message), maxErrorMessage)
	e.RequestID, e.Code = c.key.Text(e.RequestID), clip(c.key.Text(e.Code), maxErrorID)
	e.redirect, e.address = c.key.Text(e.redirect), c.key.Text(e.address)
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

// RegulatoryError is returned for a regulatory request: if its analysis or generation failed, if its purchase was not
// confirmed, or if a workflow or a wait did not reach its end.
//
// To continue, in this process or another, pass RequestID to [RegulatoryService.Wait] after the step "polled", and to
// [RegulatoryService.Resume] after an earlier one. If Outcome is [OutcomeUnknown], settle the purchase first: Resume
// purchases a request that reads as a draft.
type RegulatoryError struct {
	RequestID string
	// Step is the step that failed: "analyzed", "edited", "selected", "purchased" or "polled".
	Step Step
	// Outcome reports whether this call charged the wallet. It is empty for a wait without a purchase before it.
	Outcome PurchaseOutcome
	// Request is the record as last read; nil if it was not read. After an analysis it may contain only the id.
	Request *RegulatoryRequest
	// Purchase describes the purchase for [RegulatoryService.SettlePurchase], and can be stored as JSON; nil if the step
	// is not "purchased".
	Purchase *PurchaseRequest
	Err      error
}

// Error returns the request, what happened, what was charged, and what to do next.
func (e *RegulatoryError) Error() string {
	id, text := oneLine(e.RequestID, maxErrorID), ""
	switch {
	case e.generationFailed() || e.Step == wait.StepAnalyzed && errors.Is(e.Err, ErrRequestFailed):
		text = e.failureText(id)
	case e.Step == wait.StepPurchased:
		text = fmt.Sprintf("purchase of request %s: outcome %s", id, cmp.Or(e.Outcome, OutcomeUnknown))
	default:
		text = "request " + id
		if e.Request != nil && e.Request.Status != "" {
			text += " (last seen " + oneLine(string(e.Request.Status), maxErrorID) + ")"
		}
		verbs := map[Step]string{wait.StepAnalyzed: "analysis", wait.StepEdited: "edit", wait.StepSelected: "select",
			wait.StepPolled: "wait"}
		text += ": " + cmp.Or(verbs[e.Step], string(e.Step), "unknown step")
	}
	return "shipping: " + text + e.causeText(id) + e.advice()
}

// generationFailed reports whether a wait has ended with a failed request.
func (e *RegulatoryError) generationFailed() bool {
	return e.Step == wait.StepPolled && errors.Is(e.Err, ErrRequestFailed)
}

// failureText returns the reason why a request failed.
func (e *RegulatoryError) failureText(id string) string {
	record := cmp.Or(e.Request, &RegulatoryRequest{})
	text := "request " + id + " failed"
	switch { // a failed request was purchased only if its record shows it
	case e.Step == wait.StepAnalyzed:
		text = "analysis failed for request " + id
	case e.charged(), len(record.Documents) > 0, record.showsCharge():
		text = "generation failed for request " + id
	}
	if record.FailureReason != "" {
		text += ": " + record.FailureReason
	}
	for _, document := range record.Documents {
		if document.Status == "failed" {
			text += fmt.Sprintf("; %s: %s", document.DocumentType, document.Failure)
		}
	}
	return oneLine(text, maxErrorMessage)
}

func (e *RegulatoryError) charged() bool { return e.Outcome == OutcomeCharged }

// causeText returns ": " and the text of the cause, without what the text before it states already.
func (e *RegulatoryError) causeText(id string) string {
	if e.Err == nil || e.Err == ErrRequestFailed && (e.generationFailed() || e.Step == wait.StepAnalyzed) {
		return ""
	}
	text := strings.TrimPrefix(e.Err.Error(), ErrRequestFailed.Error()+"; ")
	text = strings.NewReplacer("; shipping: ", "; ", ": shipping: ", ": ").Replace(strings.TrimPrefix(text, "shipping: "))
	if id != "" {
		text = strings.ReplaceAll(text, " (request "+id+")", "")
	}
	return ": " + text
}

// advice returns what was charged, unless the text before it states this, and what to do next.
func (e *RegulatoryError) advice() string {
	switch {
	case e.Outcome == OutcomePurchasedBefore:
		return "; call Regulatory.Wait to wait for the documents"
	case e.Outcome == OutcomeUnknown, e.Outcome == "" && (e.Step == wait.StepPurchased || e.Step == ""):
		return "; do not purchase again: call Regulatory.SettlePurchase later" + e.undeclaredRefusal()
	case e.Outcome == OutcomeNotCharged && errors.Is(e.Err, ErrInsufficientFunds):
		return "; add money to the wallet, then purchase again"
	case e.Outcome == OutcomeNotCharged && e.Purchase != nil && e.Purchase.Refused:
		return "; correct the cause, then purchase again"
	case e.Step == wait.StepAnalyzed && errors.Is(e.Err, ErrRequestFailed):
		return "; nothing was charged"
	case e.Step == wait.StepAnalyzed:
		return "; this call purchased nothing: call Regulatory.Resume to continue"
	case errors.Is(e.Err, ErrOverBudget): // which states that nothing was purchased
		return ""
	case e.Step == wait.StepEdited, e.Step == wait.StepSelected:
		return "; this call purchased nothing"
	case e.charged() && e.generationFailed():
		return "; the wallet was charged: Regulatory.Retry generates the documents again, without a charge, if the dialect " +
			"has the route regulatory.retry"
	}
	text := ""
	if e.charged() {
		text = "; the wallet was charged"
	}
	if e.Step == wait.StepPolled && (contextEnded(e.Err) || retryable(e.Err)) {
		text += "; call Regulatory.Wait to continue"
	}
	return text
}

// undeclaredRefusal returns advice about a response that is a refusal if the dialect states so; "" about any other.
func (e *RegulatoryError) undeclaredRefusal() string {
	failed, ok := errors.AsType[*Error](e.Err)
	if !ok || failed.StatusCode/100 != 4 || !mayRefuse(failed.StatusCode) || failed.refused ||
		!RawJSON(failed.Body).isObject() {
		return ""
	}
	return "; if the service refuses in this form, measure it: refusal.format and refusal.message of the dialect"
}

// Unwrap returns the reason.
func (e *RegulatoryError) Unwrap() error { return e.Err }

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

// unexpected returns the error of a 2xx response that cannot be read.
func (c *core) unexpected(x *exchange, cause error) *Error {
	failure := c.failureOf(x)
	if cause == errNoJSON {
		cause = c.describeBody(x.response.Body)
	}
	failure.Message, failure.Cause, failure.kind = "", cause, ErrUnexpectedBody
	return failure
}

// withoutStatus returns the error of a 2xx response whose JSON reports neither success nor failure.
func (c *core) withoutStatus(x *exchange) *Error {
	problem := "it has no status"
	if status := RawJSON(x.response.Body).Get("status"); status != "" {
		problem = "its status is " + oneLine(string(status), maxErrorID) + " instead of true or false"
	}
	failure := c.failureOf(x)
	failure.kind = ErrUnexpectedBody
	failure.Cause = errors.New("the response is JSON but not the documented envelope: " + problem)
	return failure
}

// unusable returns the error of a response in the documented envelope whose data is not what the operation returns.
func (c *core) unusable(operation, requestID string, response Response, data RawJSON, problem string) error {
	return c.redacted(&Error{
		Operation: operation, StatusCode: response.StatusCode, RequestID: requestID, Attempts: response.Attempts,
		Data: data, kind: ErrUnexpectedBody, Message: problem,
	})
}

func isMarkup(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

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
