package regulatory_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestSheet_ShowsAGeneratedDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	must[*regulatory.Record](t)(w.UpdateProfile(r.RequestID, "WATCH", regulatory.Profile{
		"case_material": json.RawMessage(`"Steel \u0026 gold"`), "jewels": json.RawMessage(`17`),
		"battery": json.RawMessage(`false`), "gold": json.RawMessage(`12.5`),
	}))
	_, err := w.Sheet(r.RequestID, "WATCH")
	refusal(t, err, regulatory.CodeNotFound, "purchase it first")
	w.purchase(r, "CUSTOMS", "WATCH")
	_, err = w.Sheet(r.RequestID, "WATCH")
	refusal(t, err, regulatory.CodeNotGenerated, "WATCH", "generating")
	w.advance(7 * time.Second)

	got := must[regulatory.Sheet](t)(w.Sheet(r.RequestID, "WATCH"))
	want := regulatory.Sheet{
		RequestID: r.RequestID, DocumentType: "WATCH", Title: "Watch worksheet", Description: "Parts of a watch.",
		Reference: parcel, GeneratedAt: w.now, Addresses: r.Addresses, Items: r.LineItems[:1],
		Fields: []regulatory.SheetField{
			{Label: "Case material", Value: "Steel & gold", Required: true}, {Label: "Jewels", Value: "17"},
			{Label: "Battery", Value: "No"}, {Label: "Gold share", Value: "12.5 %"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sheet (-want +got):\n%s", diff)
	}
	customs := must[regulatory.Sheet](t)(w.Sheet(r.RequestID, "CUSTOMS"))
	if len(customs.Items) != 2 || customs.Fields[0].Value != "" {
		t.Errorf("the customs invoice shows %+v", customs)
	}
	_, err = w.Sheet("RD-9", "WATCH")
	refusal(t, err, regulatory.CodeNotFound, "RD-9")
}

func TestSheet_OfOtherShowsAllItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	must[*regulatory.Record](t)(w.UpdateProfile(r.RequestID, "OTHER", regulatory.Profile{"details": json.RawMessage(`"Free sale"`)}))
	w.purchase(r, "OTHER")
	must[*regulatory.Record](t)(w.SubmitEvidence(r.RequestID, "OTHER"))
	w.advance(time.Minute)
	if sheet := must[regulatory.Sheet](t)(w.Sheet(r.RequestID, "OTHER")); len(sheet.Items) != 2 || sheet.Fields[0].Value != "Free sale" {
		t.Errorf("the sheet shows %+v", sheet)
	}
}
