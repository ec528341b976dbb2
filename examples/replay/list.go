package main

import (
	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/examples/internal/csvlist"
)

// readList reads what to replay. batch.Replay checks each request.
func readList(path string) ([]shipping.ReplayRequest, error) {
	rows, err := csvlist.Read(path, []string{"delivery_id"}, []string{"shipment_id", "event"})
	if err != nil {
		return nil, err
	}
	requests := make([]shipping.ReplayRequest, len(rows))
	for i, row := range rows {
		requests[i] = shipping.ReplayRequest{
			DeliveryID: row.Cell("delivery_id"), ShipmentID: row.Cell("shipment_id"),
			Event: shipping.EventKind(row.Cell("event")), WebhookID: row.Cell("webhook_id"),
		}
	}
	return requests, nil
}
