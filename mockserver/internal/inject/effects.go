package inject

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/byname"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// effect describes how a kind of fault changes exchanges, and how it relates to other faults.
type effect struct {
	strike  func(x *wire.Exchange, f fault.Fault, w World) error // an error ends the exchange
	decides bool                                                 // the response, or its absence
	ends    bool                                                 // the connection, without a response
	changes bool                                                 // the response, whatever it is
	defers  bool                                                 // the operation
	// happens to these operations only, before they are performed
	only    []string
	stubs   bool // and to stubs that change something
	repeats bool // can strike a request several times
	// happens to notifications; package delivery has the effect
	notifies bool
}

func effects() map[string]effect {
	paged := byname.Names(byname.Pages)
	notification := effect{notifies: true, only: []string{fault.Notification}}
	return map[string]effect{
		"status":          {strike: plain(status), decides: true},
		"rate-limit":      {strike: rateLimit, decides: true},
		"redirect":        {strike: plain(redirect), decides: true},
		"html":            {strike: plain(html), decides: true},
		"empty":           {strike: plain(empty), decides: true},
		"respond":         {strike: plain(respond), decides: true},
		"drop":            {strike: plain(end(wire.EndDropped)), decides: true, ends: true},
		"reset":           {strike: plain(end(wire.EndReset)), decides: true, ends: true},
		"arrive-late":     {strike: plain(arriveLate), decides: true, ends: true, defers: true},
		"gateway-timeout": {strike: plain(gatewayTimeout), decides: true, defers: true},
		"repeat":          {strike: plain(repeat), only: byname.Names(byname.Changes), stubs: true},
		"truncate":        {strike: plain(truncate), changes: true},
		"slow-body":       {strike: plain(slowBody), changes: true},
		"malformed":       {strike: plain(malformed), changes: true},
		"content-type":    {strike: plain(contentType), changes: true},
		"latency":         {strike: latency, repeats: true},
		"early-hints":     {strike: plain(earlyHints)},
		"repeat-page":     {strike: plain(repeatPage), only: paged},
		"cap-page":        {strike: plain(capPage), only: paged, repeats: true},
		"insert-rows":     {strike: insertRows, only: paged, repeats: true},
		"remove-rows": {strike: removeRows, only: slices.DeleteFunc(slices.Clone(paged),
			func(name string) bool { return name == shipping.OpListTransactions }), repeats: true},

		"repeat-notification":  notification,
		"replay-notification":  notification,
		"delay-notification":   notification,
		"reorder-notification": notification,
		"drop-notification":    notification,
		"forge-notification":   notification,
	}
}

// happensTo reports whether an effect limited to operations can happen to this one.
func (e effect) happensTo(operation string) bool {
	method, _, isStub := strings.Cut(operation, " ")
	return slices.Contains(e.only, operation) ||
		e.stubs && isStub && method != http.MethodGet && method != http.MethodHead
}

// plain adapts a function that needs no world and does not fail.
func plain(strike func(*wire.Exchange, fault.Fault)) func(*wire.Exchange, fault.Fault, World) error {
	return func(x *wire.Exchange, f fault.Fault, _ World) error {
		strike(x, f)
		return nil
	}
}

func status(x *wire.Exchange, f fault.Fault) { refuse(x, f.Status, http.Header(f.Header)) }

// refuse completes an exchange with an error envelope.
func refuse(x *wire.Exchange, code int, header http.Header) {
	x.Reply = wire.Refused(code, wire.CodeInjected, "injected fault")
	x.Reply.Header = header
	if code == http.StatusNoContent || code == http.StatusNotModified {
		x.Reply.Body = nil
	}
	x.Settled = true
}

func rateLimit(x *wire.Exchange, f fault.Fault, w World) error {
	now := w.Now()
	header := http.Header{"Date": {now.Format(http.TimeFormat)}}
	if value := retryAfter(f.RetryAfter, time.Duration(f.Duration), now); value != "" {
		header.Set("Retry-After", value)
	}
	refuse(x, http.StatusTooManyRequests, header)
	return nil
}

// retryAfter returns the value of a Retry-After header; empty for none.
func retryAfter(form fault.RetryAfter, wait time.Duration, now time.Time) string {
	seconds := int64((wait + time.Second - 1) / time.Second)
	due := now.Add(time.Duration(seconds) * time.Second).UTC()
	return map[fault.RetryAfter]string{
		fault.RetryAfterSeconds:  strconv.FormatInt(seconds, 10),
		fault.RetryAfterIMF:      due.Format(http.TimeFormat),
		fault.RetryAfterRFC850:   due.Format("Monday, 02-Jan-06 15:04:05 GMT"),
		fault.RetryAfterASCTime:  due.Format(time.ANSIC),
		fault.RetryAfterNegative: "-1",
		fault.RetryAfterHuge:     "99999999999999999999",
		fault.RetryAfterRubbish:  "soon",
	}[form]
}

func redirect(x *wire.Exchange, f fault.Fault) {
	refuse(x, http.StatusPermanentRedirect, http.Header{"Location": {f.Location}})
}

func html(x *wire.Exchange, f fault.Fault) {
	refuse(x, f.Status, nil)
	x.Reply.ContentType = "text/html; charset=utf-8"
	title := fmt.Sprintf("%d %s", f.Status, http.StatusText(f.Status))
	x.Reply.Body = fmt.Appendf(nil, "<!DOCTYPE "+
		"html>\n<html><head><title>%[1]s</title></head>\n<body><center><h1>%[1]s</h1></center></body></html>\n", title)
}

func empty(x *wire.Exchange, _ fault.Fault) {
	x.SubstituteReply()
	x.Reply.Status, x.Reply.Body, x.Reply.Rows = http.StatusOK, nil, nil
}

// respond completes an exchange with the response of the fault. If the header has no Content-Type, the entry gets no
// values, so that none is sent.
func respond(x *wire.Exchange, f fault.Fault) {
	x.Reply = wire.Reply{Status: f.Status, Header: editable(http.Header(f.Header)), Body: []byte(f.Body)}
	if f.BodyBase64 != nil {
		x.Reply.Body = bytes.Clone(f.BodyBase64)
	}
	if _, given := x.Reply.Header["Content-Type"]; !given {
		x.Reply.Header["Content-Type"] = nil
	}
	x.Settled = true
}

// end returns an effect on the connection, which the exchange closes in this way; see [wire.Exchange.Send].
func end(how wire.Ending) func(*wire.Exchange, fault.Fault) {
	return func(x *wire.Exchange, _ fault.Fault) { x.Ending, x.Settled = how, true }
}

func arriveLate(x *wire.Exchange, f fault.Fault) {
	x.Ending, x.Settled, x.ArrivesIn = wire.EndDropped, true, time.Duration(f.Duration)
}

func gatewayTimeout(x *wire.Exchange, f fault.Fault) {
	html(x, fault.HTML(http.StatusGatewayTimeout))
	x.ArrivesIn = time.Duration(f.Duration)
}

func repeat(x *wire.Exchange, _ fault.Fault) { x.Repeated = true }

// truncate announces the whole body and sends a part of it. net/http closes a connection whose response is shorter
// than announced.
func truncate(x *wire.Exchange, f fault.Fault) {
	x.SubstituteReply()
	x.Reply.Encode()
	// If the part is the whole body, one more byte is announced, so that the response is still incomplete.
	kept := min(f.Bytes, len(x.Reply.Body))
	x.Reply.Header = editable(x.Reply.Header)
	x.Reply.Header.Set("Content-Length", strconv.Itoa(max(len(x.Reply.Body), kept+1)))
	x.Reply.Body = x.Reply.Body[:kept]
}

func slowBody(x *wire.Exchange, f fault.Fault) {
	x.SubstituteReply()
	x.Tick = time.Duration(f.Duration)
}

// malformed sends half of the body. It announces that half, unless truncate announced more before.
func malformed(x *wire.Exchange, _ fault.Fault) {
	x.SubstituteReply()
	x.Reply.Encode()
	x.Reply.Body = bytes.Clone(x.Reply.Body[:len(x.Reply.Body)/2])
}

func contentType(x *wire.Exchange, f fault.Fault) {
	x.SubstituteReply()
	x.Reply.ContentType = f.ContentType
	x.Reply.Header = editable(x.Reply.Header)
	delete(x.Reply.Header, "Content-Type")
}

func earlyHints(x *wire.Exchange, _ fault.Fault) { x.Hints = true }

func latency(x *wire.Exchange, f fault.Fault, w World) error {
	return w.Delay(x, time.Duration(f.Duration), "injected latency")
}

// Faults of lists change the request or the contents of the list, and the operation does the rest.

func repeatPage(x *wire.Exchange, _ fault.Fault) { x.PreviousPage = true }

func capPage(x *wire.Exchange, f fault.Fault) {
	x.PageCap = min(f.PerPage, cmp.Or(x.PageCap, f.PerPage))
}

func insertRows(x *wire.Exchange, f fault.Fault, w World) error {
	w.InsertRows(x.Operation, x.URL.Query(), f.Rows)
	return nil
}

func removeRows(x *wire.Exchange, f fault.Fault, w World) error {
	w.RemoveRows(x.Operation, f.Rows)
	return nil
}

// editable returns a copy of a header, in which a name can be set.
func editable(header http.Header) http.Header {
	if header == nil {
		return http.Header{}
	}
	return maps.Clone(header)
}

// problem returns why the rule can never strike, or "".
func (r *rule) problem(now time.Time, stubs []string) string {
	limited, generation := r.effect.only != nil, r.Point == fault.Generation
	lists := limited && !slices.ContainsFunc(r.effect.only,
		func(name string) bool { return !byname.Has(name, byname.Pages) })
	for _, check := range []struct {
		broken bool
		text   string
	}{
		{r.Fault.IsZero() && r.Point == "", "it has no fault: set one, such as \"fault\":{\"kind\":\"drop\"}"},
		{r.Operation == fault.Notification && !r.effect.notifies,
			fmt.Sprintf("a fault of kind %s strikes requests, not notifications: leave operation out, or use a kind such as %s",
				r.Fault.Kind, fault.RepeatNotification().Kind)},
		{r.Event != "" && !r.effect.notifies,
			"event selects notifications: leave it out, or use a kind such as " + fault.RepeatNotification().Kind},
		{r.Operation != "" && r.Operation != fault.Notification && !byname.Exists(r.Operation) &&
			!slices.Contains(stubs, r.Operation),
			fmt.Sprintf("unknown operation %q%s", r.Operation, cmp.Or(spelling.Meant(r.Operation, byname.Names(nil)),
				": use one that GET /_mock/faults lists, or that of a stub"))},
		{len(r.Name) > 256, fmt.Sprintf("the name has %d bytes: use at most 256", len(r.Name))},
		{r.Nth < 0 || r.First < 0, "nth and first count from 1; 0 is every call"},
		{r.First > 0 && r.Nth > r.First,
			fmt.Sprintf("call %d is not among the first %d: leave one of them out", r.Nth, r.First)},
		{r.EachRequest && r.Nth == 0 && r.First == 0, "each_request counts nth or first for each request: set one of them"},
		{math.IsNaN(r.Probability) || r.Probability < 0 || r.Probability > 1,
			fmt.Sprintf("probability %v is not between 0 and 1", r.Probability)},
		{!r.Until.IsZero() && !r.Until.After(r.From), "until is not after from"},
		{!r.Until.IsZero() && !r.Until.After(now),
			fmt.Sprintf("until %s has passed: the time of this world is %s", r.Until.Format(time.RFC3339),
				now.Format(time.RFC3339))},
		{r.Point != "" && !slices.Contains(fault.Points(), r.Point),
			fmt.Sprintf("unknown point %q: use one of %v", string(r.Point), fault.Points())},
		{r.Point != "" && r.Committed, "a point determines when the fault strikes: leave committed out"},
		{generation && (!r.Fault.IsZero() || r.Operation != ""),
			"no request generates documents, so no response can have a fault: leave operation and fault out"},
		{r.Point != "" && !generation && r.Operation != "" && !byname.Has(r.Operation, byname.Charges),
			fmt.Sprintf("point %s is inside %v and never reached by %s", r.Point, byname.Names(byname.Charges),
				r.Operation)},
		{r.effect.defers && (r.Committed || r.Point != ""),
			fmt.Sprintf("a fault of kind %s determines when the operation is performed: leave committed and point out",
				r.Fault.Kind)},
		{limited && (r.Committed || r.Point != ""),
			fmt.Sprintf("a fault of kind %s does not strike a response: leave committed and point out", r.Fault.Kind)},
		{lists && r.Operation != "" && !byname.Has(r.Operation, byname.Pages),
			fmt.Sprintf("%s is not a list with pages: use the operation of one, such as %s", r.Operation, shipping.OpListRates)},
		{limited && r.Operation != "" && !r.effect.happensTo(r.Operation),
			fmt.Sprintf("a fault of kind %s cannot happen to %s: use one of %v", r.Fault.Kind, r.Operation, r.effect.only)},
	} {
		if check.broken {
			return check.text
		}
	}
	if r.Fault.IsZero() {
		return ""
	}
	if err := r.Fault.Check(); err != nil {
		return err.Error()
	}
	return ""
}
