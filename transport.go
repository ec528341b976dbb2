package shipping

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// singleAttempt returns the HTTP client that makes one attempt. Its transport is a chain of small
// handlers, put together here and nowhere else; a request goes through them from top to bottom.
func (c *core) singleAttempt(user *http.Client) (*http.Client, time.Duration) {
	client := http.Client{}
	if user != nil {
		client = *user
	}
	timeout := c.policy.AttemptTimeout
	if client.Timeout > 0 && (timeout <= 0 || client.Timeout < timeout) {
		timeout = client.Timeout
	}
	client.Timeout = 0 // it would count waiting at the gate as part of the attempt
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	var chain http.RoundTripper = client.Transport
	if chain == nil {
		chain = defaultTransport()
	}
	own, _ := chain.(*http.Transport)
	for _, wrap := range []func(http.RoundTripper) http.RoundTripper{ // innermost first
		func(next http.RoundTripper) http.RoundTripper { return bodyReader{next, c.maxBody, newBufferPool()} },
		func(next http.RoundTripper) http.RoundTripper { return redactor{next, c.key} },
		func(next http.RoundTripper) http.RoundTripper { return sendOnce{next, own} },
		func(next http.RoundTripper) http.RoundTripper { return attemptDeadline{next, timeout} },
		func(next http.RoundTripper) http.RoundTripper { return recorder{next, c} },
		func(next http.RoundTripper) http.RoundTripper { return gate{next, c.pause, c.limiter, c.policy} },
		func(next http.RoundTripper) http.RoundTripper { return redirectKeeper{next} },
	} {
		chain = wrap(chain)
	}
	// The outermost handler has no CloseIdleConnections method, so a failed call in the retry loop
	// cannot throw the connection pool away.
	client.Transport = chain
	return &client, timeout
}

// maxHeaderBytes bounds the headers of an answer, interim answers included; net/http's own bound is ten
// times that, and a service that sends so much means no good.
const maxHeaderBytes = 1 << 20

// defaultTransport is net/http's own, with a pool that fits a window of pages and less room for headers.
func defaultTransport() http.RoundTripper {
	shared, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	own := shared.Clone()
	own.MaxIdleConnsPerHost = 32
	own.MaxResponseHeaderBytes = maxHeaderBytes
	return own
}

// redirectKeeper removes a Location that is no address. Redirects are not followed, yet net/http would
// throw the whole answer away over it.
type redirectKeeper struct{ next http.RoundTripper }

func (k redirectKeeper) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := k.next.RoundTrip(r)
	if err == nil && response.StatusCode/100 == 3 {
		if _, broken := r.URL.Parse(response.Header.Get("Location")); broken != nil {
			response.Header.Del("Location")
		}
	}
	return response, err
}

// gate holds an attempt back while the service asked everybody to pause, and until the limiter lets
// it pass.
type gate struct {
	next    http.RoundTripper
	pause   *sharedPause
	limiter Limiter
	policy  RetryPolicy
}

func (g gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.pause.wait(r.Context(), g.policy); err != nil {
		return nil, unsentError{err, true}
	}
	if g.limiter != nil {
		if err := g.limiter.Wait(r.Context()); err != nil {
			return nil, unsentError{fmt.Errorf("limiter: %w", err), true}
		}
	}
	if r.Context().Err() != nil {
		return nil, unsentError{context.Cause(r.Context()), true}
	}
	response, err := g.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusTooManyRequests {
		asked, _ := retryAfter(response.Header, time.Now())
		g.pause.extend(g.policy.clamp(asked), asked)
	}
	return response, err
}

// unsentError marks a failure before any of the request was handed to the network. It is the only
// evidence of that: the text and type of an error that a transport returns prove nothing.
type unsentError struct {
	error
	// heldBack is true if the client itself rejected the request.
	heldBack bool
}

func (e unsentError) Unwrap() error { return e.error }

// attemptDeadline bounds one attempt, its body included. It tells its own end from the caller's.
type attemptDeadline struct {
	next    http.RoundTripper
	timeout time.Duration
}

func (d attemptDeadline) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.timeout <= 0 {
		return d.next.RoundTrip(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), d.timeout)
	defer cancel() // the body is in memory by then
	response, err := d.next.RoundTrip(r.WithContext(ctx))
	if err != nil && ctx.Err() != nil && r.Context().Err() == nil {
		return nil, attemptTimeoutError{d.timeout, evidenceIn(err)}
	}
	return response, err
}

// attemptTimeoutError is not a context error: the caller's context is still alive.
type attemptTimeoutError struct {
	timeout  time.Duration
	evidence error
}

func (e attemptTimeoutError) Error() string {
	return "no complete answer within " + e.timeout.String()
}

// Timeout makes it a net.Error in kind.
func (e attemptTimeoutError) Timeout() bool { return true }

// Unwrap returns the evidence.
func (e attemptTimeoutError) Unwrap() error { return e.evidence }

// evidenceIn keeps of a failed attempt what is known about the request, and nothing that looks like
// the end of the caller's context.
func evidenceIn(err error) error {
	if partial, ok := errors.AsType[*bodyError](err); ok {
		return &bodyError{partial.status, partial.header, partial.body, ErrTruncated}
	}
	if notSent(err) {
		return unsentError{error: errNoConnection}
	}
	return nil
}

var errNoConnection = errors.New("no connection was established")

// heldBack reports that the client itself did not hand the request to the network.
func heldBack(err error) bool {
	unsent, ok := errors.AsType[unsentError](err)
	return ok && unsent.heldBack
}

// notSent reports positive evidence that nothing reached the service: the client held the request back, or
// its own transport did not establish a connection to the service or the proxy. The absence of other
// evidence proves nothing.
func notSent(err error) bool {
	_, ok := errors.AsType[unsentError](err)
	return ok
}
