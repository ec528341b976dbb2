package shipping

import (
	"context"
	"crypto/tls"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// RetryPolicy is how operations that are safe to retry are retried. Zero fields take the defaults.
type RetryPolicy struct {
	// MaxAttempts counts the first attempt too. Default 4; 1 never retries.
	MaxAttempts int
	// MinWait and MaxWait bound the exponential backoff: before the first retry the client waits a
	// random time up to MinWait, before each further one up to twice that of the one before, at most
	// MaxWait ("full jitter"). Defaults 250 ms and 8 s.
	MinWait, MaxWait time.Duration
	// MaxRetryAfter bounds how long a Retry-After header is obeyed. Default 60 s.
	MaxRetryAfter time.Duration
	// AttemptTimeout bounds one attempt, its body included. Default 30 s; negative means no bound.
	AttemptTimeout time.Duration
	// ExtraLoad is the share of retries among all requests that the client allows itself while a
	// service fails, over all its calls together. Default 0.1; negative means no bound.
	ExtraLoad float64
	// Burst is how many retries are allowed before ExtraLoad counts. Default 10.
	Burst int
}

func (p RetryPolicy) withDefaults() (RetryPolicy, error) {
	if p.MaxAttempts < 0 || p.MinWait < 0 || p.MaxWait < 0 || p.MaxRetryAfter < 0 || p.Burst < 0 {
		return p, invalidOption("WithRetryPolicy", "has a negative field: leave it 0 for the default, or set MaxAttempts to 1 to never retry")
	}
	if math.IsNaN(p.ExtraLoad) {
		return p, invalidOption("WithRetryPolicy", "has an ExtraLoad that is no number: 0.1 means one retry for ten requests")
	}
	setDefault(&p.MaxAttempts, 4)
	setDefault(&p.MinWait, 250*time.Millisecond)
	setDefault(&p.MaxWait, max(8*time.Second, p.MinWait))
	setDefault(&p.MaxRetryAfter, time.Minute)
	setDefault(&p.AttemptTimeout, 30*time.Second)
	setDefault(&p.ExtraLoad, 0.1)
	setDefault(&p.Burst, 10)
	for _, wait := range []*time.Duration{&p.MinWait, &p.MaxWait, &p.MaxRetryAfter} {
		*wait = min(*wait, longestWait)
	}
	return p, nil
}

// longestWait bounds every wait that can be set or asked for, so that sums of them cannot overflow.
const longestWait = 365 * 24 * time.Hour

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// backoff is the random wait before the repeat that follows failed attempt n (from 1).
func (p RetryPolicy) backoff(n int) time.Duration {
	ceiling := p.MinWait
	for ; n > 1 && ceiling < p.MaxWait; n-- {
		ceiling *= 2
	}
	return rand.N(min(ceiling, p.MaxWait) + 1)
}

// clamp bounds what a Retry-After header asks for, and gives a 429 without one a short wait.
func (p RetryPolicy) clamp(asked time.Duration) time.Duration {
	if asked <= 0 {
		return p.MinWait
	}
	return min(asked, p.MaxRetryAfter)
}

// retryLoop is the loop for operations that may repeat. All decisions are in decide; the library's
// own policy, backoff and logger are not used.
func (c *core) retryLoop() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient:   c.http,
		RetryMax:     c.policy.MaxAttempts - 1,
		CheckRetry:   c.decide,
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
		PrepareRetry: func(r *http.Request) error { return waitToRepeat(r.Context()) },
	}
}

// waitToRepeat waits here, and not in the library, because the library throws away what the last
// answer was when the context ends.
func waitToRepeat(ctx context.Context) error {
	timer := time.NewTimer(stateOf(ctx).wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// decide tells whether the attempt that just ended is followed by another.
func (c *core) decide(ctx context.Context, response *http.Response, err error) (bool, error) {
	state := stateOf(ctx)
	if ctx.Err() != nil || !transient(state.operation.Retry, response, err) {
		return false, nil
	}
	wait := c.policy.backoff(len(state.attempts))
	if response != nil {
		if asked, ok := retryAfter(response.Header, time.Now()); ok && asked > 0 {
			wait = min(asked, c.policy.MaxRetryAfter) + rand.N(c.policy.MinWait+1)
		}
	}
	deadline, bounded := ctx.Deadline()
	switch {
	case len(state.attempts) >= c.policy.MaxAttempts:
		return false, nil
	case bounded && time.Until(deadline) <= wait:
		state.notRetried = "the deadline would pass first"
		return false, nil
	case !c.budget.take():
		state.notRetried = "the retry budget is spent"
		return false, nil
	}
	state.wait = wait
	if response != nil {
		state.failure, state.header = c.failure(state, response), response.Header
	}
	c.beforeRepeat(ctx, state, wait)
	return true, nil
}

// transient reports whether the outcome may be different next time, and repeating does no harm.
func transient(retry Retry, response *http.Response, err error) bool {
	switch {
	case retry == RetryNever:
		return false
	case retry == RetryUnsent:
		return err != nil && notSent(err) && !permanent(err)
	case err != nil:
		return !permanent(err)
	}
	switch response.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// permanent reports failures that the next attempt would meet again.
func permanent(err error) bool {
	if heldBack(err) {
		return true // the gate said no: limiter or pause, not the network
	}
	if broken, ok := errors.AsType[*bodyError](err); ok {
		return errors.Is(err, ErrBodyTooLarge) || broken.status/100 == 4 && broken.status != http.StatusTooManyRequests
	}
	_, refused := errors.AsType[*tls.CertificateVerificationError](err)
	return refused
}

// retryAfter reads a Retry-After header: seconds, with a fraction too, or any of HTTP's three date
// formats, counted from the answer's own Date so that clocks need not agree. Rubbish is no answer; a
// negative or past value is 0.
func retryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && strings.Trim(value, "+-.0123456789") == "" {
		switch {
		case seconds <= 0:
			return 0, true
		case seconds >= longestWait.Seconds():
			return longestWait, true
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	if date, err := http.ParseTime(value); err == nil {
		if sent, err := http.ParseTime(header.Get("Date")); err == nil {
			now = sent
		}
		return min(max(date.Sub(now), 0), longestWait), true
	}
	return 0, false
}
