package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/signature"
)

// Handler handles a notification. It runs while the service waits for the response, or with [WithWorkers] in a worker.
// If it returns an error or panics, the attempt has failed. The receiver then responds 503, so that the service sends
// the notification again. With workers, it calls the handler again instead, as often as [WithRetries] allows.
//
// The context does not end when the service stops waiting: a purchase that has begun can finish, and a notification
// that is sent again meanwhile gets a 503. The context ends with [ErrClosed] if [Receiver.Close] cannot wait any
// longer.
type Handler func(ctx context.Context, n *Notification) error

// Receiver is an [http.Handler] for notifications. Create one with [NewReceiver]. [Receiver.Close] waits until the
// notifications that it accepted are handled.
//
// It responds:
//
//   - 200 once a notification is handled or, with [WithWorkers], queued, and for a duplicate;
//   - 401 for a signature that is missing or wrong;
//   - 405, 408, 413 and 400 for a request that is not a notification;
//   - 503 with Retry-After if the service should try again, because the handler failed, 16 handlers
//     run already, or the queue is full.
type Receiver struct {
	handle   Handler
	verify   func(header http.Header, body []byte) error
	settings settings
	logger   *slog.Logger

	handling  chan struct{}      // has an element for each handler that runs before its response
	queue     chan *Notification // for the workers; nil without them
	accepting sync.WaitGroup     // deliveries that hold a claim
	workers   sync.WaitGroup
	stop      context.CancelCauseFunc
	working   context.Context
	drained   chan struct{} // closed after Close, once everything accepted was handled

	mu     sync.Mutex
	closed bool
	warned map[string]time.Time // when each message was last logged as a warning; nil if all of them are logged
	bodies bounded[string]      // the key in the store of each recent delivery id
}

// maxHandlers is how many handlers run at the same time before their responses.
const maxHandlers = 16

// ErrClosed is the cause with which the context of a running handler ends if that of [Receiver.Close] ended first.
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
	s.scheme = signature.Of(&s.dialect)
	verify, err := s.verification()
	if err != nil {
		return nil, err
	}
	if s.store == nil {
		s.store = NewMemoryStore(StoreOptions{})
	}
	r := &Receiver{
		handle: handle, verify: verify, settings: s, logger: s.logger,
		handling: make(chan struct{}, maxHandlers), drained: make(chan struct{}),
	}
	if s.logger == nil { // all errors, few warnings
		r.logger, r.warned = slog.Default(), map[string]time.Time{}
	}
	r.working, r.stop = context.WithCancelCause(context.Background())
	if s.workers > 0 {
		r.queue = make(chan *Notification, s.queue)
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
		http.Error(w, "this address receives notifications, which are sent with POST: register it as a webhook",
			http.StatusMethodNotAllowed)
		return
	}
	body, status, err := r.read(w, request)
	if err != nil {
		r.refuse(w, request, status, err)
		return
	}
	err = protect("the signature scheme", func() error {
		return r.verify(request.Header, body)
	})
	switch {
	case isPanic(err):
		r.later(w, request, err)
		return
	case err != nil:
		r.refuse(w, request, http.StatusUnauthorized, err)
		return
	}
	n, err := parse(body)
	if err != nil {
		r.refuse(w, request, http.StatusBadRequest, err)
		return
	}
	n.EventID = identifier(request, r.settings.scheme.EventID)
	if n.ID = identifier(request, r.settings.scheme.DeliveryID); n.ID == "" {
		n.ID = hash(body)
	}
	r.accept(w, request, n)
}

// maxID is how many bytes of an identifier are kept. A longer one is replaced by its hash: identifiers are not signed,
// so anybody could make them take much memory.
const maxID = 200

// identifier returns a copy of a header, because servers that are not net/http's reuse the memory of a request for the
// next one.
func identifier(request *http.Request, name string) string {
	sent := request.Header.Get(name)
	if len(sent) > maxID {
		return hash([]byte(sent))
	}
	return strings.Clone(sent)
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
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

func (r *Receiver) refuse(w http.ResponseWriter, request *http.Request, status int, err error) {
	text := r.settings.redacted(err.Error())
	r.log(request.Context(), slog.LevelWarn, "notification refused", slog.Int("status", status),
		slog.String("error", text))
	if status == http.StatusUnauthorized { // the sender may be forging, and must not get the reason
		text = ErrSignature.Error()
	}
	http.Error(w, text, status)
}

// later responds 503, so that the service sends the notification again.
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
