// Package transport performs calls over HTTP: attempts with a deadline each, retries within a policy and a
// budget, one pause after a 429 for all calls of a client, bounded bodies, redacted keys, and evidence of whether
// a request was sent.
//
// It does not depend on the operations, the JSON or the errors of the service. A failed response is a [Response]; the
// errors are those of exchanges without a whole response.
package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/redact"
)

// Config is what the calls of one client have in common.
type Config struct {
	// HTTP is the user's client, or nil. Its transport, cookie jar and timeout are used.
	HTTP *http.Client
	// Key is removed from headers and errors.
	Key redact.Key
	// Policy must have its defaults set.
	Policy Policy
	// Limiter may be nil.
	Limiter Limiter
	// MaxBody bounds the body of a response.
	MaxBody int64
}

// Limiter paces attempts.
type Limiter interface {
	Wait(ctx context.Context) error
}

// Call is a request, and how to send it.
type Call struct {
	Method string
	URL    *url.URL
	Header http.Header
	// Body is sent with each attempt; nil sends none.
	Body  []byte
	Retry operations.Retry
	Hooks Hooks
}

// Hooks are called as a call proceeds, by one goroutine.
type Hooks interface {
	// Header is called before each attempt, which counts from 1, and returns headers to add to it. An error holds the
	// attempt back.
	Header(ctx context.Context, attempt int) (http.Header, error)
	// Attempted is called after each attempt.
	Attempted(context.Context, Attempt)
	// Retrying is called before the call waits for the next attempt.
	Retrying(ctx context.Context, wait time.Duration)
	// NotRetried is called if a failure that could have been retried ends the call.
	NotRetried(reason string)
}

// Attempt is one attempt to send a request.
type Attempt struct {
	StatusCode int         // 0 if no response came
	Header     http.Header // nil if no response came
	Duration   time.Duration
	Err        error // nil if a whole response came
}

// Response is a response that was received whole.
type Response struct {
	StatusCode int
	Header     http.Header
	// Body is valid until Release.
	Body []byte
	// Truncated is true if Body is only the start of the body of a failed response.
	Truncated bool

	buffers *buffers
}

// Release returns the memory of the body.
func (r *Response) Release() {
	if r != nil {
		r.buffers.put(r.Body)
		r.Body = nil
	}
}

// Client sends the calls of one client of the service.
type Client struct {
	config  Config
	http    http.Client // without its transport, which each call replaces
	next    http.RoundTripper
	own     bool            // next was made by the client; see [sending.sendOnce]
	plain   *http.Transport // next, if it is one
	timeout TimeoutError    // of an attempt; not limited if 0 or less
	pause   pause
	budget  budget
	buffers buffers
}

// New returns a client. The user's HTTP client is copied and never changed.
func New(config Config) *Client {
	c := &Client{config: config, budget: budget{tokens: float64(config.Policy.Burst)}}
	c.timeout = TimeoutError{After: config.Policy.AttemptTimeout, Of: "AttemptTimeout of the retry policy"}
	if config.HTTP != nil {
		c.http = *config.HTTP
	}
	if t := c.http.Timeout; t > 0 && (c.timeout.After <= 0 || t < c.timeout.After) {
		c.timeout = TimeoutError{After: t, Of: "Timeout of the http.Client"}
	}
	c.http.Timeout = 0 // it would include the wait for the limiter
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.next = c.http.Transport
	if plain, ok := c.next.(*http.Transport); c.next == nil || ok && plain == nil {
		c.next, c.own = defaultTransport()
	}
	c.plain, _ = c.next.(*http.Transport)
	return c
}

// IsForeign reports whether the transport is neither the client's own nor an *http.Transport.
func (c *Client) IsForeign() bool { return c.plain == nil }

// maxHeaderBytes bounds the headers of a response, interim responses included. net/http's own bound is ten
// times that.
const maxHeaderBytes = 1 << 20

// defaultTransport returns a copy of http.DefaultTransport without the protocols of RegisterProtocol, with smaller
// headers and a pool that fits a window of pages. The copy is not the client's own if the program has set TLSNextProto.
// If http.DefaultTransport has another type, it is returned itself, and is not the client's own.
func defaultTransport() (next http.RoundTripper, own bool) {
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport, false
	}
	copied := shared.Clone()
	copied.MaxIdleConnsPerHost = 32
	copied.MaxResponseHeaderBytes = maxHeaderBytes
	return copied, copied.TLSNextProto == nil
}

// Do performs a call. It returns the response of the last attempt, or the reason why that attempt has none. If ctx
// ended, it returns the reason, and the last response that was retried, if any.
func (c *Client) Do(ctx context.Context, call Call) (*Response, error) {
	c.budget.earn(c.config.Policy)
	s := &sending{client: c, retry: call.Retry, hooks: call.Hooks, http: c.http}
	s.http.Transport = s
	s.loop = retryablehttp.Client{
		HTTPClient: &s.http, RetryMax: s.maxRetries(), CheckRetry: s.decide,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
		Backoff:      func(wait, _ time.Duration, _ int, _ *http.Response) time.Duration { return wait }, // which decide has set
	}
	s.request.Request = (&http.Request{
		Method: call.Method, URL: call.URL, Host: call.URL.Host, Header: call.Header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if c.http.Jar != nil { // http.Client adds the cookies to the header of each attempt
		s.request.Header = call.Header.Clone()
		s.loop.PrepareRetry = func(r *http.Request) error {
			r.Header = call.Header.Clone()
			return nil
		}
	}
	if call.Body != nil {
		_ = s.request.SetBody(call.Body) // fails for other types only
	}
	_, err := s.loop.Do(&s.request)
	if err == nil {
		s.last.Release()
		return s.response, nil
	}
	_, attempted := err.(*url.Error) // or ctx ended during the wait for a retry
	err = attemptError(err)
	if ctx.Err() == nil {
		s.last.Release()
		return nil, err
	}
	if err == ctx.Err() {
		err = foreign(context.Cause(ctx))
	}
	if !attempted && s.retry == operations.Unsent {
		err = &unsentError{err, true} // earlier attempts have sent nothing
	}
	return s.last, err
}

// attemptError returns what RoundTrip returned, without the error of [http.Client] around it, whose text shows
// the query.
func attemptError(err error) error {
	if wrapped, ok := err.(*url.Error); ok {
		return wrapped.Err
	}
	return err
}

// sending is a call while it is performed. It is the transport of an HTTP client and a retry loop for this call,
// so that each attempt knows its call. No other goroutine uses it.
//
// go-retryablehttp provides the loop, the wait and the copies of the request. This package
// decides which attempts are retried, and when; see retry.go.
type sending struct {
	client  *Client
	retry   operations.Retry
	hooks   Hooks
	http    http.Client
	loop    retryablehttp.Client
	request retryablehttp.Request

	attempts int
	response *Response // of the last attempt, or nil
	last     *Response // the last response that was retried
}

// RoundTrip makes one attempt. [http.Client] calls it, and adds cookies and keeps those of the response.
func (s *sending) RoundTrip(r *http.Request) (*http.Response, error) {
	s.response = nil
	ctx := r.Context()
	if err := s.client.admit(ctx); err != nil {
		return nil, &unsentError{err, true}
	}
	added, err := s.hooks.Header(ctx, s.attempts+1)
	if err != nil {
		return nil, &unsentError{err, true}
	}
	started := time.Now()
	r = withHeader(r, added)
	response, err := s.attempt(r)
	s.attempts++
	s.hooks.Attempted(ctx, s.ended(time.Since(started), err))
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusTooManyRequests {
		requested, _ := RetryAfter(response.Header, time.Now())
		s.client.pause.extend(s.client.config.Policy.clamp(requested))
	}
	removeBrokenLocation(r, response)
	return response, nil
}

// ended returns the attempt that has just ended.
func (s *sending) ended(took time.Duration, err error) Attempt {
	attempt := Attempt{Duration: took, Err: err}
	if partial, ok := Partial(err); ok {
		attempt.StatusCode, attempt.Header = partial.StatusCode, partial.Header
	} else if err == nil && s.response != nil {
		attempt.StatusCode, attempt.Header = s.response.StatusCode, s.response.Header
	}
	return attempt
}

// withHeader returns a copy of the request with added headers, because retries share the header; without any, the
// request itself.
func withHeader(r *http.Request, added http.Header) *http.Request {
	if len(added) == 0 {
		return r
	}
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	for name, values := range added {
		if len(values) > 0 { // a name without values would remove the header
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return r
}

// admit holds an attempt back during the pause after a 429, and until the limiter admits it.
func (c *Client) admit(ctx context.Context) error {
	if err := c.pause.wait(ctx, c.config.Policy); err != nil {
		return err
	}
	if c.config.Limiter != nil {
		if err := c.config.Limiter.Wait(ctx); err != nil {
			return limiterError{err}
		}
	}
	return context.Cause(ctx)
}

// attempt sends the request once and receives the response, within AttemptTimeout.
func (s *sending) attempt(r *http.Request) (*http.Response, error) {
	send := s.receive
	if s.retry != operations.Safe {
		send = s.sendOnce
	}
	if s.client.timeout.After <= 0 {
		return send(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.client.timeout.After)
	defer cancel() // the body is in memory by then
	response, err := send(r.WithContext(ctx))
	if err != nil && ctx.Err() != nil && r.Context().Err() == nil {
		late := s.client.timeout // a copy: each attempt has its own evidence
		late.evidence = evidenceIn(err)
		return nil, &late
	}
	return response, err
}

// removeBrokenLocation removes a Location that is not a URL. Redirects are not followed, but net/http would discard the
// whole response.
func removeBrokenLocation(r *http.Request, response *http.Response) {
	if response.StatusCode/100 != 3 {
		return
	}
	if _, err := r.URL.Parse(response.Header.Get("Location")); err != nil {
		response.Header.Del("Location")
	}
}

const (
	maxFailedBody   = 1 << 20  // read of a response that is not a 2xx
	maxPartialBody  = 64 << 10 // kept of a body that ends early
	maxPooledBody   = 4 << 20  // a larger buffer is not reused
	unannouncedBody = 16 << 10 // first size of a buffer for a compressed or chunked body
	trustedLength   = 1 << 20  // the most that is allocated for an announced length
)

// receive sends the request to the transport and reads the body of the response within the attempt, so that
// a body that is cut off counts as a failed attempt. Neither the response nor the error shows the key.
func (s *sending) receive(r *http.Request) (*http.Response, error) {
	c := s.client
	response, err := c.next.RoundTrip(r)
	switch {
	case err != nil:
		return nil, c.config.Key.Error(foreign(err)) // net/http quotes text that it cannot parse
	case response == nil:
		return nil, errors.New("the transport returned neither a response nor an error")
	case response.Body == nil:
		response.Body = http.NoBody
	case response.StatusCode == http.StatusSwitchingProtocols:
		// The body is the connection itself, which was not requested, and which no context bounds.
		_ = response.Body.Close()
		response.Body = http.NoBody
	}
	limit, failed := c.config.MaxBody, response.StatusCode/100 != 2
	if failed {
		limit = min(limit, maxFailedBody)
	}
	body, err := c.buffers.read(response.Body, response.ContentLength, limit)
	_ = response.Body.Close() // an error loses nothing
	response.Body, response.Header = http.NoBody, c.config.Key.Header(response.Header)
	if err != nil && !(failed && errors.Is(err, ErrBodyTooLarge)) {
		partial := c.config.Key.Start(body, maxPartialBody)
		c.buffers.put(body)
		return nil, &BodyError{response.StatusCode, response.Header, partial, c.config.Key.Error(err)}
	}
	s.response = &Response{
		StatusCode: response.StatusCode, Header: response.Header, Body: body, Truncated: err != nil, buffers: &c.buffers,
	}
	return response, nil
}

// buffers are the buffers for bodies of one client.
type buffers struct{ pool sync.Pool }

// get returns an empty buffer of at least some capacity.
func (b *buffers) get(capacity int) []byte {
	if pooled, ok := b.pool.Get().(*[]byte); ok && cap(*pooled) >= capacity {
		return *pooled
	}
	return make([]byte, 0, capacity)
}

func (b *buffers) put(data []byte) {
	if c := cap(data); c > 0 && c <= maxPooledBody {
		data = data[:0]
		b.pool.Put(&data)
	}
}

// read reads r to its end, at most limit bytes, into a buffer of the announced length. With an error, it also returns
// the bytes read so far.
func (b *buffers) read(r io.Reader, announced, limit int64) ([]byte, error) {
	most := limit
	if announced > limit {
		limit = min(limit, maxPartialBody) // only a start of it, for the error
	}
	capacity := unannouncedBody
	if announced > 0 {
		capacity = int(min(announced, trustedLength)) + 1 // the last read needs room, too
	}
	data := b.get(capacity)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, int(min(int64(len(data)), limit-int64(len(data))+1)))
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return data[:limit], tooLargeError(most)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return data, truncatedError{err}
		}
	}
}
