package shipping_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shipping-go/shipping"
)

// A notification is sent again: by its delivery, or by shipment and event.
func ExampleWebhooksService_Replay() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()

	_, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: "SH-7Q2MX09DKA4B8C1E"})
	fmt.Println(err)

	queued, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: server.Shipments()[0], Event: shipping.EventShipmentCreated})
	if err != nil {
		log.Fatal(err)
	}
	again, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: queued.DeliveryID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Event, again.ShipmentID == server.Shipments()[0])
	// Output:
	// shipping: webhooks.replay: Event is empty: ShipmentID must be sent together with Event
	// shipment.created true
}
