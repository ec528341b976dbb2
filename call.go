package shipping

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-querystring/query"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/transport"
)

// request is one call of an operation before it is sent.
type request struct {
	// operation is the name of an operation of the table.
	operation string
	// custom, if not nil, is an operation that is not in the table.
	custom *operations.Operation
	// requestID is the regulatory request that the call is about, if any.
	requestID string
	// document is the document of the request that the route names, if any.
	document DocumentType
	// shipmentID is the shipment that an analysis is about, if any.
	shipmentID string
	// options is a flat struct with url tags, or nil.
	options any
	// body returns the JSON that is sent; nil sends none.
	body func() ([]byte, error)
	// mayBeEmpty accepts a response without a body if it is one to HEAD, or has the status 204 or 205.
	mayBeEmpty bool
	// timeout, if positive, bounds the call.
	timeout time.Duration
}

// exchange is one call with its attempts and its response so far.
type exchange struct {
	core       *core
	operation  *operations.Operation
	requestID  string
	attempts   []Attempt
	first      [1]Attempt // storage for attempts: most calls make only one
	url        *url.URL
	notRetried string
	// response is the last response that was received whole; nil without one.
	response *transport.Response
	// header is set if the body of the last response was not received whole.
	header http.Header
}

// rawBody is the result of fetch for a response that is not an envelope: its body.
type rawBody []byte

// fetch performs a call: it builds the request, sends it, and decodes the data of the response into a T. check, unless
// nil, gets the data and the body, and returns an error if the data is not a result of the operation; fetch completes
// this error.
func fetch[T any](ctx context.Context, c *core, r request, options []CallOption,
	check func(data T, body []byte) *Error) (value T, response Response, err error) {
	settings, err := newCallSettings(options)
	if err != nil {
		return value, response, err
	}
	operation, err := c.find(r)
	if err != nil {
		return value, response, err
	}
	if ctx == nil {
		return value, response, nilContext(operation.Name)
	}
	call, err := c.newCall(operation, r, settings)
	if err != nil {
		return value, response, err
	}
	x := &exchange{core: c, operation: operation, requestID: r.requestID, url: call.URL}
	x.attempts, call.Hooks = x.first[:0], x
	ctx = c.observer.begin(ctx, operation.Name)
	if c.observer.Done != nil || c.log != nil {
		started, observed := time.Now(), ctx
		defer func() { x.done(observed, time.Since(started), err) }()
	}
	if r.timeout > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, r.timeout, &transport.TimeoutError{After: r.timeout})
		defer cancel()
		ctx = bounded
	}
	var failure *Error
	x.response, err = c.transport.Do(ctx, call)
	defer x.response.Release()
	if err != nil {
		failure = x.transportFailure(ctx, err)
	} else {
		value, failure = read[T](x, r.mayBeEmpty)
	}
	if failure != nil {
		err = c.redacted(failure)
	}
	response = x.received(failure, settings.response != nil)
	if settings.response != nil {
		*settings.response = response
	}
	if err == nil && check != nil {
		if failure = check(value, x.response.Body); failure != nil {
			err = x.unusable(failure)
		}
	}
	return value, response, err
}

// newCallSettings collects the options of a method that is not a walk.
func newCallSettings(options []CallOption) (callSettings, error) {
	if len(options) == 0 {
		return callSettings{}, nil // not allocated
	}
	var s callSettings
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	return s, s.invalid
}

// nilContext returns the error of a call without a context, with which net/http would panic.
func nilContext(operation string) error {
	return invalidRequest(operation, "context", "is nil: pass context.Background()")
}

// noClient returns the error of a client that was not made by [NewClient].
func noClient() error {
	return invalidOption("Client", "must be made with NewClient or NewClientFromEnv")
}

// find returns the operation of a request. It returns an error for a client that [NewClient] did not make.
func (c *core) find(r request) (*operations.Operation, error) {
	if c == nil {
		return nil, noClient()
	}
	if r.custom != nil {
		return r.custom, nil
	}
	for i := range c.operations {
		operation := &c.operations[i]
		switch {
		case operation.Name != r.operation:
			continue
		case operation.Provisional && c.dialect.Routes[operation.Name] == "":
			return nil, invalidRequest(r.operation, "WithDialect",
				"has no route for this operation, and the specification documents none: ask the service for its route; "+
					declareRoute(*operation)+", with the route of the service in place of this example; then pass the dialect to "+
					"NewClient, or set SHIPPING_DIALECT to its file for NewClientFromEnv")
		}
		return operation, nil
	}
	return nil, fmt.Errorf("shipping: the operation %q is not in the table of internal/operations", r.operation)
}

// newCall builds the call and validates it.
func (c *core) newCall(operation *operations.Operation, r request, settings callSettings) (transport.Call, error) {
	call := transport.Call{Method: operation.Method, Header: maps.Clone(c.header), Retry: operation.Retry}
	path, err := expandRoute(operation, r)
	if err != nil {
		return call, err
	}
	values, err := query.Values(r.options)
	if err != nil {
		return call, invalidRequest(operation.Name, "options", "cannot be written as a query: "+err.Error())
	}
	for name, added := range settings.query {
		values[name] = slices.Concat(values[name], added)
	}
	if call.URL, err = c.baseURL.join(path, values); err != nil {
		return call, invalidRequest(operation.Name, "path", "is not a valid URL path")
	}
	if !operation.Open { // every URL is made by baseURL.join, and redirects are not followed: the key stays on its origin
		call.Header["Authorization"] = []string{"Bearer " + c.key.Reveal()}
	}
	if r.body != nil {
		if call.Body, err = r.body(); err != nil {
			return call, invalidRequest(operation.Name, "body", "cannot be written as JSON: "+err.Error())
		}
		call.Header.Set("Content-Type", "application/json")
	}
	for name, added := range settings.header {
		call.Header[name] = added
	}
	return call, nil
}

// jsonBody returns the body of a request. It is a function so that a program that only lists does not link
// the encoder.
func jsonBody(v any) func() ([]byte, error) {
	if v == nil {
		return nil
	}
	return func() ([]byte, error) { return json.Marshal(v) }
}

// expandRoute fills the placeholders of a route with escaped values. An empty value would name another resource.
func expandRoute(operation *operations.Operation, r request) (string, error) {
	var path strings.Builder
	path.Grow(2 * len(operation.Route))
	for route := operation.Route; ; {
		before, rest, found := strings.Cut(route, "{")
		path.WriteString(before)
		if !found {
			return path.String(), nil
		}
		name, after, _ := strings.Cut(rest, "}")
		value, problem := r.requestID, "is empty: pass the request_id that Analyze returned"
		if name == "document_type" {
			value, problem = string(r.document), "is empty"
		}
		if value != "" {
			problem = idProblem(value)
		}
		if problem != "" {
			return "", invalidRequest(operation.Name, name, problem)
		}
		path.WriteString(url.PathEscape(value))
		route = after
	}
}

// read decodes a response that was received whole.
func read[T any](x *exchange, mayBeEmpty bool) (value T, failure *Error) {
	switch status := x.response.StatusCode; {
	case status/100 != 2:
		return value, x.core.failureOf(x)
	case mayBeEmpty && (x.operation.Method == http.MethodHead || status == http.StatusNoContent ||
		status == http.StatusResetContent):
		return value, nil
	}
	if whole, ok := any(&value).(*rawBody); ok {
		*whole = bytes.Clone(x.response.Body)
		return value, nil
	}
	return decodeReply[T](x.core, x)
}

// WithResponse stores the status, header, raw body and attempts of the call in response. They are stored even
// if the call fails after a response was received.
func WithResponse(response *Response) CallOption {
	return func(s *callSettings) { s.response = response }
}

// Response is the HTTP response of a call.
type Response struct {
	// StatusCode is the HTTP status of the last attempt; 0 if no response was received.
	StatusCode int
	// Header is the header, without the secret key if the service sent it back.
	Header http.Header
	// Body is the raw body, without the secret key if the service sent it back. It is kept only for [WithResponse].
	Body []byte
	// Attempts are the attempts that were made, in order.
	Attempts []Attempt
}

// received returns the response as the caller sees it, with the raw body if it is wanted.
func (x *exchange) received(failure *Error, body bool) Response {
	response := Response{Header: x.header, Attempts: x.attempts}
	switch {
	case x.response != nil:
		response.StatusCode, response.Header = x.response.StatusCode, x.response.Header
		if body {
			response.Body = x.core.key.Start(x.response.Body, len(x.response.Body))
		}
	case failure != nil:
		response.StatusCode, response.Body = failure.StatusCode, failure.Body
	}
	return response
}

// envelope is the JSON object of every response.
//
// Specification: "Response envelope".
type envelope[T any] struct {
	Status  envelopeStatus `json:"status"`
	Message string         `json:"message"`
	Data    T              `json:"data" read:"strict"`
}

// envelopeStatus is the envelope's status. value is nil if the status is missing or cannot be read. A response
// with several statuses can report success and failure at once.
type envelopeStatus struct {
	value   *bool
	several bool
}

// decodeReply reads a 2xx response in one pass over its bytes; see [responses].
func decodeReply[T any](c *core, got *exchange) (T, *Error) {
	var reply envelope[T]
	elements := maxElements(c.maxBody)
	options := jsonread.Options{Elements: elements, Members: max(fewestMembers, elements)}
	var differences driftCounts
	if c.drift != nil {
		differences = driftCounts{}
		options.Report = differences.add
	}
	err := c.reader.Read(got.response.Body, &reply, options)
	switch {
	case err == jsonread.ErrCrowded:
		failure := c.unexpected(got,
			fmt.Errorf("%w: it holds more than %d elements of lists, or more than %d members of objects", ErrBodyTooLarge,
				options.Elements, options.Members))
		failure.kind = ErrBodyTooLarge
		return reply.Data, failure
	case err == jsonread.ErrSyntax:
		return reply.Data, c.unexpected(got, c.describeBody(got.response.Body))
	case reply.Status.several:
		return reply.Data, c.unexpected(got, errors.New("the envelope has more than one status"))
	case reply.Status.value != nil && *reply.Status.value && err != nil:
		return reply.Data, c.unexpected(got, err) // otherwise a list would lack records without an error
	}
	if c.drift != nil {
		if data, ok := any(reply.Data).(requestData); ok && data.wrapped {
			differences.dropMissing("data.")
		}
		if len(differences) > 0 {
			c.drift(got.operation.Name, differences.findings(c.key))
		}
	}
	switch {
	case reply.Status.value == nil:
		return reply.Data, c.withoutStatus(got)
	case *reply.Status.value:
		return reply.Data, nil
	}
	failure := c.failureOf(got)
	failure.kind = ErrInvalidRequest
	return reply.Data, failure
}

// responses returns the reader of all JSON that the service sends. The tags of a struct define how its fields
// are read.
var responses = sync.OnceValue(newReader)

// readerOf returns the reader of the records of a service, with the names of its dialect.
func readerOf(d *dialect.Dialect) *jsonread.Reader {
	names := map[reflect.Type]map[string]string{
		reflect.TypeFor[RegulatoryRequest](): {
			"line_items": d.Record.LineItems, "documents": d.Record.Documents, "charged_amount": d.Record.ChargedAmount,
			"transaction_id": d.Record.TransactionID, "currency": d.Record.Currency, "wallet": d.Record.Wallet,
		},
		reflect.TypeFor[AvailableDocument](): {
			"document_type": d.Offer.DocumentType, "amount": d.Offer.Amount, "currency": d.Offer.Currency, "mode": d.Offer.Mode,
		},
		reflect.TypeFor[PurchasedDocument](): {
			"document_type": d.Document.DocumentType, "amount": d.Offer.Amount, "currency": d.Offer.Currency,
			"mode": d.Offer.Mode,
		},
		reflect.TypeFor[requestWire](): {"request": strings.TrimPrefix(d.Record.At, "[0]")},
	}
	named := false
	for of := range names {
		maps.DeleteFunc(names[of], func(_, name string) bool { return name == "" })
		named = named || len(names[of]) > 0
	}
	if !named {
		return responses()
	}
	return newReader().Rename(names)
}

func newReader() *jsonread.Reader {
	return jsonread.New(
		jsonread.Custom("number", readAmount, func(a *Amount) { *a = Amount{state: amountUnreadable} }),
		jsonread.Raw[RawJSON](),
		jsonread.Custom("", readRequestData, (*requestData).givenTwice),
		jsonread.Custom("", readStatus, func(s *envelopeStatus) { s.several = true }),
	)
}

func readAmount(d *jsonread.Decoder, a *Amount) (read bool) {
	*a = amountOf(d.Raw())
	return a.state != amountUnreadable
}

func readStatus(d *jsonread.Decoder, s *envelopeStatus) (read bool) {
	d.Read(&s.value)
	return true
}

// readJSON reads a part of a response. A value that cannot be read leaves its field zero.
func readJSON(text []byte, into any) error {
	return responses().Read(text, into, jsonread.Options{})
}

// Each element of a list takes the memory of a whole record, however short its text is: a million bytes of "0,0,0"
// would become a gigabyte of rates. So the number of elements is bounded: one for each elementShare bytes that a
// response may have, but at least fewestElements. Documented records are several times longer than elementShare. The
// number of members has the same bound, but at least fewestMembers: a member takes a hundred bytes each time it is
// read.
const (
	elementShare   = 256
	fewestElements = 4096
	fewestMembers  = 1 << 16
)

func maxElements(maxBody int64) int {
	return int(max(fewestElements, min(maxBody/elementShare, 1<<30)))
}

// Do performs an operation that has no method, with the client's authentication, limits on bodies, typed errors and
// tolerant reading of the envelope:
//   - path is relative to the base address, such as "/v1/shipments".
//   - in, unless nil, is sent as JSON.
//   - out, unless nil, gets the envelope's data, with the exact member names of [RawJSON.Decode]. If HTTP defines
//     that a response has no body (HEAD, 204, 205), out is not changed.
//
// GET and HEAD are retried like the client's own reads; other methods only on evidence that nothing was
// sent. The purchase route is never retried: prefer [RegulatoryService.Purchase], which also finds the outcome of a
// lost response. The error is a [*ValidationError] or an [*Error].
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, in, out any, call ...CallOption) error {
	if c == nil || c.core == nil {
		return noClient()
	}
	operation := operations.Operation{Name: "do", Method: strings.ToUpper(method), Retry: operations.Unsent}
	var err error
	if operation.Route, err = routeOf(operation.Method, path); err != nil {
		return err
	}
	if err = checkOut(out); err != nil {
		return err
	}
	switch operation.Method {
	case http.MethodGet, http.MethodHead:
		operation.Retry = operations.Safe
	}
	for _, documented := range c.core.operations {
		if documented.Charges && documented.Method == operation.Method && sameRoute(path, documented.Route) {
			operation.Retry, operation.Charges = operations.Never, true
		}
	}
	call = append(slices.Clip(call), withValues(query))
	_, _, err = fetch(ctx, c.core, request{custom: &operation, body: jsonBody(in), mayBeEmpty: true}, call,
		func(data RawJSON, _ []byte) *Error {
			if out == nil {
				return nil
			}
			if err := data.Decode(out); err != nil {
				return &Error{Data: data, Cause: err, Message: fmt.Sprintf("the data of the response does not fit %T (pass "+
					"another type for out, such as *shipping.RawJSON)", out)}
			}
			return nil
		})
	return err
}

// sameRoute reports whether a path, without escapes and slashes that a server may ignore, is a route.
func sameRoute(requested, route string) bool {
	plain, err := url.PathUnescape(requested)
	return err == nil && path.Clean(plain) == route
}

// checkOut returns an error for a value that encoding/json cannot decode into.
func checkOut(out any) error {
	if v := reflect.ValueOf(out); out != nil && (v.Kind() != reflect.Pointer || v.IsNil()) {
		return invalidRequest("do", "out",
			fmt.Sprintf("is a %T that cannot be read into: pass a pointer, such as &page", out))
	}
	return nil
}

// routeOf returns a path whose segments are escaped; existing escapes stay.
func routeOf(method, path string) (string, error) {
	const operation = "do"
	switch {
	case method == "" || strings.ContainsAny(method, " \t\r\n/"):
		return "", invalidRequest(operation, "method", "is not an HTTP method: pass one such as http.MethodGet")
	case !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//"):
		return "", invalidRequest(operation, "path",
			`must start with one slash, such as "/v1/shipments": the key is sent to the base address only`)
	case strings.ContainsAny(path, "?#"):
		return "", invalidRequest(operation, "path",
			"holds a query or fragment: pass the query as url.Values, and escape path elements with url.PathEscape")
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "." || plain == ".." {
			return "", invalidRequest(operation, "path", `has an element that is ".", ".." or badly escaped`)
		}
		segments[i] = url.PathEscape(plain)
	}
	return strings.Join(segments, "/"), nil
}
