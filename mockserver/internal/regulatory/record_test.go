package regulatory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
			must[*regulatory.Record](t)(w.UpdateProfile(r.RequestID, "FDA", regulatory.Profile{"product_code": json.RawMessage(` "54FGG99"`)}))
			w.advance(1250 * time.Millisecond)
			w.purchase(r, "WATCH", "FDA")
			w.advance(7 * time.Second)
			return w.get(r)
		},
		"failed_analysis.json": func(t *testing.T, w *world) *regulatory.Record {
			_, err := w.Analyze(regulatory.AnalyzeInput{FileURL: "https://invoices.example/9.pdf"})
			refusal(t, err, regulatory.CodeAnalysisFailed)
			return w.Records()[0]
		},
		"invoice_failed_generation.json": func(t *testing.T, w *world) *regulatory.Record {
			w.hooks[fault.Generation] = func(string) error { return errors.New("the printer is out of paper") }
			r := must[*regulatory.Record](t)(w.Analyze(regulatory.AnalyzeInput{FileURL: invoice, Wallet: dollars}))
			must[*regulatory.Record](t)(w.UpdateAddresses(r.RequestID, regulatory.AddressesUpdate{Destination: &regulatory.Address{
				Name: "Ngozi Obi", Company: "Obi & Co", Line1: "4 Marina", Line2: "Floor 2", City: "Lagos", State: "LA",
				PostalCode: "101241", Country: "NG", Phone: "+2348000000", Email: "ngozi@obi.example",
			}}))
			must[*regulatory.Record](t)(w.UpdateShipping(r.RequestID, regulatory.Shipping{
				CarrierSlug: "fedex", Service: "Priority", Incoterm: "DDP", ReasonForExport: "Gift", PortOfEntry: "Lagos", EstimatedArrival: "2026-01-31",
			}))
			w.purchase(r, "CUSTOMS")
			w.advance(3 * time.Second)
			return w.get(r)
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			golden := must[[]byte](t)(os.ReadFile("testdata/" + file))
			var want bytes.Buffer
			must[any](t)(nil, json.Compact(&want, golden))
			r := reach(t, newWorld(t))
			if diff := cmp.Diff(want.String(), string(r.JSON())); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// A record that was returned does not change when the request does.
func TestRecord_NeverChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hooks[fault.Generation] = func(string) error { return errors.New("not today") }
	type version struct {
		record *regulatory.Record
		then   string
	}
	var versions []version
	note := func(r *regulatory.Record, err error) {
		t.Helper()
		r = must[*regulatory.Record](t)(r, err)
		text, err := json.Marshal(r)
		must[any](t)(nil, err)
		versions = append(versions, version{r, string(text)})
	}
	id := w.analyze(parcel).RequestID
	note(w.Get(id))
	note(w.UpdateProfile(id, "WATCH", regulatory.Profile{"jewels": json.RawMessage("1")}))
	note(w.UpdateProfile(id, "OTHER", regulatory.Profile{"details": json.RawMessage(`"a"`)}))
	note(w.UpdateItems(id, regulatory.ItemsUpdate{LineItems: []regulatory.LineItem{w.supplement()}}))
	w.purchase(w.Records()[0], "FDA", "CUSTOMS")
	note(w.Get(id))
	w.advance(time.Minute)
	note(w.Get(id))
	delete(w.hooks, fault.Generation)
	note(w.Retry(id))
	w.advance(time.Minute)
	note(w.Get(id))
	for i, v := range versions {
		if text, err := json.Marshal(v.record); err != nil || string(text) != v.then {
			t.Errorf("version %d was %s and is %s (%v)", i, v.then, text, err)
		}
	}
}
