package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/wait"
)

// Policy bounds the retries of a client. Its fields are those of shipping.RetryPolicy, which describes them.
type Policy struct {
	MaxAttempts                                     int
	MinWait, MaxWait, MaxRetryAfter, AttemptTimeout time.Duration
	ExtraLoad                                       float64
	Burst                                           int
}

// LongestWait bounds every wait that can be set or requested, so that sums of them cannot overflow.
const LongestWait = 365 * 24 * time.Hour

// WithDefaults returns the policy with its zero fields set and its waits bounded. Only AttemptTimeout and ExtraLoad may
// be negative.
func (p Policy) WithDefaults() Policy {
	p.MaxAttempts = cmp.Or(p.MaxAttempts, 4)
	p.MinWait = cmp.Or(p.MinWait, 250*time.Millisecond)
	p.MaxWait = cmp.Or(p.MaxWait, max(8*time.Second, p.MinWait))
	p.MaxRetryAfter = cmp.Or(p.MaxRetryAfter, time.Minute)
	p.AttemptTimeout = cmp.Or(p.AttemptTimeout, 30*time.Second)
	p.ExtraLoad = cmp.Or(p.ExtraLoad, 0.1)
	p.Burst = cmp.Or(p.Burst, 10)
	for _, wait := range []*time.Duration{&p.MinWait, &p.MaxWait, &p.MaxRetryAfter} {
		*wait = min(*wait, LongestWait)
	}
	return p
}

// backoff is the random wait before the retry that follows failed attempt n (from 1): exponential backoff
// with full jitter.
func (p Policy) backoff(n int) time.Duration {
	ceiling := p.MinWait
	for ; n > 1 && ceiling < p.MaxWait; n-- {
		ceiling *= 2
	}
	return rand.N(min(ceiling, p.MaxWait) + 1)
}

// clamp bounds the wait of a Retry-After header. For a 429 without one it returns a short wait.
func (p Policy) clamp(requested time.Duration) time.Duration {
	if requested <= 0 {
		return p.MinWait
	}
	return min(requested, p.MaxRetryAfter)
}

func (s *sending) maxRetries() int {
	if s.retry == operations.Never {
		return 0
	}
	return s.client.config.Policy.MaxAttempts - 1
}

// decide reports whether another attempt follows the one that just ended, and when.
func (s *sending) decide(ctx context.Context, _ *http.Response, err error) (bool, error) {
	policy := s.client.config.Policy
	if ctx.Err() != nil || !s.retryable(attemptError(err)) || s.attempts > s.maxRetries() {
		return false, nil
	}
	wait := policy.backoff(s.attempts)
	if s.response != nil {
		if requested, ok := RetryAfter(s.response.Header, time.Now()); ok && requested > 0 {
			wait = min(requested, policy.MaxRetryAfter) + rand.N(policy.MinWait+1)
		}
	}
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) <= wait {
		s.hooks.NotRetried("the deadline would pass first")
		return false, nil
	}
	if !s.client.budget.take(policy) {
		s.hooks.NotRetried("most requests of this program are failing")
		return false, nil
	}
	s.loop.RetryWaitMin = wait
	if s.response != nil {
		s.last.Release()
		s.last = s.response
	}
	s.hooks.Retrying(ctx, wait)
	return true, nil
}

// retryable reports whether the attempt may be followed by another.
func (s *sending) retryable(err error) bool {
	if HeldBack(err) {
		return false // the pause or the limiter would hold it back again
	}
	retryable := Retryable(statusOf(s.response, err), err)
	switch s.retry {
	case operations.Safe:
		return retryable
	case operations.Unsent:
		return retryable && NotSent(err)
	}
	return false
}

// budget bounds the retries of a client to a share of its requests, so that retries cannot amplify an outage.
type budget struct {
	mu     sync.Mutex
	tokens float64 // at most Burst of the policy
}

// earn counts a first attempt.
func (b *budget) earn(policy Policy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+policy.ExtraLoad, float64(policy.Burst))
}

// take spends one retry, if one is left.
func (b *budget) take(policy Policy) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if policy.ExtraLoad < 0 {
		return true
	}
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// RetryAfter reads a Retry-After header: seconds, with a fraction too, or any of HTTP's three date formats, counted
// from the response's own Date so that clocks need not agree. It returns false for a header that it cannot read. A
// negative or past value is 0.
func RetryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && strings.Trim(value, "+-.0123456789") == "" {
		switch {
		case seconds <= 0:
			return 0, true
		case seconds >= LongestWait.Seconds():
			return LongestWait, true
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	if date, err := http.ParseTime(value); err == nil {
		if sent, err := http.ParseTime(header.Get("Date")); err == nil {
			now = sent
		}
		return min(max(date.Sub(now), 0), LongestWait), true
	}
	return 0, false
}

// pause is the pause of a client after a 429. Every attempt waits for its end, so that all calls obey a Retry-After.
type pause struct {
	mu    sync.Mutex
	until time.Time
}

// extend pauses for d from now, unless the pause lasts longer already.
func (p *pause) extend(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}

func (p *pause) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.until.IsZero() {
		return 0
	}
	return time.Until(p.until)
}

// wait returns at a random time soon after the pause, so that the waiting calls do not start all at once. If the pause
// would outlast the deadline of ctx, wait returns a [PausedError] at once.
func (p *pause) wait(ctx context.Context, policy Policy) error {
	for {
		left := p.left()
		if left <= 0 {
			return nil
		}
		err := wait.Sleep(ctx, left+rand.N(policy.MinWait/4+1))
		switch {
		case err == nil: // an attempt may have extended the pause
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			return &PausedError{left}
		}
	}
}

// Retryable reports whether the same request may succeed later. It is the one classification of failures,
// for the retries of a call, for polls and for batches:
//
//	failure                                                                    retryable
//	whole response: 408, 425, 429, 5xx except 501 and 505                      yes
//	any other whole response                                                   no
//	body cut off: a 2xx, or one of the statuses above                          yes
//	body cut off: any other status                                             no
//	body too large                                                             no
//	no response: refused certificate, TLS and plain HTTP mixed up, an address
//	that cannot be dialled                                                     no
//	no response: anything else                                                 yes
//
// It does not report whether a retry is safe; see [operations.Retry].
//
// status is 0 if no response came. err is what ended the exchange, and is ignored if a whole response came.
func Retryable(status int, err error) bool {
	if partial, ok := errors.AsType[*BodyError](err); ok {
		return !errors.Is(err, ErrBodyTooLarge) && (partial.StatusCode/100 == 2 || mayPass(partial.StatusCode))
	}
	if status != 0 {
		return mayPass(status)
	}
	return err != nil && !permanent(err)
}

// mayPass reports whether a later response may have another status.
func mayPass(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status/100 == 5
}

// permanent reports whether a retry cannot fix a failure: a wrong address, or a refused certificate.
func permanent(err error) bool {
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	_, address := errors.AsType[*net.AddrError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	return refused || address || notTLS || errors.Is(err, http.ErrSchemeMismatch) || SpeaksTLS(err)
}

// SpeaksTLS reports whether the response to a request without TLS was a TLS alert. net/http has no type for
// it, and quotes the first bytes of the response.
func SpeaksTLS(err error) bool {
	return err != nil && strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`)
}

// statusOf returns the status of an attempt, 0 if no response came.
func statusOf(response *Response, err error) int {
	if partial, ok := Partial(err); ok {
		return partial.StatusCode
	}
	if err != nil || response == nil {
		return 0
	}
	return response.StatusCode
}
