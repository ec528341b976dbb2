package main

import (
	"errors"
	"fmt"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/examples/internal/csvlist"
)

// readItems reads the list. Its error names every invalid line, with the correction.
func readItems(path string) ([]batch.Item, error) {
	rows, err := csvlist.Read(path, []string{"shipment_id"}, []string{"file_url"})
	if err != nil {
		return nil, err
	}
	var items []batch.Item
	var problems []error
	for _, row := range rows {
		item := batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: row.Cell("shipment_id"), FileURL: row.Cell("file_url")}}
		if (item.Analyze.ShipmentID == "") == (item.Analyze.FileURL == "") {
			problems = append(problems, fmt.Errorf("%s, line %d: fill in exactly one of shipment_id and file_url", path, row.Line))
			continue
		}
		items = append(items, item)
	}
	return items, errors.Join(problems...)
}

func name(item batch.Item) string {
	return item.Analyze.ShipmentID + item.Analyze.FileURL
}
