package regulatory_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestEdit_RemovingTheWatchTakesItsDocumentAndProfileAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	for slug, profile := range map[string]regulatory.Profile{
		"WATCH": {"case_material": json.RawMessage(`"steel"`), "battery": json.RawMessage(` null`)},
		"FDA":   {"product_code": json.RawMessage(`"54FGG99"`)},
		"OTHER": {"details": json.RawMessage(`"Certificate of free sale"`)}, // adds its offer
	} {
		edited := w.record(w.UpdateProfile(r.RequestID, slug, profile))
		shippingtest.Diff(t, "fields of the profile of "+slug, 1, len(edited.Profiles[slug]))
	}
	shippingtest.Diff(t, "profiles of the record before the edits", 0, len(r.Profiles))
	w.setRate("9999")
	watch, supplement := r.LineItems[0], r.LineItems[1]
	r = w.record(w.UpdateItems(r.RequestID, regulatory.ItemsUpdate{LineItems: []regulatory.LineItem{supplement}}))
	shippingtest.Diff(t, "offers without the watch", "CUSTOMS 6000.52, FDA 18001.56, OTHER 30002.60", offers(r))
	if len(r.Profiles) != 2 || r.Profiles["FDA"] == nil || len(r.LineItems) != 1 || r.LineItems[0] != supplement {
		t.Errorf("record is %s", r.JSON())
	}

	watch.ItemID, watch.UnitPrice = "", amount(t, "0") // a gift
	given := []regulatory.LineItem{supplement, watch}
	r = w.record(w.UpdateItems(r.RequestID, regulatory.ItemsUpdate{LineItems: given}))
	shippingtest.Diff(t, "offers with a new watch, at the prices of the analysis",
		"CUSTOMS 6000.52, FDA 18001.56, WATCH 17251.50, OTHER 30002.60", offers(r))
	if len(r.Profiles) != 2 || r.LineItems[1].ItemID == "" || r.LineItems[1].HSCode != "910211" || given[1] != watch {
		t.Errorf("record is %s", r.JSON())
	}
}

func TestEdit_NamesEveryProblemAndChangesNothing(t *testing.T) {
	t.Parallel()
	edits := map[string]func(w *world, id, body string) (*regulatory.Record, error){
		"items": func(w *world, id, body string) (*regulatory.Record, error) {
			return w.UpdateItems(id, decoded[regulatory.ItemsUpdate](t, body))
		},
		"addresses": func(w *world, id, body string) (*regulatory.Record, error) {
			return w.UpdateAddresses(id, decoded[regulatory.AddressesUpdate](t, body))
		},
		"shipping": func(w *world, id, body string) (*regulatory.Record, error) {
			return w.UpdateShipping(id, decoded[regulatory.Shipping](t, body))
		},
	}
	for _, slug := range []string{"WATCH", "MSDS", "PASSPORT"} {
		edits[slug] = func(w *world, id, body string) (*regulatory.Record, error) {
			return w.UpdateProfile(id, slug, decoded[regulatory.Profile](t, body))
		}
	}
	for _, tc := range []struct {
		edit, body string
		code       regulatory.Code
		says       []string
	}{
		{"items", `{}`, regulatory.CodeInvalidRequest, []string{"line_items must hold at least one item"}},
		{"items", `{"line_items":[
				{"item_id":"IT-1","description":"a","quantity":1,"unit_price":1,"currency":"USD","weight":1,"origin_country":"CN"},
				{"item_id":"IT-1","hs_code":"watch","currency":"usd","unit_price":"free","weight":"light",
				"origin_country":"China"}]}`,
			regulatory.CodeInvalidRequest, []string{
				"line_items[1].item_id must not be that of line_items[0]", "line_items[1].description must describe the item",
				"line_items[1].hs_code must have 2, 4, 6, 8, 10 or 12 digits", "line_items[1].quantity must be at least 1",
				"line_items[1].unit_price must be a number", "line_items[1].currency must be a three-letter code",
				"line_items[1].weight must be a number", "line_items[1].origin_country must be a two-letter code",
			}},
		{"addresses", `{}`, regulatory.CodeInvalidRequest, []string{"origin or destination is required"}},
		{"addresses", `{"origin":{"country":"China"},"destination":{}}`,
			regulatory.CodeInvalidRequest, []string{"origin.country must be", "destination.country must be"}},
		{"shipping", `{"incoterm":"FREE","estimated_arrival":"soon"}`,
			regulatory.CodeInvalidRequest, []string{"incoterm must be one of EXW", "estimated_arrival must be a date"}},
		{"WATCH", `{"jewels":"many","colour":"red"}`,
			regulatory.CodeInvalidProfile, []string{"jewels must be a number", "colour is not a field of WATCH"}},
		{"MSDS", `{}`, regulatory.CodeNotOffered, []string{"does not offer MSDS"}},
		{"PASSPORT", `{}`, regulatory.CodeNotFound, []string{`no document type "PASSPORT"`}},
	} {
		w := newWorld(t)
		r := w.record(w.Analyze(regulatory.AnalyzeInput{FileURL: invoice}))
		w.refused(tc.code, tc.says...)(edits[tc.edit](w, r.RequestID, tc.body))
		if w.get(r) != r {
			t.Errorf("%s: the refused edit left %s", tc.edit, w.get(r).JSON())
		}
		w.refused(regulatory.CodeNotFound)(edits[tc.edit](w, "RD-9", tc.body))
	}
}

func decoded[T any](t *testing.T, text string) (value T) {
	t.Helper()
	shippingtest.NoError(t, json.Unmarshal([]byte(text), &value))
	return value
}

func TestAnalyze_FailureStoresAFailedRequestThatCanBeLookedUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   regulatory.AnalyzeInput
		rate string // from dollars to naira
		says string
	}{
		"unknown invoice": {regulatory.AnalyzeInput{FileURL: "https://invoices.example/9.pdf"}, "1",
			"no invoice could be read at https://invoices.example/9.pdf"},
		"shipment without items": {regulatory.AnalyzeInput{ShipmentID: "SH-EMPTY"}, "1",
			"line_items must hold at least one item"},
		"wallet without a rate": {regulatory.AnalyzeInput{ShipmentID: parcel, Wallet: euros}, "1",
			"no exchange rate from USD to EUR"},
		"special input":  {regulatory.AnalyzeInput{ShipmentID: "SH-MAGICFAILANALYSIS"}, "1", "could not be read"},
		"a rate of zero": {regulatory.AnalyzeInput{ShipmentID: parcel}, "0", "set one above zero"},
		"a rate of too many digits": {regulatory.AnalyzeInput{ShipmentID: parcel}, "1.00000000000000007",
			"cannot convert the price of FDA to NGN"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.setRate(tc.rate)
			r := w.refused(regulatory.CodeAnalysisFailed, tc.says, "analyze again")(w.Analyze(tc.in))
			id, _ := r.Data["request_id"].(string)
			stored := w.record(w.Get(id))
			if stored.Status != regulatory.StateFailed || r.Data["status"] != regulatory.StateFailed ||
				stored.FailureReason == "" {
				t.Errorf("refusal carries %v, stored is %s", r.Data, stored.JSON())
			}
			w.refused(regulatory.CodeNotRetryable, "its analysis failed", "analyze again")(w.Retry(id))
		})
	}
}

// story analyzes a special input, purchases every offered document except OTHER, and returns the states of the request:
// after the purchase, a minute later, and after one retry.
func story(t *testing.T, in regulatory.AnalyzeInput) (states []string) {
	rules := compliance.Default()
	w := newWorld(t, func(c *regulatory.Config) { c.Rules = func() *compliance.Rules { return rules } })
	r, err := w.Analyze(in)
	if err != nil {
		return []string{string(w.refused(regulatory.CodeAnalysisFailed)(nil, err).Code)}
	}
	var slugs []string
	for _, offer := range r.AvailableDocuments {
		slugs = append(slugs, offer.DocumentType)
	}
	if len(slugs) == 0 {
		return []string{"nothing offered"}
	}
	w.purchase(r, slugs...)
	states = append(states, statusAndDocuments(w.get(r)))
	w.advance(time.Minute)
	states = append(states, statusAndDocuments(w.get(r)))
	if _, err := w.Retry(r.RequestID); err == nil {
		w.advance(time.Minute)
		states = append(states, statusAndDocuments(w.get(r)))
	}
	return states
}

func TestSpecialInputs_States(t *testing.T) {
	t.Parallel()
	const (
		starting  = "processing: CUSTOMS generating, LITHIUM-BATTERY generating, WATCH generating"
		generated = "completed: CUSTOMS generated, LITHIUM-BATTERY generated, WATCH generated"
		failed    = "failed: CUSTOMS failed, LITHIUM-BATTERY generated, WATCH generated"
	)
	want := map[string][]string{
		"fail-analysis":      {"analysis_failed"},
		"match-customs-only": {"processing: CUSTOMS generating", "completed: CUSTOMS generated"},
		"match-nothing":      {"nothing offered"},
		"generate-slowly":    {starting, starting},
		"fail-once":          {starting, failed, generated},
		"fail-always":        {starting, failed, failed},
		"hang-in-purchasing": {"purchasing: ", "purchasing: "},
		"need-evidence": {"processing: CUSTOMS generating, MSDS awaiting_evidence",
			"processing: CUSTOMS generated, MSDS awaiting_evidence"},
	}
	guide := string(shippingtest.Must(os.ReadFile("../../../docs/testing.md"))(t))
	for _, special := range regulatory.SpecialInputs() {
		shippingtest.Contains(t, "docs/testing.md", guide, "| `"+special.Effect+"` | `"+special.ShipmentID+"` |")
		shippingtest.Diff(t, "invoice", "https://invoices.example/"+special.Effect+".pdf", special.FileURL)
		for _, in := range []regulatory.AnalyzeInput{{ShipmentID: special.ShipmentID}, {FileURL: special.FileURL}} {
			shippingtest.Diff(t, special.Effect, want[special.Effect], story(t, in))
		}
		delete(want, special.Effect)
	}
	for effect := range want {
		t.Errorf("%s is not in the table", effect)
	}
}
