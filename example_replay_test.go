package shipping_test

import (
	"bytes"
	"context"
	"encoding/json"
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

// Many notifications, with a report on disk that a later run goes on from.
func ExampleWebhooksService_ReplayAll() {
	client, server := account()
	defer server.Close()
	ctx := context.Background()
	var requests []shipping.ReplayRequest
	for _, id := range server.Shipments()[:4] {
		requests = append(requests, shipping.ReplayRequest{ShipmentID: id, Event: shipping.EventShipmentCreated})
	}
	var report bytes.Buffer // a file, in a program
	lines := json.NewEncoder(&report)
	write := func(outcome shipping.ReplayOutcome, ended, total int) {
		if err := lines.Encode(outcome); err != nil {
			log.Fatal(err)
		}
	}

	tried, err := client.Webhooks.ReplayAll(ctx, requests, &shipping.ReplayAllOptions{DryRun: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("checked:", tried.Count(shipping.ReplayChecked), "sent:", server.Calls(shipping.OpReplayWebhook))

	if _, err := client.Webhooks.ReplayAll(ctx, requests[:3], &shipping.ReplayAllOptions{Progress: write}); err != nil {
		log.Fatal(err)
	}
	skip, err := shipping.QueuedReplays(&report)
	if err != nil {
		log.Fatal(err)
	}
	rest, err := client.Webhooks.ReplayAll(ctx, requests, &shipping.ReplayAllOptions{Skip: skip})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("skipped:", rest.Count(shipping.ReplaySkipped), "queued:", rest.Count(shipping.ReplayQueued))
	// Output:
	// checked: 4 sent: 0
	// skipped: 3 queued: 1
}
