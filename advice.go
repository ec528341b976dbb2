package shipping

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/evidence"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/transport"
	"github.com/shipping-go/shipping/internal/wait"
)

// hint returns advice on what to check or change; "" without any.
func (e *Error) hint() string {
	switch {
	case errors.Is(e.kind, ErrRedirected):
		return "redirects are not followed: check scheme, host and path of the base address"
	case errors.Is(e.kind, ErrRateLimited) && e.RetryAfter > 0:
		return "retry after " + e.RetryAfter.Round(time.Millisecond).String()
	case errors.Is(e.kind, ErrRateLimited):
		return "send fewer requests, for example with WithLimiter"
	case errors.Is(e.kind, ErrUnexpectedBody) && e.Message == "" && e.noEnvelope:
		return "check that the base address (WithBaseURL or SHIPPING_BASE_URL) is that of the service, not of a web page"
	case errors.Is(e.kind, ErrBodyTooLarge) && e.operation.Pages:
		return "request fewer records a page, or raise WithMaxResponseBytes"
	case errors.Is(e.kind, ErrBodyTooLarge):
		return "raise WithMaxResponseBytes"
	}
	return strings.TrimPrefix(cmp.Or(e.connectionHint(), e.statusHint(), e.lostHint(), e.callHint())+e.lines, "; ")
}

// callHint returns advice about this call alone. A [RegulatoryError] replaces it; see [RegulatoryError.causeText].
func (e *Error) callHint() string {
	if errors.Is(e.kind, ErrUnexpectedBody) && e.Message == "" && !e.operation.Charges {
		return "the response differs from the specification: read it with Client.Do, or ask the service"
	}
	return cmp.Or(e.refusalHint(), e.readHint())
}

// connectionHint returns advice about a request without a connection to the service.
func (e *Error) connectionHint() string {
	const proxy = "HTTP_PROXY and HTTPS_PROXY, or "
	refused, unsent := e.refusedByProxy(), "this request was not sent"
	if e.operation.Retry == operations.Safe { // in the error of a purchase, "request" would mean the purchase
		unsent = "this read was not sent"
	}
	switch {
	case e.StatusCode == http.StatusProxyAuthRequired, refused == http.StatusProxyAuthRequired:
		return "a proxy requires credentials: check the user and password in " + proxy + "in the Proxy of the http.Transport"
	case refused != 0:
		return "a proxy refused the connection: allow " + e.address + " there, or change " + proxy +
			"the Proxy of the http.Transport"
	case !errors.Is(e.kind, ErrConnection):
		return ""
	case e.heldBack && contextEnded(e.Cause):
		return unsent + ": pass a context that has not ended"
	case e.heldBack:
		return unsent
	case errors.Is(e.Cause, http.ErrSchemeMismatch):
		return "the service expects http:// there: check scheme and port of the base address"
	case transport.SpeaksTLS(e.Cause):
		return "the service expects https:// there: check scheme and port of the base address"
	case contextEnded(e.Cause):
		return ""
	case failedAt(e.Cause, "proxyconnect"):
		return "the proxy cannot be reached: check " + proxy + "the Proxy of the http.Transport"
	}
	if hint := certificateHint(e.Cause); hint != "" {
		return hint
	}
	hint := "check that the service runs at " + e.address + ", and that this machine can reach it"
	switch {
	case e.NotSent():
		return unsent + ": " + hint
	case failedAt(e.Cause, "dial"):
		return hint
	}
	return ""
}

// certificateHint returns advice about a certificate that was refused.
func certificateHint(err error) string {
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, another := errors.AsType[x509.HostnameError](err)
	switch {
	case another:
		return "check the host of the base address"
	case unknown:
		return "if you trust the CA, set SSL_CERT_FILE to the file of its certificate, or RootCAs in the " +
			"TLSClientConfig of the http.Transport (WithHTTPClient)"
	case refused:
		return "check the clock of this machine, and the certificate of the service"
	}
	return ""
}

// statusHint returns advice about a 4xx response, from its status and the form of its body.
func (e *Error) statusHint() string {
	if e.StatusCode/100 != 4 {
		return ""
	}
	switch status := e.StatusCode; {
	case e.operation.Provisional &&
		(status == http.StatusMethodNotAllowed || status == http.StatusNotFound && !e.Refused()):
		return "the service's route may differ: " + declareRoute(e.operation) + ", with that route"
	case status == http.StatusUnauthorized && e.explained == "":
		return "check that the secret key belongs to this base address"
	case isMarkup(e.Body), status == http.StatusForbidden && e.noEnvelope:
		return "a proxy or firewall may have sent it: Error.Body contains it"
	case status == http.StatusForbidden:
		return "if the secret key is not allowed to do this, use another key, or request the permission from the service"
	case e.noEnvelope && status != http.StatusTooEarly && status != http.StatusRequestTimeout:
		return "another server may have sent it: check scheme, host and path of the base address (WithBaseURL or " +
			"SHIPPING_BASE_URL)"
	}
	return ""
}

// refusalHint returns advice about a refusal. The reference server gives its own in its messages.
func (e *Error) refusalHint() string {
	switch {
	case e.StatusCode/100 != 4 || !e.Refused() || e.explained != "":
		return ""
	case errors.Is(e.kind, ErrNotFound):
		return "check the id, and that it belongs to the account of the secret key"
	case e.StatusCode != http.StatusConflict && e.StatusCode != http.StatusLocked:
		return "correct the request before you send it again"
	case e.operation.Charges:
		return "the state of the record may not allow it: read the record"
	}
	return "the state of the record may not allow it: read the record, or try again later"
}

// lostHint returns advice about a request that may have been performed. The [RegulatoryError] has the advice about a
// purchase.
func (e *Error) lostHint() string {
	switch {
	case !e.isLost():
		return ""
	case e.Operation == OpAnalyze && e.isUnsupported():
		return unsupported
	case e.Operation == OpAnalyze:
		return "the service may have performed it: an analysis charges nothing, so analyze again" + e.afterWait("")
	case e.operation.Retry == operations.Unsent:
		return "the service may have performed it"
	}
	return ""
}

// isLost reports whether the request may have been performed although the service did not confirm it.
func (e *Error) isLost() bool {
	return !e.NotSent() && !e.Refused() &&
		(errors.Is(e.kind, ErrConnection) || errors.Is(e.kind, ErrTruncated) || errors.Is(e.kind, ErrServer))
}

// readHint returns advice about a read that failed.
func (e *Error) readHint() string {
	if e.operation.Retry != operations.Safe || !e.isLost() || errors.Is(e.Cause, context.Canceled) {
		return ""
	}
	if e.request != "" {
		return "the Transport of the http.Client (WithHTTPClient) returned this error: if it is a mock, register " +
			"a response to this request"
	}
	late, ok := errors.AsType[*transport.TimeoutError](e.Cause)
	switch {
	case ok && late.Of != "" && late.After < time.Millisecond:
		return "set it with a unit, such as 30*time.Second: a bare number counts nanoseconds"
	case ok && late.Of != "":
		return "raise it, or try again later"
	case e.isUnsupported():
		return unsupported
	case e.StatusCode == http.StatusBadGateway, e.StatusCode == http.StatusGatewayTimeout:
		return "a gateway received no response from the service: try again" + e.afterWait(" later")
	case errors.Is(e.Cause, context.DeadlineExceeded):
		return "a read changes nothing: give it more time"
	}
	return "a read changes nothing: try again" + e.afterWait(" later")
}

const unsupported = "the service does not support this operation: check its route and the base address"

// isUnsupported reports whether the service has no such operation.
func (e *Error) isUnsupported() bool {
	return e.StatusCode == http.StatusNotImplemented || e.StatusCode == http.StatusHTTPVersionNotSupported
}

// afterWait returns the pause that the service requires, or its argument if that is unknown.
func (e *Error) afterWait(otherwise string) string {
	if e.RetryAfter > 0 {
		return " after " + e.RetryAfter.String()
	}
	return otherwise
}

// failedAt reports whether the last connection failed at an operation of package net. Something may have been sent
// before; see [Error.NotSent].
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

// advice returns the charge, unless the text before it states it, and the next step.
func (e *RegulatoryError) advice() string {
	switch {
	case e.Outcome == OutcomePurchasedBefore:
		return "; call Regulatory.Wait to wait for the documents"
	case e.Outcome == OutcomeUnknown, e.Outcome == "" && (e.Step == wait.StepPurchased || e.Step == ""):
		return "; do not purchase again: " + e.settleAdvice() + e.undeclared()
	case e.Outcome == OutcomeNotCharged && errors.Is(e.Err, ErrInsufficientFunds):
		return "; add money to the wallet, then purchase again"
	case e.Outcome == OutcomeNotCharged && (e.Request != nil && e.Request.expired() ||
		slices.ContainsFunc(callsIn(e.Err), (*Error).ofExpired)):
		return "; the draft has expired: call Regulatory.Analyze again"
	case e.Outcome == OutcomeNotCharged && e.Purchase != nil && e.Purchase.Refused:
		if e.Request == nil && errors.Is(e.Err, ErrNotFound) {
			return "; check the id of the request, and that the key belongs to the account that analyzed it, then call " +
				"Regulatory.Purchase again"
		}
		return "; correct the cause, then call Regulatory.Purchase again (or Regulatory.Analyze if the draft has expired)" +
			e.undeclared()
	case e.Step == wait.StepAnalyzed && errors.Is(e.Err, ErrRequestFailed) && e.Outcome == "":
		return "; the record shows a purchase: compare it with the wallet's transactions"
	case e.Step == wait.StepAnalyzed && errors.Is(e.Err, ErrRequestFailed):
		return "; nothing was charged"
	case e.Step == wait.StepAnalyzed:
		return "; this call purchased nothing" + e.undeclaredStatus() + "; call Regulatory.Resume to continue"
	case errors.Is(e.Err, ErrOverBudget): // its text states that nothing was purchased
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
	if errors.Is(e.Err, ErrOvercharged) {
		text += ": compare the charge with its transactions"
	}
	if e.Step == wait.StepPolled && (contextEnded(e.Err) || retryable(e.Err) || errors.Is(e.Err, wait.ErrUnlisted)) {
		for _, document := range cmp.Or(e.Request, &RegulatoryRequest{}).Documents {
			if document.Status == "awaiting_evidence" {
				text += "; " + oneLine(string(document.DocumentType), maxErrorID) + " waits for evidence that a person supplies"
			}
		}
		text += e.undeclaredStatus() + "; call Regulatory.Wait to continue"
	}
	return text
}

// ofExpired reports whether the code of the failure is that of an expired draft.
func (e *Error) ofExpired() bool {
	return e.dialect != nil && e.Code != "" && e.Code == e.dialect.Refusal.ExpiredCode
}

// settleAdvice returns how to find the outcome of a purchase.
func (e *RegulatoryError) settleAdvice() string {
	const settle = "call Regulatory.SettlePurchase "
	purchase := cmp.Or(e.Purchase, &PurchaseRequest{})
	for _, failed := range callsIn(e.Err) {
		switch {
		case !failed.Refused() || failed.Operation != OpGetRequest:
		case errors.Is(failed, ErrUnauthorized):
			return "correct the key, then " + settle + "again"
		case errors.Is(failed, ErrNotFound) && purchase.Draft == nil:
			return "check the id of the request, and that the key belongs to the account that purchased, then " + settle +
				"again"
		}
	}
	expired := e.Request != nil && e.Request.expired()
	quiet := purchase.quietFor()
	if expired && (!purchase.Refused || quiet == 0) {
		return "compare the wallet's transactions: if they show no charge, call Regulatory.Analyze again"
	}
	isDraft := e.Request != nil && (e.Request.Status == StatusDraft || expired)
	if quiet > 0 && isDraft || e.Request == nil || contextEnded(e.Err) {
		return settle + fmt.Sprintf("with the Purchase of this error, and a context of %s or more",
			cmp.Or(quiet, purchase.longQuietFor())+time.Minute)
	}
	if e.Request.unlisted() {
		return settle + "later; if the status is still " + spelling.Quote(string(e.Request.Status)) +
			", compare the wallet's transactions, and analyze again if they show no charge" + e.Request.declareExpired()
	}
	if before := purchase.before(); before != nil &&
		e.Request.shown().Since(before).Compare(purchase.slugs()) == evidence.Others {
		types := strings.Join(purchase.slugs(), ", ")
		return "the request lists other documents, not " + types + "; compare the wallet's transactions, and call " +
			"Regulatory.Analyze again for " + types + " if they show only one charge of this request"
	}
	return settle + "later, and compare the wallet's transactions"
}

// declareName returns a part of an error: for each member of the offers whose text meets a condition, the dialect line
// that sets the field to the name of this member.
func (r *RegulatoryRequest) declareName(field string, is func(text string) bool) string {
	return r.declareLine(field, named(r.shown().Data.Get("available_documents").Elements, is)...)
}

// named returns each member whose text or boolean meets a condition in every offer: its name, or its path of two names.
func named(offers []jsonread.Value, is func(text string) bool) []string {
	if len(offers) == 0 {
		return nil
	}
	isNamed := func(_ string, v jsonread.Value) bool {
		return (v.Kind == '"' || v.Text == "true" || v.Text == "false") && is(strings.TrimSpace(v.Text))
	}
	return slices.DeleteFunc(offers[0].Paths(isNamed), func(path string) bool {
		return slices.ContainsFunc(offers, func(offer jsonread.Value) bool { return !isNamed("", offer.At(path)) })
	})
}

// declareExpired returns a part of an error: the line that declares that the record's status means an expired draft; ""
// if the status is listed.
func (r *RegulatoryRequest) declareExpired() string {
	line := r.declareLine("record.states", string(r.Status)+"=expired")
	if line == "" || !r.unlisted() {
		return ""
	}
	return "; if this status means that the draft expired, " + line
}

// declareLine returns a part of an error: a dialect line for each value, four at most, that sets the field to it.
func (r *RegulatoryRequest) declareLine(field string, values ...string) string {
	var lines []string
	for _, value := range values {
		if line := r.Dialect.Declare(dialect.Line{Field: field, Value: value}); line != "" && len(lines) < 4 {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ", or ")
}

// isUsualMode reports whether a text is likely to be the mode of a document.
func isUsualMode(text string) bool {
	text = strings.ToLower(text)
	return text == "manual" || strings.HasPrefix(text, "auto")
}

// mayBeMode reports whether a text can be the mode of a document: one word that is neither a type nor a currency.
func mayBeMode(text string) bool {
	upper := strings.ToUpper(text)
	return isWord(text, false) && !DocumentType(upper).Known() && (len(text) != 3 || text != upper)
}

// isWord reports whether a text is one word with a letter, such as E_FUNDS; withSigns also allows urn:funds.
func isWord(text string, withSigns bool) bool {
	isOther := func(r rune) bool {
		isSign := r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		return unicode.IsSpace(r) || isSign && !withSigns
	}
	return strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsFunc(text, isOther)
}

// declarePlace returns the end of an error about a record without its id or status: the dialect line that names the
// member that holds the record, or else the names of all members.
func (c *core) declarePlace(r request, data RawJSON, found *RegulatoryRequest) string {
	for _, m := range jsonread.Parse(string(data)).Members {
		place := dialect.Line{Field: "record.at", Value: m.Name}
		line := ""
		if m.Value.Get("request_id").Text != "" || m.Value.Get("available_documents").Kind != 0 {
			line = c.dialect.Declare(place)
		}
		if line == "" {
			continue
		}
		changed, _ := c.dialect.With(place)
		record := decodeWith(readerOf(changed), data)
		if record.RequestID = cmp.Or(record.RequestID, r.requestID); r.mismatch(record) == "" {
			return ": " + line
		}
	}
	var names []string
	for _, m := range found.shown().Data.Members {
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return ", and no line of the dialect gives it another name: the record shows " +
		oneLine(strings.Join(names, ", "), maxErrorMessage)
}

// declareRoute returns a part of an error: the line with the route of an operation. It does not call
// [dialect.Dialect.Declare], which adds 98 KB to a program that only lists.
func declareRoute(o operations.Operation) string {
	return `write in the dialect "routes += ` + o.Name + "=" + o.Method + " " + o.Route + `"`
}

// undeclaredStatus returns a part of an error about a status that neither the specification nor the dialect lists: the
// dialect lines with which a wait ends or continues at this status; "" if it is listed.
func (e *RegulatoryError) undeclaredStatus() string {
	if e.Request == nil || !e.Request.unlisted() {
		return ""
	}
	text := "; neither the specification nor the dialect lists the status " + spelling.Quote(string(e.Request.Status))
	isBefore := e.Step == wait.StepPolled && e.Outcome == "" || e.Step == wait.StepAnalyzed
	if isBefore && e.Request.mayBeAnalyzing() {
		text += e.Request.declareExpired()
	}
	condition, meaning := "; if generation continues, ", "=generating"
	other := "if generation has ended, read the documents with Regulatory.Get"
	if e.Step == wait.StepAnalyzed {
		condition, meaning = "; if the analysis is under way, ", "=analyzing"
		other = "if it is a draft, ask the service to send the status \"draft\""
	}
	if line := e.Request.declareLine("record.states", string(e.Request.Status)+meaning); line != "" {
		text += condition + line
	}
	return text + "; no line can declare it as draft, completed or failed: " + other
}

// undeclared returns the dialect lines for the response to a purchase; see [Error.undeclared].
func (e *RegulatoryError) undeclared() string {
	if failed, ok := errors.AsType[*Error](e.Err); ok {
		return failed.undeclared()
	}
	return ""
}

// undeclared returns a part of an error: the dialect lines that declare the form of this refusal, its code, or the code
// of a wallet that holds too little. A program that only lists does not link this function.
func (e *Error) undeclared() string {
	body := jsonread.Parse(string(e.Body))
	reason := reasonAt(body)
	code := dialect.Line{Field: "refusal.code", Value: codeAt(body, reason)}
	isNamed := func(word string) bool { return strings.Contains(strings.ToLower(e.Message), word) }
	condition, lines := "", []dialect.Line{code}
	switch {
	case !e.refused && mayRefuse(e.StatusCode) && refuses(reason, e.StatusCode, e.Body):
		condition = "; if the service refuses in this form, "
		lines = []dialect.Line{{Field: "refusal.format", Value: "object"}, {Field: "refusal.message", Value: reason}, code}
	case !e.refused:
		return ""
	case e.Code == "":
		condition = "; if this is the path of the code, "
	case errors.Is(e, ErrInsufficientFunds):
		return ""
	case slices.ContainsFunc([]string{"fund", "balance", "insufficient", "too little"}, isNamed):
		condition = "; if this code means that the wallet holds too little, "
		lines = []dialect.Line{{Field: "refusal.funds_code", Value: e.Code}}
	default:
		return ""
	}
	lines = slices.DeleteFunc(lines, func(line dialect.Line) bool { return line.Value == "" })
	if text := e.dialect.Declare(lines...); text != "" {
		return condition + text
	}
	return ""
}

// codeAt returns the path of a text that can be the code of a refusal, such as "error.code": the first path that ends
// in "code", or else the only text of one word besides the reason; "" without either.
func codeAt(body jsonread.Value, reason string) string {
	isNamed := func(path string) bool { return strings.HasSuffix(strings.ToLower(path), "code") }
	words := body.Paths(func(name string, v jsonread.Value) bool {
		isOther := name == "status" || name == "title" || strings.HasSuffix(strings.ToLower(name), "id")
		return v.Kind == '"' && isWord(v.Text, isNamed(name)) && !isOther
	})
	words = slices.DeleteFunc(words, func(path string) bool { return path == reason })
	if i := slices.IndexFunc(words, isNamed); i >= 0 {
		return words[i]
	}
	if len(words) == 1 {
		return words[0]
	}
	return ""
}

// reasonAt returns the path of a text that can be the reason of a refusal, such as "error.reason"; "" without one.
func reasonAt(body jsonread.Value) string {
	for _, name := range reasonMembers {
		paths := body.Paths(func(member string, v jsonread.Value) bool {
			return member == name && name != "title" && v.Kind == '"' && strings.TrimSpace(v.Text) != ""
		})
		if len(paths) > 0 {
			return paths[0]
		}
	}
	return ""
}
