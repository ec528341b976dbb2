// Package transport performs calls over HTTP: attempts with a deadline each, retries within a policy and a
// budget, one pause after a 429 for all calls of a client, bounded bodies, redacted keys, and evidence of whether
// a request was sent.
//
// It does not know the service: neither its operations, its JSON nor its errors. A failed response is a
// [Response]; the errors are those of exchanges without a whole response.
package transport

import (
	"context"
	"net/http"
	"net/url"
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
	// Attempted is called after each attempt.
	Attempted(context.Context, Attempt)
	// Retrying is called before the call waits for the next attempt.
	Retrying(ctx context.Context, wait time.Duration)
	// NotRetried is called if a failure that could have been retried ends the call.
	NotRetried(reason string)
}

// Attempt is one request that was sent, or was to be sent.
type Attempt struct {
	StatusCode int // 0 if no response came
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
	timeout time.Duration   // of an attempt; not limited if 0 or less
	pause   pause
	budget  budget
	buffers buffers
}

// New returns a client. The user's HTTP client is copied and never changed.
func New(config Config) *Client {
	c := &Client{config: config, timeout: config.Policy.AttemptTimeout, budget: newBudget(config.Policy)}
	if config.HTTP != nil {
		c.http = *config.HTTP
	}
	if t := c.http.Timeout; t > 0 && (c.timeout <= 0 || t < c.timeout) {
		c.timeout = t
	}
	c.http.Timeout = 0 // it would count the wait for the limiter as part of the attempt
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.next = c.http.Transport
	if plain, ok := c.next.(*http.Transport); c.next == nil || ok && plain == nil {
		c.next, c.own = defaultTransport()
	}
	c.plain, _ = c.next.(*http.Transport)
	return c
}

// maxHeaderBytes bounds the headers of a response, interim responses included. net/http's own bound is ten
// times that.
const maxHeaderBytes = 1 << 20

// defaultTransport returns a copy of net/http's own, with a pool that fits a window of pages and smaller headers. A copy
// has none of the protocols that were registered with RegisterProtocol. It is not the client's own if the program has set
// TLSNextProto, or has replaced net/http's own by another RoundTripper, which is used as it is.
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

// Do performs a call. It returns the response of the last attempt, or the reason why that attempt has none. If
// ctx ended, it returns the last response that was retried beside the reason, if there was one.
func (c *Client) Do(ctx context.Context, call Call) (*Response, error) {
	c.budget.earn()
	s := &sending{client: c, retry: call.Retry, hooks: call.Hooks, http: c.http}
	s.http.Transport = s
	s.loop = retryablehttp.Client{
		HTTPClient: &s.http, RetryMax: s.maxRetries(), CheckRetry: s.decide, Backoff: s.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
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
		err = &unsentError{err, true} // it is retried only after attempts that sent nothing
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
	wait     time.Duration // before the next attempt
	response *Response     // of the last attempt, nil if it had none
	last     *Response     // the last that was retried
}

// RoundTrip makes one attempt. [http.Client] calls it, and adds cookies and keeps those of the response.
func (s *sending) RoundTrip(r *http.Request) (*http.Response, error) {
	s.response = nil
	ctx := r.Context()
	if err := s.client.admit(ctx); err != nil {
		return nil, &unsentError{err, true}
	}
	started := time.Now()
	response, err := s.attempt(r)
	s.attempts++
	s.hooks.Attempted(ctx, Attempt{StatusCode: statusOf(s.response, err), Duration: time.Since(started), Err: err})
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

// attempt sends the request once and receives the response, within the time of an attempt.
func (s *sending) attempt(r *http.Request) (*http.Response, error) {
	send := s.receive
	if s.retry != operations.Safe {
		send = s.sendOnce
	}
	if s.client.timeout <= 0 {
		return send(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.client.timeout)
	defer cancel() // the body is in memory by then
	response, err := send(r.WithContext(ctx))
	if err != nil && ctx.Err() != nil && r.Context().Err() == nil {
		return nil, &TimeoutError{s.client.timeout, evidenceIn(err)}
	}
	return response, err
}

// removeBrokenLocation removes a Location that is not a URL. Redirects are not followed, but net/http would
// discard the whole response because of it.
func removeBrokenLocation(r *http.Request, response *http.Response) {
	if response.StatusCode/100 != 3 {
		return
	}
	if _, err := r.URL.Parse(response.Header.Get("Location")); err != nil {
		response.Header.Del("Location")
	}
}
