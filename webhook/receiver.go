package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/wait"
)

// Handler handles a notification. If it returns an error or panics, the attempt has failed, and it is called again,
// after a pause, as often as [WithRetries] allows. With [WithInline] it runs while the service waits for the response,
// otherwise in a worker.
type Handler func(ctx context.Context, n *Notification) error

// Receiver is an [http.Handler] for notifications. Create one with [NewReceiver]. [Receiver.Close] waits until the
// notifications that it accepted are handled.
//
// It responds 200 once a notification is accepted, and for one that was accepted before; 401 for a
// signature that is missing or wrong; 405, 408, 413 and 400 for a request that is not a notification; and 503 with
// Retry-After if it cannot accept the notification now, so that the service tries again.
type Receiver struct {
	handle   Handler
	settings settings
	logger   *slog.Logger

	queue     chan *Notification
	accepting sync.WaitGroup // deliveries between their claim and its end
	workers   sync.WaitGroup
	stop      context.CancelCauseFunc
	working   context.Context
	drained   chan struct{} // closed after Close, once everything accepted was handled

	mu     sync.Mutex
	closed bool
	warned map[string]time.Time // when each message was last logged as a warning; nil if all of them are logged
	bodies bounded[string]      // the key in the store of each recent delivery id
}

// ErrClosed is the cause with which the context of a running handler ends, if the context of [Receiver.Close] ends first.
var ErrClosed = errors.New("webhook: the receiver was closed")

// NewReceiver returns a receiver that calls handle for each notification, once for each delivery. Keys
// are required; see [WithKeys]. It returns an error if an option is invalid.
func NewReceiver(handle Handler, opts ...Option) (*Receiver, error) {
	s := defaultSettings()
	for _, opt := range opts {
		if opt != nil {
			opt(&s)
		}
	}
	if err := s.check(handle); err != nil {
		return nil, err
	}
	if s.store == nil {
		s.store = NewMemoryStore(0, 0)
	}
	r := &Receiver{
		handle: handle, settings: s, logger: s.logger,
		queue: make(chan *Notification, s.queue), drained: make(chan struct{}),
	}
	if s.logger == nil { // all errors, few warnings
		r.logger, r.warned = slog.Default(), map[string]time.Time{}
	}
	r.working, r.stop = context.WithCancelCause(context.Background())
	if !s.inline {
		for range s.workers {
			r.workers.Go(r.work)
		}
	}
	return r, nil
}

// ServeHTTP accepts one delivery, or responds with the reason why it does not.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "notifications are sent with POST", http.StatusMethodNotAllowed)
		return
	}
	body, status, err := r.read(w, request)
	if err != nil {
		r.refuse(w, request, status, err)
		return
	}
	err = protect("the signature scheme", func() error {
		return verify(signature(request.Header, r.settings.header), body, r.settings.sign, r.settings.keys)
	})
	switch {
	case isPanic(err):
		r.later(w, request, err)
		return
	case err != nil:
		r.refuse(w, request, http.StatusUnauthorized, err, slog.String("check", r.signatureAdvice(request.Header)))
		return
	}
	n, err := parse(body)
	if err != nil {
		r.refuse(w, request, http.StatusBadRequest, err)
		return
	}
	n.ReceivedAt, n.EventID = time.Now(), header(request, r.settings.eventHeader)
	if n.ID = header(request, r.settings.idHeader); n.ID == "" {
		sum := sha256.Sum256(body)
		n.ID = "sha256:" + hex.EncodeToString(sum[:])
	}
	r.accept(w, request, n)
}

// header returns a copy of a header, because servers that are not net/http's reuse the memory of a request for the next one.
func header(request *http.Request, name string) string {
	return strings.Clone(request.Header.Get(name))
}

// read reads the whole body, within the limits of size and time.
func (r *Receiver) read(w http.ResponseWriter, request *http.Request) (body []byte, status int, err error) {
	// Not every writer can set a deadline. Without one, the timeout of the http.Server applies.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(r.settings.readTimeout))
	body, err = io.ReadAll(http.MaxBytesReader(w, request.Body, r.settings.maxBytes))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, http.StatusRequestEntityTooLarge, err
	}
	if err != nil {
		return nil, http.StatusRequestTimeout, err
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, http.StatusOK, nil
}

// storeTimeout limits how long the store may take to end a claim. The request's own context may be over by then.
const storeTimeout = 10 * time.Second

// accept claims the notification and passes it on, unless it is a duplicate. 2xx is sent only for a notification that was
// handled or is in the queue.
func (r *Receiver) accept(w http.ResponseWriter, request *http.Request, n *Notification) {
	if !r.begin() {
		r.later(w, request, ErrClosed)
		return
	}
	defer r.accepting.Done()
	ctx, cancel := r.untilClosed(request.Context())
	defer cancel()
	id, claim := storeKey(n), rand.Text()
	var state ClaimState
	err := protect("Store.Claim", func() (err error) {
		state, err = r.settings.store.Claim(ctx, id, claim)
		return err
	})
	switch {
	case err != nil:
		r.later(w, request, err)
		return
	case state == Accepted:
		r.log(ctx, slog.LevelDebug, "notification seen before", slog.String("id", r.settings.redacted(n.ID)))
		w.WriteHeader(http.StatusOK)
		return
	case state != Claimed:
		r.later(w, request, errPending)
		return
	}
	deliveryID := slog.String("id", r.settings.redacted(n.ID)) // the handler may change n
	if r.hasOtherBody(n.ID, id) {
		r.log(ctx, slog.LevelWarn, "delivery id seen before with another body: both are handled", deliveryID)
	}
	if err := r.handOver(ctx, n); err != nil { // the service sends it again, and must find the claim gone
		r.later(w, request, errors.Join(err, r.endClaim(ctx, "Store.Release", r.settings.store.Release, id, claim)))
		return
	}
	if err := r.endClaim(ctx, "Store.Accept", r.settings.store.Accept, id, claim); err != nil {
		// It was handled or is in the queue. If it were sent again, it would be handled twice.
		r.warn(ctx, "notification accepted, but the store did not record it", err, deliveryID)
	}
	w.WriteHeader(http.StatusOK)
}

// storeKey returns the id of a notification in the store: that of the delivery and the hash of the body. The id of the
// delivery is not signed, so it must not be possible to suppress a notification by sending another body with its id.
func storeKey(n *Notification) string {
	sum := sha256.Sum256(n.Body)
	return n.ID + ":" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// hasOtherBody reports whether a recent delivery had the same id and another body.
func (r *Receiver) hasOtherBody(id, key string) bool {
	const recent = 10_000
	r.mu.Lock()
	defer r.mu.Unlock()
	before, found := r.bodies.get(id)
	r.bodies.set(id, key, recent)
	return found && before != key
}

// begin reports whether the receiver is open, and makes Close wait for the delivery if it is.
func (r *Receiver) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.accepting.Add(1)
	}
	return !r.closed
}

// untilClosed returns a context that ends with the request's, or with [ErrClosed] when the time given to Close is up.
func (r *Receiver) untilClosed(request context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(request)
	stop := context.AfterFunc(r.working, func() { end(context.Cause(r.working)) })
	return ctx, func() { stop(); end(nil) }
}

// endClaim accepts or releases a claim, also when the request is over.
func (r *Receiver) endClaim(ctx context.Context, name string, end func(ctx context.Context, id, claim string) error, id, claim string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return protect(name, func() error { return end(ctx, id, claim) })
}

var errPending = errors.New("it is being handled for an earlier delivery, which may still fail")

var errQueueFull = errors.New("the queue is full")

func (r *Receiver) handOver(ctx context.Context, n *Notification) error {
	if r.settings.inline {
		return r.try(ctx, n, 1)
	}
	select {
	case r.queue <- n:
		return nil
	default:
		return errQueueFull
	}
}

// work handles notifications from the queue until it is closed.
func (r *Receiver) work() {
	for n := range r.queue {
		if err := r.handleQueued(n); err != nil {
			r.lose(n, err)
		}
	}
}

// handleQueued calls the handler until it succeeds or its attempts are used up, and returns the last error.
func (r *Receiver) handleQueued(n *Notification) error {
	for attempt := 1; ; attempt++ {
		err := r.try(r.working, n, attempt)
		if err == nil || attempt > r.settings.retries || wait.Sleep(r.working, r.settings.backoff<<min(attempt-1, 16)) != nil {
			return err
		}
	}
}

func (r *Receiver) try(ctx context.Context, n *Notification, attempt int) error {
	n.Attempt = attempt
	return protect("the handler", func() error { return r.handle(ctx, n) })
}

// lose reports a notification that was accepted and could not be handled.
func (r *Receiver) lose(n *Notification, err error) {
	id := n.ID
	if r.settings.lost == nil {
		r.log(r.working, slog.LevelError, "notification lost", slog.String("id", id), slog.String("error", err.Error()))
		return
	}
	failed := protect("the WithLost callback", func() error { r.settings.lost(n, err); return nil })
	if failed != nil {
		r.warn(r.working, "notification lost, and not reported", errors.Join(failed, err), slog.String("id", id))
	}
}

// Close stops accepting and waits until every notification that was accepted is handled. If ctx ends first, the
// context of the handlers ends with [ErrClosed], and Close returns the error of ctx after they have returned.
func (r *Receiver) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		go r.drain()
	}
	r.mu.Unlock()
	defer r.stop(ErrClosed)
	select {
	case <-r.drained:
		return nil
	case <-ctx.Done():
		r.stop(ErrClosed)
		<-r.drained
		return context.Cause(ctx)
	}
}

func (r *Receiver) drain() {
	r.accepting.Wait()
	close(r.queue)
	r.workers.Wait()
	close(r.drained)
}

// signatureAdvice returns what to check if a signature is missing or wrong.
func (r *Receiver) signatureAdvice(header http.Header) string {
	switch name := r.settings.header; len(header.Values(name)) {
	case 0:
		return "the delivery has no header " + name + ": if the service signs in another header, set it with WithSignature"
	case 1:
		return "WithKeys needs the secret key of the account that sends, and the receiver needs the body as it was sent: " +
			"check that nothing before the receiver changes the body"
	default:
		return "the delivery has several headers " + name + ": the service sends one"
	}
}

func (r *Receiver) refuse(w http.ResponseWriter, request *http.Request, status int, err error, attrs ...slog.Attr) {
	r.log(request.Context(), slog.LevelWarn, "notification refused",
		append([]slog.Attr{slog.Int("status", status), slog.String("error", r.settings.redacted(err.Error()))}, attrs...)...)
	http.Error(w, r.settings.redacted(err.Error()), status)
}

// later responds that the service should send the notification again.
func (r *Receiver) later(w http.ResponseWriter, request *http.Request, err error) {
	w.Header().Set("Retry-After", strconv.Itoa(max(int(r.settings.retryAfter.Seconds()), 1)))
	r.warn(request.Context(), "notification not accepted", err)
	http.Error(w, "not accepted now, please send it again", http.StatusServiceUnavailable)
}

// warn logs an error as a warning, and a panic as an error.
func (r *Receiver) warn(ctx context.Context, message string, err error, attrs ...slog.Attr) {
	level := slog.LevelWarn
	if isPanic(err) {
		level = slog.LevelError
	}
	r.log(ctx, level, message, append(attrs, slog.String("error", r.settings.redacted(err.Error())))...)
}

// log calls the logger. If that panics, there is nowhere left to report it.
func (r *Receiver) log(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	if !r.logs(level, message) {
		return
	}
	_ = protect("the logger", func() error {
		r.logger.LogAttrs(ctx, level, message, attrs...)
		return nil
	})
}

// quietInterval is the time between two warnings of the same kind from a receiver without [WithLogger].
const quietInterval = time.Minute

// logs reports whether a message is logged. A sender that cannot sign correctly must not be able to fill the log, and a
// receiver that refuses everything must not be silent.
func (r *Receiver) logs(level slog.Level, message string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.warned == nil || level > slog.LevelWarn {
		return true
	}
	last, logged := r.warned[message]
	if level < slog.LevelWarn || logged && time.Since(last) < quietInterval {
		return false
	}
	r.warned[message] = time.Now()
	return true
}
