package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/shipping-go/shipping/internal/wait"
)

// storeTimeout limits how long the store may take to end a claim. The request's own context may be over by then.
const storeTimeout = 10 * time.Second

// accept claims the notification and passes it on, unless it is a duplicate. It responds 2xx only if the notification
// was handled or is in the queue.
func (r *Receiver) accept(w http.ResponseWriter, request *http.Request, n *Notification) {
	if !r.begin() {
		r.later(w, request, ErrClosed)
		return
	}
	defer r.accepting.Done()
	ctx := request.Context()
	id, claim := storeKey(n), rand.Text()
	var state ClaimState
	err := protect("Store.Claim", func() (err error) {
		ctx, cancel := r.untilClosed(ctx)
		defer cancel()
		state, err = r.settings.store.Claim(ctx, id, claim)
		return err
	})
	switch {
	case err != nil:
		r.later(w, request, err)
		return
	case state == Accepted:
		r.log(ctx, slog.LevelInfo, "notification accepted before, and not handled again",
			slog.String("id", r.settings.redacted(n.ID)))
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
	if err := r.handOver(ctx, n); err != nil { // the claim must be gone when the service sends it again
		r.later(w, request, errors.Join(err, r.endClaim(ctx, "Store.Release", r.settings.store.Release, id, claim)))
		return
	}
	if err := r.endClaim(ctx, "Store.Accept", r.settings.store.Accept, id, claim); err != nil {
		// It was handled or is in the queue. If it were sent again, it would be handled twice.
		r.warn(ctx, "notification accepted, but the store did not record it", err, deliveryID)
	}
	w.WriteHeader(http.StatusOK)
}

// storeKey returns the id of a notification in the store: the id of the delivery and the hash of the body. The id of
// the delivery is not signed: without the hash, another body with this id could suppress the notification.
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

// untilClosed returns a context that ends with its parent, or with [ErrClosed] when the time given to Close is up.
func (r *Receiver) untilClosed(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	stop := context.AfterFunc(r.working, func() { end(context.Cause(r.working)) })
	return ctx, func() { stop(); end(nil) }
}

// endClaim accepts or releases a claim, even if the request has ended.
func (r *Receiver) endClaim(
	ctx context.Context, name string, end func(ctx context.Context, id, claim string) error, id, claim string,
) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return protect(name, func() error { return end(ctx, id, claim) })
}

var (
	errPending   = errors.New("it is being handled for an earlier delivery, which may still fail")
	errBusy      = fmt.Errorf("%d handlers run already: if a handler can take seconds, use WithWorkers", maxHandlers)
	errQueueFull = errors.New("the queue is full")
)

// handOver handles the notification, or gives it to the workers. ctx is the context of the request.
func (r *Receiver) handOver(ctx context.Context, n *Notification) error {
	if r.queue == nil {
		return r.handleNow(ctx, n)
	}
	select {
	case r.queue <- n:
		return nil
	default:
		return errQueueFull
	}
}

// handleNow calls the handler once. If it fails after the sender has left, nobody reads the response, so the
// notification is reported as lost.
func (r *Receiver) handleNow(request context.Context, n *Notification) error {
	select {
	case r.handling <- struct{}{}:
		defer func() { <-r.handling }()
	default:
		return errBusy
	}
	ctx, cancel := r.untilClosed(context.WithoutCancel(request))
	defer cancel()
	err := r.try(ctx, n, 1)
	if err != nil && request.Err() != nil {
		r.lose(n, err)
	}
	return err
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
		if err == nil || attempt > r.settings.retries {
			return err
		}
		if wait.Sleep(r.working, r.settings.backoff<<min(attempt-1, 16)) != nil {
			return err
		}
	}
}

func (r *Receiver) try(ctx context.Context, n *Notification, attempt int) error {
	n.Attempt = attempt
	return protect("the handler", func() error { return r.handle(ctx, n) })
}

// lose reports a notification that could not be handled, although the service may not send it again.
func (r *Receiver) lose(n *Notification, err error) {
	id := slog.String("id", r.settings.redacted(n.ID))
	if r.settings.lost == nil {
		r.log(r.working, slog.LevelError, "notification lost", id,
			slog.String("error", r.settings.redacted(err.Error())))
		return
	}
	failed := protect("the WithLost callback", func() error { r.settings.lost(n, err); return nil })
	if failed != nil {
		r.warn(r.working, "notification lost, and not reported", errors.Join(failed, err), id)
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
	if r.queue != nil {
		close(r.queue)
	}
	r.workers.Wait()
	close(r.drained)
}
