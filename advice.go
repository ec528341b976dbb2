package shipping

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/transport"
	"github.com/shipping-go/shipping/internal/wait"
)

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
	return "; if the service refuses in this form, set refusal.format and refusal.message of the dialect"
}
