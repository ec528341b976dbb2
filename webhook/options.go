package webhook

import (
	"crypto/fips140"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/redact"
)

// Option configures a [Receiver].
type Option func(*settings)

type settings struct {
	keys        []redact.Key
	header      string
	sign        func(key string, body []byte) string
	scheme      *scheme                                     // of WithStandardWebhooks
	verifier    func(header http.Header, body []byte) error // of WithVerifier
	idHeader    string
	eventHeader string
	maxBytes    int64
	readTimeout time.Duration
	store       Store
	workers     int // 0: notifications are handled before the response
	queue       int
	retries     int
	backoff     time.Duration
	queued      bool // WithWorkers was given
	retried     bool // WithRetries was given
	retryAfter  time.Duration
	lost        func(*Notification, error)
	logger      *slog.Logger
}

// DefaultIDHeader is the header of a delivery's identifier, unless [WithIDHeader] sets another.
const DefaultIDHeader = "X-Webhook-Delivery-Id"

// DefaultEventIDHeader is the header of an event's identifier, unless [WithEventIDHeader] sets another.
const DefaultEventIDHeader = "X-Webhook-Event-Id"

func defaultSettings() settings {
	return settings{
		header: DefaultSignatureHeader, sign: Sign, idHeader: DefaultIDHeader, eventHeader: DefaultEventIDHeader, maxBytes: 1 << 20,
		readTimeout: 10 * time.Second, retries: 4, backoff: 500 * time.Millisecond,
		retryAfter: 5 * time.Second,
	}
}

func (s *settings) check(handle Handler) error {
	switch {
	case handle == nil:
		return errors.New("webhook: NewReceiver needs a handler: pass a function that handles a notification")
	case s.verifier != nil && (s.scheme != nil || len(s.keys) > 0):
		return errors.New("webhook: WithVerifier replaces WithKeys and WithStandardWebhooks: pass one of them")
	case s.verifier == nil && len(s.keys) == 0 ||
		slices.ContainsFunc(s.keys, func(key redact.Key) bool { return key.Reveal() == "" }):
		return errors.New("webhook: NewReceiver needs the keys that notifications are signed with, none of them empty: " +
			"pass WithKeys(secretKey)")
	case slices.ContainsFunc(s.keys, func(key redact.Key) bool { return strings.TrimSpace(key.Reveal()) != key.Reveal() }):
		return errors.New("webhook: a key has spaces or line breaks around it, so that no signature would fit: trim it, " +
			"for example after reading it from a file")
	case s.header == "" || s.sign == nil:
		return errors.New("webhook: WithSignature needs a header and a function: pass both, such as " +
			"DefaultSignatureHeader and Sign")
	case s.scheme == nil && fips140.Enforced() &&
		slices.ContainsFunc(s.keys, func(key redact.Key) bool { return s.sign(key.Reveal(), nil) == "" }):
		return errors.New("webhook: GODEBUG=fips140=only forbids a key of less than 14 bytes: use a longer one, or " +
			"fips140=on")
	case s.maxBytes <= 0 || s.readTimeout <= 0:
		return errors.New("webhook: WithLimits needs a size and a time above zero")
	case s.queued && (s.workers < 1 || s.queue < 1):
		return errors.New("webhook: WithWorkers needs at least one worker and a queue of at least one")
	case s.retried && !s.queued:
		return errors.New("webhook: WithRetries needs WithWorkers: without workers, the service sends a notification " +
			"again whose handler failed")
	case s.retries < 0 || s.backoff < 0:
		return errors.New("webhook: WithRetries needs a number and a time that are not negative: 0 retries call a handler once")
	}
	return nil
}

// WithKeys sets the keys with which a signature is valid: the current one and, while keys are rotated, the previous
// or the next one. Required, unless [WithStandardWebhooks] or [WithVerifier] is given.
func WithKeys(keys ...string) Option {
	held := redactKeys(keys)
	return func(s *settings) { s.keys, s.scheme = held, nil }
}

func redactKeys(keys []string) []redact.Key {
	held := make([]redact.Key, len(keys))
	for i, key := range keys {
		held[i] = redact.New(key)
	}
	return held
}

// WithVerifier sets the function that verifies a delivery, for a scheme that neither [WithSignature] nor
// [WithStandardWebhooks] describes. It replaces [WithKeys]. Compare signatures with hmac.Equal. Its error is logged,
// and the response is 401; if it panics, the response is 503. It must not keep the header, whose memory a server may
// reuse.
func WithVerifier(verify func(header http.Header, body []byte) error) Option {
	return func(s *settings) { s.verifier = verify }
}

// WithSignature sets the header that carries the signature, and the function that computes it. The default is
// [DefaultSignatureHeader] and [Sign]. For a service whose dialect you know, use [WithDialect].
func WithSignature(header string, sign func(key string, body []byte) string) Option {
	return func(s *settings) { s.header, s.sign = header, sign }
}

// WithIDHeader sets the header that carries the identifier of a delivery. The header is not signed; see [Sign]. A
// delivery without it is identified by its body, and so is every delivery if header is empty; a replay, which
// repeats the payload, is then ignored as a duplicate.
//
// With the header of the event's identifier, WithIDHeader(DefaultEventIDHeader), an event of which the service notifies
// several webhooks at the same receiver is handled once. A replay is a new event, and is handled again.
func WithIDHeader(header string) Option { return func(s *settings) { s.idHeader = header } }

// WithEventIDHeader sets the header of [Notification.EventID]. The header is optional.
func WithEventIDHeader(header string) Option { return func(s *settings) { s.eventHeader = header } }

// WithLimits limits the size of a body and the time to read it. The default is 1 MiB in 10 s.
func WithLimits(maxBytes int64, readTimeout time.Duration) Option {
	return func(s *settings) { s.maxBytes, s.readTimeout = maxBytes, readTimeout }
}

// WithStore sets the store that remembers accepted notifications. The default is a [MemoryStore]; [FileStore] is for
// one machine.
func WithStore(store Store) Option { return func(s *settings) { s.store = store } }

// WithWorkers responds to a notification before it is handled: it goes into a queue of the given length, from which the
// given number of workers take it. Use it for a handler that can take 5 s, such as a purchase, because a service does
// not wait long. A crash loses the notifications in the queue; those that a handler fails are tried again, see
// [WithRetries].
func WithWorkers(workers, queue int) Option {
	return func(s *settings) { s.workers, s.queue, s.queued = workers, queue, true }
}

// WithRetries sets how often a worker calls a handler that fails again, after backoff, doubled each time. The default
// is 4 times, after 500 ms. It needs [WithWorkers].
func WithRetries(retries int, backoff time.Duration) Option {
	return func(s *settings) { s.retries, s.backoff, s.retried = retries, backoff, true }
}

// WithLost sets a function that is called with each notification that could not be handled although the service may not
// send it again, and with the error: a [*PanicError] if the handler panicked. Those are the notifications for which a
// worker used up its attempts, and those whose handler failed after the service had stopped waiting for the response.
// Without it, they are logged as errors, see [WithLogger].
func WithLost(lost func(n *Notification, err error)) Option {
	return func(s *settings) { s.lost = lost }
}

// WithLogger logs refused deliveries with hints, and panics and lost notifications as errors. Without it,
// [slog.Default] logs the errors, and a warning about refused deliveries at most once a minute. Bodies and keys are
// never logged.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) { s.logger = logger }
}
