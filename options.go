package shipping

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/transport"
)

const (
	userAgent               = "shipping-go/0.1.0"
	defaultMaxResponseBytes = 64 << 20
)

// Option configures a [Client]; see the With functions. A nil Option, or one with a nil argument, changes nothing.
type Option func(*settings)

type settings struct {
	address        string
	addressSource  string // WithBaseURL if empty
	plainHTTP      bool
	httpClient     *http.Client
	policy         RetryPolicy
	log            callLog // nil logs nothing
	limiter        transport.Limiter
	maxBody        int64
	observer       Observer
	drift          func(operation string, found []Drift) // nil reports nothing
	dialect        *dialect.Dialect
	dialectProblem error
	refusals       dialect.Refusal  // of the dialect, with defaults
	reader         *jsonread.Reader // of records, under the names of the dialect
}

// WithBaseURL sets the service's base address, such as https://api.example.com. It is required. A trailing
// slash and a trailing /v1 are accepted and make no difference; another version at the end is refused.
func WithBaseURL(address string) Option {
	return func(s *settings) { s.address, s.addressSource = address, "" }
}

// WithPlainHTTP allows an http:// base address on a public host. Without it http:// is accepted only
// for hosts that cannot be public (loopback and private addresses, names without a dot, .test, .local,
// .internal and similar domains), because the key travels with every request.
func WithPlainHTTP() Option { return func(s *settings) { s.plainHTTP = true } }

// WithHTTPClient sets the HTTP client whose transport, cookie jar and timeout are used. The
// client works on a copy and never changes it. Redirects are not followed, whatever its CheckRedirect is, and its
// Timeout bounds a single attempt.
//
// Only with a plain *http.Transport can the client prove that nothing was sent: no connection was established, and
// nothing read the request's body, not even a RoundTripper registered with the transport
// ([http.Transport.RegisterProtocol]). Any other RoundTripper may send a request several times, so a failed connection
// is treated as a lost response: an operation that changes something is not retried, and a purchase is read back.
func WithHTTPClient(client *http.Client) Option { return func(s *settings) { s.httpClient = client } }

// WithRetryPolicy sets how safe operations are retried. Zero fields keep their defaults.
func WithRetryPolicy(policy RetryPolicy) Option { return func(s *settings) { s.policy = policy } }

// WithLogger logs attempts (debug), retries (warn) and failed calls (warn, or debug if the context was cancelled).
// An entry has the operation, status, duration, the ids of the regulatory request and the response, and in a batch
// the key of the item, but never a secret key, a query or a body. The default logs nothing.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) {
		if logger != nil {
			s.log = logTo(logger)
		}
	}
}

// WithLimiter makes every attempt wait for limiter before it is sent. Its Wait blocks until a request may be sent, or
// returns an error if ctx ends first. A *rate.Limiter of golang.org/x/time/rate is a limiter.
func WithLimiter(limiter interface {
	Wait(ctx context.Context) error
}) Option {
	return func(s *settings) { s.limiter = limiter }
}

// WithMaxResponseBytes bounds the size of a response body after decompression; a larger one is [ErrBodyTooLarge].
// The default is 64 MiB. It also bounds the memory of a response: its lists may have one element for each 256 bytes
// of the limit, or 4,096 if that is more.
func WithMaxResponseBytes(n int64) Option { return func(s *settings) { s.maxBody = n } }

// WithObserver sets hooks for metrics and tracing, called at the start of each call, before and after each attempt,
// before each retry and at the end.
func WithObserver(observer Observer) Option { return func(s *settings) { s.observer = observer } }

// WithDriftReport calls report, with the name of the operation, for each response that differs from the specification:
// unknown fields, missing fields, and values of another type. report may be called concurrently. A response without
// differences takes no longer to read; a list in which each record has several takes about twice as long.
func WithDriftReport(report func(operation string, found []Drift)) Option {
	return func(s *settings) { s.drift = report }
}

// WithDialect sets the choices of the service at the open points of the specification: the names of members, the
// routes of UpdateItems, UpdateAddresses, UpdateShipping, UpdateProfile, Retry and PDF, and more. Without a route such
// an operation sends nothing, and returns a [*ValidationError]. What the dialect does not set stays as it is.
// [dialect.Read] reads a file. The dialect must not be changed later.
func WithDialect(d *dialect.Dialect) Option {
	return func(s *settings) {
		if s.dialect == nil {
			s.dialect = new(dialect.Dialect)
		}
		s.dialect.Overlay(d)
		// Called here, so that a program without a dialect does not link them.
		s.dialectProblem, s.reader, s.refusals = s.dialect.Check(), readerOf(s.dialect), s.dialect.Resolved().Refusal
	}
}

// RetryPolicy bounds the retries of operations that are safe to retry. Zero fields take the defaults.
type RetryPolicy struct {
	// MaxAttempts counts the first attempt too. Default 4; 1 never retries.
	MaxAttempts int
	// MinWait and MaxWait bound the exponential backoff: the client waits a random time of at most MinWait before the
	// first retry. This maximum doubles with each retry, up to MaxWait ("full jitter"). Defaults 250 ms and 8 s.
	MinWait, MaxWait time.Duration
	// MaxRetryAfter bounds how long a Retry-After header is obeyed. Default 60 s.
	MaxRetryAfter time.Duration
	// AttemptTimeout bounds one attempt, its body included. Default 30 s; negative means no bound.
	AttemptTimeout time.Duration
	// ExtraLoad is the share of retries among all requests of the client while a service fails. Default 0.1; negative
	// means no bound.
	ExtraLoad float64
	// Burst is how many retries are allowed before ExtraLoad applies. Default 10.
	Burst int
}

// withoutUnit returns a problem if a duration is below 1 µs, probably a number that was written without a unit; or "".
func withoutUnit(names string, durations ...time.Duration) string {
	for i, name := range strings.Fields(names) {
		if d := durations[i]; d > 0 && d < time.Microsecond {
			return fmt.Sprintf("has the %s %s: write it with a unit, such as %d*time.Second", name, d, d.Nanoseconds())
		}
	}
	return ""
}

func (p RetryPolicy) withDefaults() (RetryPolicy, error) {
	if p.MaxAttempts < 0 || p.MinWait < 0 || p.MaxWait < 0 || p.MaxRetryAfter < 0 || p.Burst < 0 {
		return p, invalidOption("WithRetryPolicy",
			"has a negative field: leave it 0 for the default, or set MaxAttempts to 1 to never retry")
	}
	if problem := withoutUnit("AttemptTimeout", p.AttemptTimeout); problem != "" {
		return p, invalidOption("WithRetryPolicy", problem)
	}
	if math.IsNaN(p.ExtraLoad) {
		return p, invalidOption("WithRetryPolicy",
			"has an ExtraLoad that is not a number: 0.1 means one retry for ten requests")
	}
	return RetryPolicy(transport.Policy(p).WithDefaults()), nil
}

// CallOption configures a single call; see [WithHeader], [WithQuery] and [WithResponse].
type CallOption func(*callSettings)

type callSettings struct {
	header   http.Header
	query    url.Values
	response *Response
	invalid  error
}

// ValidateShared returns a [*ValidationError] if a call would refuse the option, or if concurrent calls cannot
// share it: [WithResponse] stores one response. Package batch checks its options with it.
func (o CallOption) ValidateShared() error {
	s, err := newCallSettings([]CallOption{o})
	if err == nil && s.response != nil {
		err = invalidRequest("", "WithResponse",
			"stores the response of one call, and several calls would overwrite it: use an Observer")
	}
	return err
}

// WithHeader adds a header to one call. Authorization belongs to the client and is refused, and so
// are Idempotency-Key and X-Idempotency-Key: with them net/http itself re-sends a POST after a
// dropped connection.
func WithHeader(name, value string) CallOption {
	return func(s *callSettings) {
		if problem := headerProblem(name, value); problem != "" {
			s.invalid = invalidRequest("", "WithHeader", problem)
			return
		}
		if s.header == nil {
			s.header = http.Header{}
		}
		s.header.Add(name, value)
	}
}

// headerProblem returns why a program may not add a header to a request; "" if it may.
func headerProblem(name, value string) string {
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	switch {
	case !validHeaderName(name):
		return "has a name that is not a header name: pass name and value separately"
	case !validHeaderValue(value):
		return "has a value that no HTTP header can carry: check for line breaks"
	case canonical == "Authorization":
		return "sets Authorization: the client sends the key it was made with"
	case canonical == "Idempotency-Key" || canonical == "X-Idempotency-Key":
		return "sets " + name + ": net/http would send the request again after a dropped connection"
	case slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding", "Trailer"}, canonical):
		return "sets " + canonical + ", which net/http takes from elsewhere and ignores here"
	}
	return ""
}

// validHeaderName and validHeaderValue refuse early what net/http refuses when it sends, which would look
// like a failed connection.
func validHeaderName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func validHeaderValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// WithQuery adds a query parameter to one call, such as a filter that the specification does not
// document.
func WithQuery(name, value string) CallOption { return withValues(url.Values{name: {value}}) }

// withValues adds several query parameters, as [WithQuery] does for one.
func withValues(values url.Values) CallOption {
	return func(s *callSettings) {
		for name, added := range values {
			if s.query == nil {
				s.query = url.Values{}
			}
			s.query[name] = slices.Concat(s.query[name], added)
		}
	}
}
