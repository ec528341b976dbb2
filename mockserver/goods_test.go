package mockserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func TestAddShipment(t *testing.T) {
	t.Parallel()
	server := start(t)
	price := amount(t, "1500.50")
	for name, test := range map[string]struct {
		add  goods.Shipment
		want []shipping.DocumentType
	}{
		"zero value":    {goods.Shipment{}, types("CUSTOMS", "TEXTILE")},
		"HS code alone": {goods.Shipment{Items: []goods.Item{{HSCode: "9102.11"}}}, types("CUSTOMS", "WATCH")},
		"keyword":       {goods.Shipment{Items: []goods.Item{{Description: "leather shoes", Quantity: 3}}}, types("CUSTOMS", "FISH-WILDLIFE", "FOOTWEAR")},
		"domestic":      {goods.Shipment{To: shipping.Address{Country: "NG"}}, nil},
		"documents of the test": {goods.Shipment{ID: "SH-MINE", To: shipping.Address{Country: "NG"},
			Documents: []goods.Document{{DocumentType: "FDA", Amount: price, Mode: "manual"}}}, types("FDA")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := server.NewWorld(t)
			id, err := world.AddShipment(test.add)
			if err != nil || id != world.Shipments()[0] || test.add.ID != "" && id != test.add.ID {
				t.Fatalf("added %q to %v: %v", id, world.Shipments(), err)
			}
			client := world.Client(t)
			draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: id})
			if err != nil {
				t.Fatal(err)
			}
			var offered []shipping.DocumentType
			for _, document := range draft.AvailableDocuments {
				offered = append(offered, document.DocumentType)
			}
			slices.Sort(offered)
			if diff := cmp.Diff(test.want, offered); diff != "" {
				t.Errorf("offered (-want +got):\n%s", diff)
			}
			if test.add.Documents != nil {
				if got := draft.AvailableDocuments[0]; got.Amount != price || got.Currency != "NGN" || got.Mode != "manual" {
					t.Errorf("offered %+v", got)
				}
			}
			if _, err := world.Emit(notify.Event{Kind: "shipment.updated", ShipmentID: id}); err != nil {
				t.Error(err)
			}
			world.Reset()
			if slices.Contains(world.Shipments(), id) {
				t.Error("Reset has not removed the shipment")
			}
			if _, err := world.AddShipment(test.add); err != nil {
				t.Errorf("added again: %v", err)
			}
		})
	}
}

// Edits of a draft do not change what a test chose to offer.
func TestAddInvoice_KeepsItsDocuments(t *testing.T) {
	t.Parallel()
	server := start(t)
	url, err := server.AddInvoice(goods.Invoice{Documents: []goods.Document{{DocumentType: "STEEL", Amount: amount(t, "7"), Mode: "automated"}}})
	if err != nil || !slices.Contains(server.Invoices(), url) {
		t.Fatalf("added %q to %v: %v", url, server.Invoices(), err)
	}
	client := server.Client(t, shipping.WithDialect(&dialect.Dialect{Routes: dialect.Reference().Routes}))
	draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{FileURL: url})
	if err != nil {
		t.Fatal(err)
	}
	manual := goods.Document{DocumentType: "FDA", Amount: amount(t, "1"), Mode: "manual"}
	if _, err := server.AddShipment(goods.Shipment{Documents: []goods.Document{manual}}); err != nil {
		t.Error(err)
	}
	draft, err = client.Regulatory.UpdateItems(t.Context(), draft.RequestID, draft.LineItems)
	if err != nil || len(draft.AvailableDocuments) != 1 || draft.AvailableDocuments[0].DocumentType != "STEEL" || draft.AvailableDocuments[0].Mode != "automated" {
		t.Errorf("after an edit: %v, %v", draft, err)
	}
}

func TestAddShipment_RefusesInvalidGoods(t *testing.T) {
	t.Parallel()
	server := start(t)
	document := goods.Document{DocumentType: "FDA", Amount: amount(t, "1")}
	for name, test := range map[string]struct {
		add  goods.Shipment
		want string
	}{
		"known id":         {goods.Shipment{ID: server.Shipments()[3]}, "already"},
		"special input":    {goods.Shipment{ID: "SH-MAGICFAILONCE"}, "special input"},
		"empty item":       {goods.Shipment{Items: make([]goods.Item, 1)}, "needs an hs_code"},
		"bad HS code":      {goods.Shipment{Items: []goods.Item{{HSCode: "shoes"}}}, "hs_code must be 2 to 12 digits"},
		"bad country":      {goods.Shipment{To: shipping.Address{Country: "Ghana"}}, "to.country must be a two-letter code"},
		"unknown document": {goods.Shipment{Documents: []goods.Document{{DocumentType: "CUSTOM", Amount: amount(t, "1")}}}, "did you mean"},
		"document twice":   {goods.Shipment{Documents: []goods.Document{document, document}}, "FDA is listed twice"},
		"no price":         {goods.Shipment{Documents: []goods.Document{{DocumentType: "FDA"}}}, "amount of FDA must be a number"},
		"unknown mode":     {goods.Shipment{Documents: []goods.Document{{DocumentType: "FDA", Amount: amount(t, "1"), Mode: "auto"}}}, "automated or manual"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(server.Shipments())
			if _, err := server.AddShipment(test.add); err == nil || !strings.Contains(err.Error(), test.want) || len(server.Shipments()) != before {
				t.Errorf("%v, want %q; %d shipments, %d before", err, test.want, len(server.Shipments()), before)
			}
		})
	}
	if _, err := server.AddInvoice(goods.Invoice{URL: "ftp://x"}); err == nil || !strings.Contains(err.Error(), "absolute http or https URL") {
		t.Error(err)
	}
}

// What Go can add, a program in any language can add, too.
func TestAddShipment_OverHTTP(t *testing.T) {
	t.Parallel()
	server := start(t)
	var shipment struct {
		ShipmentID string `json:"shipment_id"`
	}
	post(t, server, "/_mock/shipments", `{"shipment_id":"SH-1","documents":[{"document_type":"CUSTOMS","amount":12.5},{"document_type":"FDA","amount":0}]}`).want(t, 200).data(t, &shipment)
	var invoice struct {
		FileURL string `json:"file_url"`
	}
	post(t, server, "/_mock/invoices", `{"line_items":[{"hs_code":"910211"}]}`).want(t, 200).data(t, &invoice)
	if shipment.ShipmentID != server.Shipments()[0] || invoice.FileURL != server.Invoices()[len(server.Invoices())-1] {
		t.Errorf("added %v and %v", shipment, invoice)
	}
	post(t, server, "/_mock/shipments", `{"shipment_id":"SH-1"}`).refusal(t, 400, "already")
}

func types(all ...shipping.DocumentType) []shipping.DocumentType { return all }
