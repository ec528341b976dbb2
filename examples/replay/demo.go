package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// demonstrate starts a server and a shop that has missed the deliveries in the server's log.
func (j *job) demonstrate(out io.Writer) (leave func(), err error) {
	server := mockserver.New()
	leave = server.Close
	if err := server.Err(); err != nil {
		return leave, err
	}
	shop, err := webhook.NewReceiver(func(context.Context, *webhook.Notification) error { return nil }, webhook.WithKeys(server.SecretKey))
	if err != nil {
		return leave, err
	}
	listener := httptest.NewServer(shop)
	leave = func() { server.Close(); listener.Close(); _ = shop.Close(context.Background()) }
	id, err := server.AddWebhook(notify.Webhook{Name: "Shop that was down", URL: listener.URL})
	if err != nil {
		return leave, err
	}
	missed := server.Deliveries()
	for _, delivery := range missed[:min(24, len(missed))] {
		j.requests = append(j.requests, shipping.ReplayRequest{DeliveryID: delivery.ID, WebhookID: id})
	}
	for _, shipment := range server.Shipments()[:4] {
		j.requests = append(j.requests, shipping.ReplayRequest{ShipmentID: shipment, Event: shipping.EventShipmentCreated, WebhookID: id})
	}
	j.requests = append(j.requests, shipping.ReplayRequest{DeliveryID: "WD-NOSUCHDELIVERY00", WebhookID: id})
	if j.report == "" {
		folder, err := os.MkdirTemp("", "replay-")
		if err != nil {
			return leave, err
		}
		j.report = filepath.Join(folder, "report.jsonl")
	}
	// A replay is queued; its result is in the delivery log.
	j.arrived = func(ctx context.Context, report *batch.ReplayReport) (int, error) {
		delivered := 0
		for _, outcome := range report.Outcomes {
			if outcome.State != batch.ReplayQueued {
				continue
			}
			delivery, err := server.WaitDelivery(ctx, outcome.Result.DeliveryID)
			if err != nil {
				return delivered, err
			}
			if delivery.State == "delivered" {
				delivered++
			}
		}
		return delivered, nil
	}
	fmt.Fprintf(out, "A demonstration against the reference server: a shop missed %d notifications, and one is made up.\n\n", len(j.requests)-1)
	j.client, err = shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
	return leave, err
}
