package shipping

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/go-querystring/query"
	"github.com/hashicorp/go-retryablehttp"
)

// request is one call of an operation before it is put on the wire.
type request struct {
	operation string
	// params fill the placeholders of the operation's route.
	params map[string]string
	// options is a flat struct with url tags, or nil.
	options any
	// body is sent as JSON; nil sends none.
	body any
	// mayBeEmpty accepts an answer without a body where HTTP says that it has none.
	mayBeEmpty bool
	// timeout, if positive, shortens the attempt.
	timeout time.Duration
}

// reply is an answer that was received whole.
type reply struct {
	status int
	header http.Header
	body   *buffer
	state  *callState
}

// rawBody is fetched where the answer is no envelope.
type rawBody []byte

// fetch performs a call and decodes the data of its envelope into a T.
func fetch[T any](ctx context.Context, c *core, r request, options []CallOption) (T, *Response, error) {
	settings, err := newCallSettings(options)
	if err != nil {
		var zero T
		return zero, nil, err
	}
	return fetchWith[T](ctx, c, r, &settings)
}

func fetchWith[T any](ctx context.Context, c *core, r request, settings *callSettings) (value T, response *Response, err error) {
	if c == nil {
		return value, nil, ErrNoClient
	}
	operation, err := c.operation(r.operation)
	if err != nil {
		return value, nil, err
	}
	return fetchOperation[T](ctx, c, operation, r, settings)
}

func fetchOperation[T any](ctx context.Context, c *core, operation Operation, r request, settings *callSettings) (value T, response *Response, err error) {
	httpRequest, err := c.newRequest(operation, r, settings)
	if err != nil {
		return value, nil, err
	}
	state := &callState{operation: operation, requestID: r.params[regulatoryRequestID]}
	if c.observer.Start != nil {
		if started := c.observer.Start(ctx, operation); started != nil {
			ctx = started
		}
	}
	if c.observer.Done != nil {
		started := time.Now()
		defer func() { c.observer.Done(ctx, operation, state.attempts, time.Since(started), err) }()
	}
	if r.timeout > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, r.timeout, attemptTimeoutError{timeout: r.timeout})
		defer cancel()
		ctx = bounded
	}
	got, failure := c.exchange(context.WithValue(ctx, stateKey{}, state), state, httpRequest)
	if failure != nil {
		response = &Response{StatusCode: failure.StatusCode, Header: state.header, Body: failure.Body, Attempts: state.attempts}
		fill(settings.response, response)
		return value, response, failure
	}
	defer got.body.release()
	response = &Response{StatusCode: got.status, Header: got.header, Attempts: state.attempts}
	if settings.response != nil {
		response.Body = c.key.Bytes(bytes.Clone(got.body.data))
		fill(settings.response, response)
	}
	if got.status/100 != 2 {
		return value, response, c.failureOf(got)
	}
	if r.mayBeEmpty && (operation.Method == http.MethodHead || got.status == http.StatusNoContent || got.status == http.StatusResetContent) {
		return value, response, nil
	}
	if whole, ok := any(&value).(*rawBody); ok {
		*whole = bytes.Clone(got.body.data)
		return value, response, nil
	}
	value, failure = decodeReply[T](c, got)
	if failure != nil {
		return value, response, failure
	}
	return value, response, nil
}

func fill(into, from *Response) {
	if into != nil {
		*into = *from
	}
}

// newRequest puts the call on paper. Everything that can be wrong with it is found here.
func (c *core) newRequest(operation Operation, r request, settings *callSettings) (*http.Request, error) {
	path, err := expandRoute(operation.Name, operation.Route, r.params)
	if err != nil {
		return nil, err
	}
	values := url.Values{}
	if r.options != nil {
		if values, err = query.Values(r.options); err != nil {
			return nil, invalidRequest(operation.Name, "options", "cannot be written as a query: "+err.Error())
		}
	}
	for name, added := range settings.query {
		values[name] = slices.Concat(values[name], added)
	}
	target, err := c.baseURL.join(path, values)
	if err != nil {
		return nil, invalidRequest(operation.Name, "path", "is not a valid URL path")
	}
	request := &http.Request{
		Method: operation.Method, URL: target, Host: target.Host, Header: make(http.Header, 8),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.userAgent)
	if !operation.Open { // every URL is made by baseURL.join, and redirects are not followed: the key stays on its origin
		request.Header.Set("Authorization", "Bearer "+c.key.Reveal())
	}
	if r.body != nil {
		body, err := json.Marshal(r.body)
		if err != nil {
			return nil, invalidRequest(operation.Name, "body", "cannot be written as JSON: "+err.Error())
		}
		request.Header.Set("Content-Type", "application/json")
		request.ContentLength = int64(len(body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		request.Body, _ = request.GetBody()
	}
	for name, added := range settings.header {
		request.Header[name] = added
	}
	return request, nil
}

// exchange sends the request: once, or in the loop where the operation may repeat.
func (c *core) exchange(ctx context.Context, state *callState, request *http.Request) (*reply, *Error) {
	c.budget.earn()
	request = request.WithContext(ctx)
	var response *http.Response
	var err error
	if state.operation.Retry == RetryNever {
		response, err = c.http.Do(request)
	} else {
		repeatable := &retryablehttp.Request{Request: request}
		if body := request.GetBody; body != nil { // SetBody replaces it on the request
			length := request.ContentLength
			_ = repeatable.SetBody(retryablehttp.ReaderFunc(func() (io.Reader, error) { return body() }))
			repeatable.ContentLength = length
		}
		response, err = c.retrying.Do(repeatable)
	}
	if err != nil {
		return nil, c.broken(ctx, state, err)
	}
	body, ok := response.Body.(*buffer)
	if !ok {
		return nil, c.broken(ctx, state, fmt.Errorf("%w: the transport replaced the body", ErrUnexpectedBody))
	}
	return &reply{status: response.StatusCode, header: response.Header, body: body, state: state}, nil
}

// broken makes the error of a call that ended without a whole answer.
func (c *core) broken(ctx context.Context, state *callState, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // its text would show the query
	}
	if ctx.Err() != nil {
		if state.failure != nil { // it ended while waiting to repeat: the API's error is the news
			state.failure.Cause, state.failure.Attempts = withReason(ctx, context.Cause(ctx)), state.attempts
			return c.redacted(state.failure)
		}
		err = withReason(ctx, err)
	}
	failure := &Error{
		Operation: state.operation.Name, RequestID: state.requestID, Attempts: state.attempts,
		NotRetried: state.notRetried, Cause: err, kind: ErrConnection,
	}
	if partial, ok := errors.AsType[*bodyError](err); ok {
		state.header = partial.header
		failure.StatusCode, failure.Body = partial.status, partial.body
		failure.RetryAfter, _ = retryAfter(partial.header, time.Now())
		failure.kind = ErrTruncated
		if errors.Is(err, ErrBodyTooLarge) {
			failure.kind = ErrBodyTooLarge
		}
	}
	if errors.Is(err, ErrRateLimited) {
		failure.kind = ErrRateLimited
	}
	return c.redacted(failure)
}

// withReason makes sure that an error tells that the context ended, and why.
func withReason(ctx context.Context, err error) error {
	for _, reason := range []error{ctx.Err(), context.Cause(ctx)} {
		if !errors.Is(err, reason) {
			err = fmt.Errorf("%w (%w)", reason, err)
		}
	}
	return err
}
