package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
)

// readList reads what to replay. Whether a line says enough is for ReplayAll to judge.
func readList(path string) ([]shipping.ReplayRequest, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.FieldsPerRecord = -1
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header line: write delivery_id, or shipment_id and event, into the first line", path)
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff")))
	}
	if !slices.Contains(header, "delivery_id") && (!slices.Contains(header, "shipment_id") || !slices.Contains(header, "event")) {
		return nil, fmt.Errorf("%s: the header has neither delivery_id nor shipment_id and event", path)
	}
	var requests []shipping.ReplayRequest
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return requests, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		cell := func(column string) string {
			if i := slices.Index(header, column); i >= 0 && i < len(row) {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		requests = append(requests, shipping.ReplayRequest{
			DeliveryID: cell("delivery_id"), ShipmentID: cell("shipment_id"),
			Event: shipping.EventKind(cell("event")), WebhookID: cell("webhook_id"),
		})
	}
}
