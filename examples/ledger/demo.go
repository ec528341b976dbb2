package main

import (
	"context"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/examples/internal/csvlist"
	"github.com/shipping-go/shipping/mockserver"
)

// enrich buys a few documents, for a ledger that shows more than labels, and learns from the
// notifications which carrier each shipment went with, as a shop would.
func (j *job) enrich(ctx context.Context, server *mockserver.Server) error {
	for _, shipment := range server.Shipments()[:4] {
		draft, err := j.client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: shipment})
		if err != nil {
			return err
		}
		chosen, err := shipping.SelectAll(draft)
		if err != nil {
			return err
		}
		if _, err := j.client.Regulatory.Purchase(ctx, &shipping.PurchaseRequest{
			RequestID: draft.RequestID, DocumentTypes: chosen, Draft: draft,
		}); err != nil {
			return err
		}
	}
	j.carriers = map[string]string{}
	for _, delivery := range server.Deliveries() {
		var payload struct {
			Data struct {
				CarrierName string `json:"carrier_name"`
			} `json:"data"`
		}
		if err := shipping.RawJSON(delivery.Payload).Decode(&payload); err != nil {
			return err
		}
		j.carriers[delivery.ShipmentID] = payload.Data.CarrierName
	}
	return nil
}

// readCarriers reads which carrier a shipment went with.
func readCarriers(path string) (map[string]string, error) {
	rows, err := csvlist.Read(path, []string{"shipment_id", "carrier"})
	carriers := map[string]string{}
	for _, row := range rows {
		if carrier := row.Cell("carrier"); carrier != "" {
			carriers[row.Cell("shipment_id")] = carrier
		}
	}
	return carriers, err
}
