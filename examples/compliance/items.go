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

// readItems reads the list. Every line that cannot be used is named, with what to do.
func readItems(path string) ([]shipping.BatchItem, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows := csv.NewReader(file)
	rows.FieldsPerRecord = -1
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header line: write shipment_id, file_url or both into the first line", path)
	}
	for i := range header {
		header[i] = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(header[i], "\ufeff")))
	}
	shipment, invoice := slices.Index(header, "shipment_id"), slices.Index(header, "file_url")
	if shipment < 0 && invoice < 0 {
		return nil, fmt.Errorf("%s: the header has neither shipment_id nor file_url", path)
	}
	var items []shipping.BatchItem
	var problems []error
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return items, errors.Join(problems...)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line, _ := rows.FieldPos(0)
		item := shipping.BatchItem{Analyze: shipping.AnalyzeRequest{ShipmentID: cell(row, shipment), FileURL: cell(row, invoice)}}
		if (item.Analyze.ShipmentID == "") == (item.Analyze.FileURL == "") {
			problems = append(problems, fmt.Errorf("%s, line %d: fill in exactly one of shipment_id and file_url", path, line))
			continue
		}
		items = append(items, item)
	}
}

func cell(row []string, column int) string {
	if column < 0 || column >= len(row) {
		return ""
	}
	return strings.TrimSpace(row[column])
}

func name(item shipping.BatchItem) string {
	return item.Analyze.ShipmentID + item.Analyze.FileURL
}
