package mockserver_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func TestAddShipment(t *testing.T) {
	t.Parallel()
	server := start(t)
	price := amount(t, "1500.50")
	mine := []goods.Document{{DocumentType: "FDA", Amount: price, Mode: "manual"}}
	for name, test := range map[string]struct {
		add  goods.Shipment
		want string
	}{
		"zero value":    {goods.Shipment{}, "CUSTOMS TEXTILE"},
		"HS code alone": {goods.Shipment{Items: []goods.Item{{HSCode: "9102.11"}}}, "CUSTOMS WATCH"},
		"keyword": {goods.Shipment{Items: []goods.Item{{Description: "leather shoes"}}},
			"CUSTOMS FISH-WILDLIFE FOOTWEAR"},
		"domestic": {goods.Shipment{To: shipping.Address{Country: "NG"}}, ""},
		"documents of the test, and a name longer than that of a world": {
			goods.Shipment{ID: "SH-MINE", To: shipping.Address{Country: "NG"}, Documents: mine}, "FDA"},
	} {
		t.Run(name, func(t *testing.T) { // its world has 64 characters of its name, and no slash
			t.Parallel()
			world := server.NewWorld(t)
			id, err := world.AddShipment(test.add)
			if err != nil || id != world.Shipments()[0] || test.add.ID != "" && id != test.add.ID {
				t.Fatalf("added %q to %v: %v", id, world.Shipments(), err)
			}
			draft := shippingtest.Draft(t, world.Client(t), id)
			var offered []string
			for _, document := range draft.AvailableDocuments {
				offered = append(offered, string(document.DocumentType))
				if document.DocumentType == "FDA" && (document.Amount != price || document.Currency != "NGN" ||
					document.Mode != "manual") {
					t.Errorf("offered %+v", document)
				}
			}
			slices.Sort(offered)
			shippingtest.Diff(t, name, test.want, strings.Join(offered, " "))
			emit(t, world, notify.Event{Kind: "shipment.updated", ShipmentID: id})
			if world.Reset(); slices.Contains(world.Shipments(), id) {
				t.Error("Reset has not removed the shipment")
			}
			shippingtest.Must(world.AddShipment(test.add))(t)
		})
	}
}

// Edits of a draft do not change the offers that a test chose.
func TestAddInvoice_KeepsItsDocuments(t *testing.T) {
	t.Parallel()
	server := start(t)
	url, err := server.AddInvoice(goods.Invoice{Documents: []goods.Document{{DocumentType: "STEEL", Amount: amount(t, "7"),
		Mode: "automated"}}})
	if err != nil || !slices.Contains(server.Invoices(), url) {
		t.Fatalf("added %q to %v: %v", url, server.Invoices(), err)
	}
	client := server.Client(t, shippingtest.WithRoutes())
	draft := shippingtest.Must(client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{FileURL: url}))(t)
	manual := goods.Document{DocumentType: "FDA", Amount: amount(t, "1"), Mode: "manual"}
	shippingtest.Must(server.AddShipment(goods.Shipment{Documents: []goods.Document{manual}}))(t)
	draft, err = client.Regulatory.UpdateItems(t.Context(), draft.RequestID, draft.LineItems)
	if err != nil || len(draft.AvailableDocuments) != 1 || draft.AvailableDocuments[0].DocumentType != "STEEL" ||
		draft.AvailableDocuments[0].Mode != "automated" {
		t.Errorf("after an edit: %v, %v", draft, err)
	}
}

// A budget counts a tax beside the price, which no offer of the server could show.
func TestAddShipment_WithATax(t *testing.T) {
	t.Parallel()
	server := start(t)
	post(t, server, "/_mock/shipments", `{"shipment_id":"SH-1",
		"documents":[{"document_type":"FDA","amount":100,"beside":{"tax":7.5}}]}`).want(t, http.StatusOK)
	_, err := server.Client(t).Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: "SH-1"},
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAll,
			Budget: shippingtest.Must(shipping.ParseBudget("107.00 NGN"))(t)})
	shippingtest.WantErrorWith(t, "a purchase above the budget", err, shipping.ErrOverBudget, "107.50 NGN needed")
}

// What Go can add, a program in any language can add, too. Invalid goods are refused, and nothing is added.
func TestAddShipment_OverHTTP(t *testing.T) {
	t.Parallel()
	server := start(t)
	const fda, free = `{"document_type":"FDA","amount":1}`, `{"document_type":"CUSTOMS","amount":0}`
	post(t, server, "/_mock/shipments", `{"shipment_id":"SH-1","documents":[`+fda+`,`+free+`]}`).want(t, http.StatusOK)
	url := post(t, server, "/_mock/invoices", `{"line_items":[{"hs_code":"910211"}]}`).want(t, 200).text(t, "file_url")
	shipments, invoices := server.Shipments(), server.Invoices()
	if shipments[0] != "SH-1" || !slices.Contains(invoices, url) {
		t.Errorf("%q and %q have no SH-1 and no %q", shipments, invoices, url)
	}
	for body, want := range map[string]string{
		`{"shipment_id":"SH-1"}`:               "already: choose another id",
		`{"shipment_id":"SH-MAGICFAILONCE"}`:   "special input",
		`{"line_items":[{}]}`:                  "needs an hs_code",
		`{"line_items":[{"hs_code":"shoes"}]}`: "hs_code must have 2, 4, 6, 8, 10 or 12 digits",
		// A spreadsheet dropped the zero of 030559, and two documents that the fish needs were not offered.
		`{"line_items":[{"description":"Dried fish","quantity":2,"hs_code":"30559"}]}`: `a leading zero), not "30559"; leave`,
		// The OpenAPI document does not allow these identifiers, so that checking clients refused them.
		`{"shipment_id":"ORD-7"}`:                              "shipment_id must be SH- followed by at most 64 letters and digits",
		`{"shipment_id":"SH-1 2"}`:                             "shipment_id must be SH-",
		`{"shipment_id":"SH-1\r\n"}`:                           "shipment_id must be SH-",
		`{"shipment_id":"SH-` + strings.Repeat("1", 65) + `"}`: "shipment_id must be SH-",
		// The last of two values was taken in silence.
		`{"shipment_id":"SH-2","shipment_id":"SH-3"}`:                     `field "shipment_id" is given twice`,
		`{"line_items":[{"hs_code":"910211","quantity":1,"quantity":2}]}`: `field "quantity" is given twice`,
		// The refusal showed how the server encodes JSON.
		`{"documents":[{"document_type":"FDA","amount":1e400}]}`:                   "amount of FDA must be a number",
		`{"line_items":[{"hs_code":"910211","unit_price":1e400}]}`:                 "unit_price must be a number",
		`{"to":{"country":"Ghana"}}`:                                               "to.country must be a two-letter code",
		`{"documents":[{"document_type":"CUSTOM","amount":1}]}`:                    "did you mean",
		`{"documents":[` + fda + `,` + fda + `]}`:                                  "FDA is listed twice",
		`{"documents":[{"document_type":"FDA"}]}`:                                  "amount of FDA must be a number",
		`{"documents":[{"document_type":"FDA","amount":1,"mode":"auto"}]}`:         "automated or manual",
		`{"documents":[{"document_type":"FDA","amount":1,"beside":{"amount":2}}]}`: `beside has "amount"`,
		`{"documents":[{"document_type":"FDA","amount":1,"beside":{"tax":""}}]}`:   `beside has "tax"`,
	} {
		post(t, server, "/_mock/shipments", body).refusal(t, http.StatusBadRequest, want)
	}
	post(t, server, "/_mock/invoices", `{"file_url":"ftp://x"}`).refusal(t, 400, "absolute http or https URL")
	shippingtest.Diff(t, "shipments after the refusals", shipments, server.Shipments())
	shippingtest.Diff(t, "invoices after the refusals", invoices, server.Invoices())
}
