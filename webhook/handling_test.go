package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// The context of a handler ended when the sender hung up, in the middle of a purchase. A handler that fails after its
// sender has left is reported, and the notification can be handled when it is sent again.
func TestReceiver_ReportsWhatFailsAfterTheSenderHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []error
		outcome := errors.New("not today")
		receiver := newReceiver(t, func(ctx context.Context, _ *webhook.Notification) error {
			time.Sleep(time.Second)
			return errors.Join(outcome, ctx.Err())
		}, webhook.WithLost(func(n *webhook.Notification, err error) { lost = append(lost, err) }))
		leaving := func(patience time.Duration) int {
			ctx, leave := context.WithTimeout(t.Context(), patience)
			defer leave()
			return postIn(ctx, receiver, body, webhook.Sign(key, []byte(body))).Code
		}
		if code := leaving(time.Minute); code != http.StatusServiceUnavailable || len(lost) != 0 {
			t.Errorf("a sender that waits: %d, lost %v", code, lost)
		}
		if leaving(time.Millisecond); len(lost) != 1 || !errors.Is(lost[0], outcome) {
			t.Errorf("a sender that has left: lost %v", lost)
		}
		outcome = nil
		if leaving(time.Millisecond); len(lost) != 1 || leaving(time.Minute) != http.StatusOK {
			t.Errorf("after a success: lost %v", lost)
		}
	})
}

// Without workers, at most 16 handlers run at a time. Other notifications get a 503, and are accepted later. Without
// the limit, a burst of notifications would start as many handlers at the same time.
func TestReceiver_HandlesSixteenAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { <-release; return nil })
		var handled atomic.Int32
		for n := range 16 {
			go func() {
				if send(receiver, fmt.Sprint(n)).Code == http.StatusOK {
					handled.Add(1)
				}
			}()
		}
		synctest.Wait()
		if answer := send(receiver, "one more"); answer.Code != http.StatusServiceUnavailable {
			t.Errorf("one more: %d", answer.Code)
		}
		close(release)
		synctest.Wait()
		if answer := send(receiver, "one more"); answer.Code != http.StatusOK || handled.Load() != 16 {
			t.Errorf("one more again: %d, of the others %d are handled", answer.Code, handled.Load())
		}
	})
}
