package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
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
		if _, err := j.client.Regulatory.Purchase(ctx, draft.RequestID, chosen...); err != nil {
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
		if err := json.Unmarshal(delivery.Payload, &payload); err != nil {
			return err
		}
		j.carriers[delivery.ShipmentID] = payload.Data.CarrierName
	}
	return nil
}

// readCarriers reads which carrier a shipment went with.
func readCarriers(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.FieldsPerRecord = -1
	lines, err := rows.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 {
		return nil, errors.New(path + " is empty: write shipment_id,carrier into the first line")
	}
	header := lines[0]
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff")))
	}
	shipment, carrier := slices.Index(header, "shipment_id"), slices.Index(header, "carrier")
	if shipment < 0 || carrier < 0 {
		return nil, errors.New(path + ": the header lacks shipment_id or carrier")
	}
	carriers := map[string]string{}
	for _, line := range lines[1:] {
		if max(shipment, carrier) < len(line) {
			carriers[strings.TrimSpace(line[shipment])] = strings.TrimSpace(line[carrier])
		}
	}
	return carriers, nil
}
