package regulatory_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/formpdf"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestSheet_ShowsAGeneratedDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	w.record(w.UpdateProfile(r.RequestID, "WATCH", regulatory.Profile{
		"case_material": json.RawMessage(`"Steel \u0026 gold"`), "jewels": json.RawMessage(`17`),
		"battery": json.RawMessage(`false`), "gold": json.RawMessage(`12.5`),
	}))
	w.refused(regulatory.CodeNotFound, "purchase it first")(w.Sheet(r.RequestID, "WATCH"))
	w.purchase(r, "CUSTOMS", "WATCH")
	w.refused(regulatory.CodeNotGenerated, "WATCH", "generating")(w.Sheet(r.RequestID, "WATCH"))
	w.advance(7 * time.Second)

	got := shippingtest.Must(w.Sheet(r.RequestID, "WATCH"))(t)
	want := formpdf.Document{
		RequestID: r.RequestID, DocumentType: "WATCH", Title: "Watch worksheet", Subtitle: "Parts of a watch.",
		Reference: parcel, Date: w.clock.Now(),
		Exporter: []string{"Lin Wei", "18 Keji Road", "Shenzhen", "CN"}, Importer: []string{"Ada Brooks", "240 Market Street",
			"Newark NJ", "US"},
		Items: []formpdf.Item{{
			Description: "Wristwatch", HSCode: "910211", OriginCountry: "CN", Quantity: "1", Currency: "USD", UnitValue: "89.90",
			TotalValue: "89.90",
		}},
		Totals: []string{"89.90 USD"},
		Fields: []formpdf.Field{
			{Label: "Case material (required)", Value: "Steel & gold"}, {Label: "Jewels", Value: "17"},
			{Label: "Battery", Value: "No"}, {Label: "Gold share", Value: "12.5 %"},
		},
	}
	shippingtest.Diff(t, "sheet", want, got)
	customs := shippingtest.Must(w.Sheet(r.RequestID, "CUSTOMS"))(t)
	if len(customs.Items) != 2 || customs.Fields[0].Value != "" {
		t.Errorf("the customs invoice shows %+v", customs)
	}
	w.refused(regulatory.CodeNotFound, "RD-9")(w.Sheet("RD-9", "WATCH"))
}
