package mockserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// A subscription, an event, and a receiver that refuses it once: the delivery log has both attempts, and
// a replay by delivery_id sends the same bytes again.
func ExampleWorld_Emit() {
	srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithVirtualClock(time.Time{}))
	defer srv.Close()
	ctx := context.Background()

	refused := false
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !refused {
			refused = true
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Println("received, signed:", r.Header.Get(webhook.DefaultSignatureHeader) != "")
	}))
	defer receiver.Close()
	if _, err := srv.AddWebhook(notify.Webhook{Name: "Mine", URL: receiver.URL, Events: []string{"shipment.updated"}}); err != nil {
		fmt.Println(err)
		return
	}

	sent, err := srv.Emit(notify.Event{Kind: "shipment.updated", ShipmentID: srv.Shipments()[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := srv.Advance(time.Minute); err != nil { // the second attempt is due after half a second
		fmt.Println(err)
		return
	}
	mine := sent[0]
	ended, err := srv.WaitDelivery(ctx, mine.ID)
	for _, attempt := range ended.Attempts {
		fmt.Println(attempt.At.Sub(mine.CreatedAt), attempt.StatusCode)
	}
	fmt.Println(ended.State, err)

	again, err := clientIn(srv.World).Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: mine.ID})
	if err != nil {
		fmt.Println(err)
		return
	}
	replayed, err := srv.WaitDelivery(ctx, again.DeliveryID)
	fmt.Println("the same bytes:", string(replayed.Payload) == string(mine.Payload), err)
	// Output:
	// received, signed: true
	// received, signed: true
	// 0s 503
	// 500ms 200
	// delivered <nil>
	// received, signed: true
	// the same bytes: true <nil>
}
