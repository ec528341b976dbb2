package transport

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping/internal/operations"
)

// A call that ends while it waits for a retry was never sent if it is retried only on evidence of that. A call
// whose attempt was under way may have been, whatever its transport returns.
func TestDo_EvidenceIfTheContextEnds(t *testing.T) {
	t.Parallel()
	cause := error(&unsentError{error: errNoConnection}) // of another call
	underWay := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	withCause := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context()) // as net/http does
	}
	for name, test := range map[string]struct {
		next    http.RoundTripper
		retry   operations.Retry
		notSent bool
	}{
		"waiting after no connection": {unsent(), operations.Unsent, true},
		"waiting, safe":               {unsent(), operations.Safe, false},
		"waiting after a response":    {answering(status(503)), operations.Safe, false},
		"under way":                   {answering(underWay), operations.Unsent, false},
		"under way, sent once":        {answering(underWay), operations.Never, false},
		"under way, with the cause":   {answering(withCause), operations.Unsent, false},
		"sent once, with the cause":   {answering(withCause), operations.Never, false},
		"lost, then under way": {answering(httpmock.NewErrorResponder(http.ErrServerClosed), underWay),
			operations.Safe, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(cause) })
			call, _ := newCall(http.MethodPost, test.retry)
			_, err := newClient(test.next, Policy{MinWait: time.Hour, MaxWait: 2 * time.Hour}).Do(ctx, call)
			if NotSent(err) != test.notSent || HeldBack(err) != test.notSent || !errors.Is(err, cause) {
				t.Errorf("%s: not sent: %t, held back: %t: %v", name, NotSent(err), HeldBack(err), err)
			}
		})
	}
}

// The error of another call proves nothing about the call that returns it.
func TestEvidence_IsOfTheCallItself(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"unsent": &unsentError{error: errNoConnection}, "held back": &unsentError{&PausedError{time.Second}, true},
		"late": &TimeoutError{After: 1, evidence: &unsentError{error: errNoConnection}},
	} {
		if !NotSent(err) {
			t.Errorf("%s is evidence", name)
		}
		for _, wrapped := range []error{
			errors.Join(context.Canceled, err), truncatedError{err}, limiterError{err}, &BodyError{Err: err},
			&TimeoutError{After: 1},
			&unsentError{err, false}, nil,
		} {
			own, _ := wrapped.(*unsentError)
			if _, paused := Paused(wrapped); NotSent(wrapped) != (own != nil) || HeldBack(wrapped) || paused {
				t.Errorf("%s, wrapped as %T, is evidence", name, wrapped)
			}
		}
	}
	if _, partial := Partial(errors.Join(&BodyError{StatusCode: 404, Err: ErrTruncated})); partial {
		t.Error("a response of another call")
	}
}
