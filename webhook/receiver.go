package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Handler does something about a notification. An error has it called again, after a pause, as often
// as [WithRetries] says.
type Handler func(ctx context.Context, n *Notification) error

// Receiver is an [http.Handler] for notifications. Make one with [NewReceiver], and [Receiver.Close] it
// to hand over what it accepted.
//
// It answers 200 once a notification is accepted, and for one that was accepted before; 401 for a
// signature that is missing or wrong; 405, 408, 413 and 400 for what is no notification; 503 with
// Retry-After when it cannot accept now, so that the service tries again.
type Receiver struct {
	handle   Handler
	settings settings
	queue    chan *Notification
	workers  sync.WaitGroup
	stop     context.CancelCauseFunc
	working  context.Context

	mu     sync.Mutex
	closed bool
}

// ErrClosed ends handlers that were still at work when the time given to [Receiver.Close] was up.
var ErrClosed = errors.New("webhook: the receiver was closed")

// NewReceiver returns a receiver that gives every notification to handle, once for each delivery. Keys
// are required; see [WithKeys].
func NewReceiver(handle Handler, opts ...Option) (*Receiver, error) {
	s := defaultSettings()
	for _, opt := range opts {
		opt(&s)
	}
	if err := s.check(handle); err != nil {
		return nil, err
	}
	if s.store == nil {
		s.store = NewMemoryStore(0, 0)
	}
	r := &Receiver{handle: handle, settings: s, queue: make(chan *Notification, s.queue)}
	r.working, r.stop = context.WithCancelCause(context.Background())
	if !s.inline {
		for range s.workers {
			r.workers.Go(r.work)
		}
	}
	return r, nil
}

// ServeHTTP accepts one delivery or says why not.
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
	if err := verify(signature(request.Header, r.settings.header), body, r.settings.sign, r.settings.keys); err != nil {
		r.refuse(w, request, http.StatusUnauthorized, err)
		return
	}
	n, err := parse(body)
	if err != nil {
		r.refuse(w, request, http.StatusBadRequest, err)
		return
	}
	n.ReceivedAt = time.Now()
	if n.ID = request.Header.Get(r.settings.idHeader); n.ID == "" {
		sum := sha256.Sum256(body)
		n.ID = "sha256:" + hex.EncodeToString(sum[:])
	}
	r.accept(w, request, n)
}

// read reads the whole body, within the limits of size and time.
func (r *Receiver) read(w http.ResponseWriter, request *http.Request) (body []byte, status int, err error) {
	// Not every writer can set a deadline; where it cannot, the server's own holds.
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

// accept claims the notification and hands it over. 2xx is answered only for what is in good hands.
func (r *Receiver) accept(w http.ResponseWriter, request *http.Request, n *Notification) {
	ctx, claim := request.Context(), rand.Text()
	standing, err := r.settings.store.Claim(ctx, n.ID, claim)
	switch {
	case err != nil:
		r.later(w, request, err)
		return
	case standing == Accepted:
		r.settings.logger.LogAttrs(ctx, slog.LevelDebug, "notification seen before", slog.String("id", n.ID))
		w.WriteHeader(http.StatusOK)
		return
	case standing != Claimed:
		r.later(w, request, errPending)
		return
	}
	// What becomes of the claim has to be kept whatever becomes of the request, or of the handler.
	keep := context.WithoutCancel(ctx)
	err = errPanicked
	defer func() {
		if err != nil { // the service will send it again, and must find the claim gone
			r.later(w, request, errors.Join(err, r.settings.store.Release(keep, n.ID, claim)))
		}
	}()
	if err = r.handOver(ctx, n); err != nil {
		return
	}
	if err := r.settings.store.Accept(keep, n.ID, claim); err != nil {
		// It is in good hands all the same, and asking for it again would have it handled twice.
		r.settings.logger.LogAttrs(ctx, slog.LevelWarn, "notification accepted, which the store did not take down",
			slog.String("id", n.ID), slog.String("error", err.Error()))
	}
	w.WriteHeader(http.StatusOK)
}

var errPanicked = errors.New("the handler panicked")

var errPending = errors.New("it is being handled for an earlier delivery, which may still fail")

var errQueueFull = errors.New("the queue is full")

func (r *Receiver) handOver(ctx context.Context, n *Notification) error {
	if r.settings.inline {
		return r.try(ctx, n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	select {
	case r.queue <- n:
		return nil
	default:
		return errQueueFull
	}
}

// work hands notifications to the handler, again after a pause where it fails.
func (r *Receiver) work() {
	for n := range r.queue {
		var err error
		for range 1 + r.settings.retries {
			if err = r.try(r.working, n); err == nil || r.working.Err() != nil {
				break
			}
			pause(r.working, r.settings.backoff<<min(n.Attempt-1, 16))
		}
		if err != nil {
			r.settings.lost(n, err)
		}
	}
}

func (r *Receiver) try(ctx context.Context, n *Notification) error {
	n.Attempt++
	return r.handle(ctx, n)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Close stops accepting and waits until everything accepted was handed over. When ctx ends first, the
// handlers' context ends too, with [ErrClosed], and its error is returned.
func (r *Receiver) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		r.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
		r.stop(ErrClosed)
		return nil
	case <-ctx.Done():
		r.stop(ErrClosed)
		<-done
		return context.Cause(ctx)
	}
}

func (r *Receiver) refuse(w http.ResponseWriter, request *http.Request, status int, err error) {
	r.settings.logger.LogAttrs(request.Context(), slog.LevelWarn, "notification refused",
		slog.Int("status", status), slog.String("error", err.Error()))
	http.Error(w, err.Error(), status)
}

// later asks the service to send again.
func (r *Receiver) later(w http.ResponseWriter, request *http.Request, err error) {
	w.Header().Set("Retry-After", strconv.Itoa(max(int(r.settings.retryAfter.Seconds()), 1)))
	r.settings.logger.LogAttrs(request.Context(), slog.LevelWarn, "notification not accepted", slog.String("error", err.Error()))
	http.Error(w, "not accepted now, please send it again", http.StatusServiceUnavailable)
}
