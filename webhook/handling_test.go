package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// inProcess delivers to a handler without a network. The context of the request ends when the sender hangs up.
type inProcess struct{ to http.Handler }

func (p inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		p.to.ServeHTTP(answer, request)
	}()
	select {
	case <-done:
		return answer.Result(), nil
	case <-request.Context().Done():
		return nil, context.Cause(request.Context())
	}
}

// The context of a handler ended when the sender hung up, in the middle of a purchase. A handler that buys and takes more
// than 12 s, for a sender that hangs up after 10 s and sends the notification again, buys once.
func TestReceiver_BuysOnceForASenderThatHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var receiver http.Handler
		server := mockserver.New(mockserver.WithoutListener(), mockserver.WithDialect(&dialect.Dialect{Notification: dialect.Notification{Attempts: 6}}),
			mockserver.WithDeliveryTransport(inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				receiver.ServeHTTP(w, r)
			})}))
		defer server.Close()
		client, handled := server.Client(t), 0
		receiver = newReceiver(t, func(ctx context.Context, n *webhook.Notification) error {
			handled++
			shipment, err := n.Shipment()
			if err != nil {
				return err
			}
			time.Sleep(9900 * time.Millisecond)
			_, err = client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment.ShipmentID},
				&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
			time.Sleep(2100 * time.Millisecond)
			return errors.Join(err, ctx.Err())
		}, webhook.WithKeys(server.SecretKey))
		id, err := server.AddWebhook(notify.Webhook{URL: "http://127.0.0.1/hooks"})
		if err != nil {
			t.Fatal(err)
		}
		result, err := client.Webhooks.Replay(t.Context(), &shipping.ReplayRequest{
			ShipmentID: server.Shipments()[0], Event: shipping.EventShipmentUpdated, WebhookID: id,
		})
		if err != nil {
			t.Fatal(err)
		}
		delivery, err := server.WaitDelivery(t.Context(), result.DeliveryID)
		if err != nil || delivery.State != notify.Delivered {
			t.Fatalf("%s: %s, %v", delivery.State, delivery.Reason, err)
		}
		if first, second := delivery.Attempts[0], delivery.Attempts[1]; first.Error == "" || second.StatusCode != 503 {
			t.Errorf("%+v, then %+v", first, second)
		}
		if purchases := server.Requests(string(shipping.OpPurchase)); purchases != 1 || handled != 1 {
			t.Errorf("%d purchases, handled %d times", purchases, handled)
		}
		server.CheckInvariants(t)
	})
}

// A handler that fails after its sender has left is reported, and the notification can be handled when it is sent again.
func TestReceiver_ReportsWhatFailsAfterTheSenderHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []error
		outcome := errors.New("not today")
		receiver := newReceiver(t, func(ctx context.Context, _ *webhook.Notification) error {
			time.Sleep(time.Second)
			return errors.Join(outcome, ctx.Err())
		}, webhook.WithLost(func(n *webhook.Notification, err error) { lost = append(lost, err) }))
		send := func(patience time.Duration) int {
			ctx, leave := context.WithTimeout(t.Context(), patience)
			defer leave()
			return postIn(ctx, receiver, body, webhook.Sign(key, []byte(body))).Code
		}
		if code := send(time.Minute); code != http.StatusServiceUnavailable || len(lost) != 0 {
			t.Errorf("a sender that waits: %d, lost %v", code, lost)
		}
		if send(time.Millisecond); len(lost) != 1 || !errors.Is(lost[0], outcome) {
			t.Errorf("a sender that has left: lost %v", lost)
		}
		outcome = nil
		if send(time.Millisecond); len(lost) != 1 || send(time.Minute) != http.StatusOK {
			t.Errorf("after a success: lost %v", lost)
		}
	})
}

// Without workers, at most 16 handlers run at a time. Other notifications get a 503, and are accepted later.
func TestReceiver_HandlesSixteenAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { <-release; return nil })
		var handled atomic.Int32
		for n := range 16 {
			go func() {
				if postSigned(receiver, body, webhook.DefaultIDHeader, fmt.Sprint(n)).Code == http.StatusOK {
					handled.Add(1)
				}
			}()
		}
		synctest.Wait()
		if answer := postSigned(receiver, body, webhook.DefaultIDHeader, "one more"); answer.Code != http.StatusServiceUnavailable {
			t.Errorf("one more: %d", answer.Code)
		}
		close(release)
		synctest.Wait()
		if answer := postSigned(receiver, body, webhook.DefaultIDHeader, "one more"); answer.Code != http.StatusOK || handled.Load() != 16 {
			t.Errorf("one more again: %d, of the others %d are handled", answer.Code, handled.Load())
		}
	})
}
