package webhook

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/signature"
)

// Option configures a [Receiver].
type Option func(*settings)

type settings struct {
	keys        []redact.Key
	dialect     dialect.Dialect
	problem     error                                       // of the dialect
	scheme      signature.Scheme                            // of the dialect
	verifier    func(header http.Header, body []byte) error // of WithVerifier
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

// The headers of the signature, the delivery id and the event id, unless [WithDialect] sets others.
const (
	DefaultSignatureHeader = signature.Header
	DefaultIDHeader        = signature.DeliveryID
	DefaultEventIDHeader   = signature.EventID
)

func defaultSettings() settings {
	return settings{
		maxBytes: 1 << 20, readTimeout: 10 * time.Second, retries: 4, backoff: 500 * time.Millisecond,
		retryAfter: 5 * time.Second,
	}
}

func (s *settings) check(handle Handler) error {
	switch {
	case handle == nil:
		return errors.New("webhook: NewReceiver needs a handler: pass a function that handles a notification")
	case s.verifier != nil && len(s.keys) > 0:
		return errors.New("webhook: WithVerifier replaces WithKeys: pass one of them")
	case s.verifier == nil && len(s.keys) == 0 ||
		slices.ContainsFunc(s.keys, func(key redact.Key) bool { return key.Reveal() == "" }):
		return errors.New("webhook: NewReceiver needs the keys that notifications are signed with, none of them empty: " +
			"pass WithKeys(secretKey)")
	case slices.ContainsFunc(s.keys, func(key redact.Key) bool { return strings.TrimSpace(key.Reveal()) != key.Reveal() }):
		return errors.New("webhook: a key has spaces or line breaks around it, so no signature would match: trim it, " +
			"for example after reading it from a file")
	case s.dialect.Notification.Signature == dialect.Signature{} && slices.ContainsFunc(s.keys,
		func(key redact.Key) bool { return strings.HasPrefix(key.Reveal(), "whsec_") }):
		return errors.New("webhook: a key begins with \"whsec_\", as the secrets of Standard Webhooks do: add " +
			"WithDialect(dialect.StandardWebhooks())")
	case s.problem != nil:
		return fmt.Errorf("webhook: WithDialect: %w", s.problem)
	case s.maxBytes <= 0 || s.readTimeout <= 0:
		return errors.New("webhook: WithLimits needs a size and a time above zero")
	case s.store == Store((*FileStore)(nil)):
		return errNoFileStore
	case s.queued && (s.workers < 1 || s.queue < 1):
		return errors.New("webhook: WithWorkers needs at least one worker and a queue of at least one")
	case s.retried && !s.queued:
		return errors.New("webhook: WithRetries needs WithWorkers: without workers, the service resends a " +
			"notification whose handler failed")
	case s.retries < 0 || s.backoff < 0:
		return errors.New("webhook: WithRetries needs a number and a time that are not negative: 0 retries call a " +
			"handler once")
	}
	return nil
}

// WithKeys sets the keys with which a signature is valid: the current one and, while keys are rotated, the previous
// or the next one. They are secret keys of the account, or secrets of the webhook: see [WithDialect]. Required, unless
// [WithVerifier] is given.
func WithKeys(keys ...string) Option {
	held := redactKeys(keys)
	return func(s *settings) { s.keys = held }
}

func redactKeys(keys []string) []redact.Key {
	held := make([]redact.Key, len(keys))
	for i, key := range keys {
		held[i] = redact.New(key)
	}
	return held
}

// WithDialect makes the receiver follow a dialect: [dialect.Notification] has the scheme of its signatures and the
// headers of its identifiers. Unset fields, and a nil dialect, change nothing.
//
//	webhook.WithDialect(dialect.StandardWebhooks()) // https://www.standardwebhooks.com, with WithKeys("whsec_…")
//	webhook.WithDialect(&dialect.Dialect{Notification: dialect.Notification{DeliveryID: "-"}})
//
// The second identifies a delivery by its body, so that a replay, which repeats the payload, is ignored as a
// duplicate; see [Sign]. If DeliveryID is the header of the event, an event is handled once even if several
// webhooks notify the same receiver; a replay is a new event, handled again.
//
// If the signature covers the time, a delivery whose time differs from now by more than the tolerance is refused, so
// that a captured delivery cannot be sent again later.
func WithDialect(d *dialect.Dialect) Option {
	return func(s *settings) {
		s.dialect.Overlay(d)
		s.problem = s.dialect.Check()
	}
}

// WithVerifier sets the function that verifies a delivery, for a scheme that no [dialect.Signature] describes. It
// replaces [WithKeys]. Compare signatures with hmac.Equal. Errors of verify are logged, with the response 401; if
// it panics, the response is 503. It must not keep the header, whose memory a server may reuse.
func WithVerifier(verify func(header http.Header, body []byte) error) Option {
	return func(s *settings) { s.verifier = verify }
}

// WithLimits limits the size of a body and the time to read it. The default is 1 MiB in 10 s.
func WithLimits(maxBytes int64, readTimeout time.Duration) Option {
	return func(s *settings) { s.maxBytes, s.readTimeout = maxBytes, readTimeout }
}

// WithStore sets the store that remembers accepted notifications. The default is a [MemoryStore]; [FileStore] is for
// one machine.
func WithStore(store Store) Option { return func(s *settings) { s.store = store } }

// WithWorkers responds to a notification before it is handled: it goes into a queue of the given length, from which the
// given number of workers take it. Use it for a handler that can take 5 s, such as a purchase, because a service does
// not wait long. A crash loses the notifications in the queue; failed ones are tried again, see [WithRetries].
func WithWorkers(workers, queue int) Option {
	return func(s *settings) { s.workers, s.queue, s.queued = workers, queue, true }
}

// WithRetries sets how often a worker retries a failed handler. It first waits for backoff, which doubles each time.
// The default is 4 times, after 500 ms. It needs [WithWorkers].
func WithRetries(retries int, backoff time.Duration) Option {
	return func(s *settings) { s.retries, s.backoff, s.retried = retries, backoff, true }
}

// WithLost sets a function that is called with each lost notification and its error, a [*PanicError] if the handler
// panicked. A notification is lost if the last attempt of a worker failed, or if a handler failed after the service
// had stopped waiting for the response: the service may not send it again. Without the function, lost notifications
// are logged as errors, see [WithLogger].
func WithLost(lost func(n *Notification, err error)) Option {
	return func(s *settings) { s.lost = lost }
}

// WithLogger logs refused deliveries with hints, duplicates at level Info, and panics and lost notifications as
// errors. Without it, [slog.Default] logs the errors, and a warning about refused deliveries at most once a minute.
// Bodies and keys are never logged.
func WithLogger(logger *slog.Logger) Option {
	return func(s *settings) { s.logger = logger }
}
