package regulatory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Each golden file is the wire shape of a record, written by hand; fields stand in its order.
func TestRecord_GoldenFiles(t *testing.T) {
	t.Parallel()
	for file, reach := range map[string]func(t *testing.T, w *world) *regulatory.Record{
		"draft.json": func(t *testing.T, w *world) *regulatory.Record {
			return w.analyze(parcel)
		},
		"processing.json": func(t *testing.T, w *world) *regulatory.Record {
			r := w.analyze(parcel)
			w.record(w.UpdateProfile(r.RequestID, "FDA", regulatory.Profile{
				"product_code": json.RawMessage(` "54FGG99"`),
			}))
			w.advance(1250 * time.Millisecond)
			w.purchase(r, "WATCH", "FDA")
			w.advance(7 * time.Second)
			return w.get(r)
		},
		"failed_analysis.json": func(t *testing.T, w *world) *regulatory.Record {
			w.refused(regulatory.CodeAnalysisFailed)(w.Analyze(regulatory.AnalyzeInput{FileURL: "https://invoices.example/9.pdf"}))
			return w.Records()[0]
		},
		"invoice_failed_generation.json": func(t *testing.T, w *world) *regulatory.Record {
			w.hooks[fault.Generation] = func(string) error { return errors.New("the printer is out of paper") }
			r := w.record(w.Analyze(regulatory.AnalyzeInput{FileURL: invoice, Wallet: dollars}))
			w.record(w.UpdateAddresses(r.RequestID,
				regulatory.AddressesUpdate{Destination: &regulatory.Address{
					Name: "Ngozi Obi", Company: "Obi & Co", Line1: "4 Marina", Line2: "Floor 2", City: "Lagos", State: "LA",
					PostalCode: "101241", Country: "NG", Phone: "+2348000000", Email: "ngozi@obi.example",
				}}))
			w.record(w.UpdateShipping(r.RequestID, regulatory.Shipping{
				CarrierSlug: "fedex", Service: "Priority", Incoterm: "DDP", ReasonForExport: "Gift", PortOfEntry: "Lagos",
				EstimatedArrival: "2026-01-31",
			}))
			w.purchase(r, "CUSTOMS")
			w.advance(3 * time.Second)
			return w.get(r)
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			golden := shippingtest.Must(os.ReadFile("testdata/" + file))(t)
			var want bytes.Buffer
			shippingtest.NoError(t, json.Compact(&want, golden))
			r := reach(t, newWorld(t))
			shippingtest.Diff(t, "record", want.String(), string(r.JSON()))
		})
	}
}
