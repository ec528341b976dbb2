package regulatory_test

import (
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestAnalyze_StoresADraftWithMatchedDocumentsAndLineItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	if r.Status != regulatory.StateDraft || r.Source != regulatory.FlowShipment || r.ShipmentID != parcel ||
		r.Shipping != nil {
		t.Errorf("record is %s", r.JSON())
	}
	if got, want := offers(r), "CUSTOMS 6000.52, FDA 18001.56, WATCH 17251.50"; got != want { // 11.5 × 1500.13 = 17251.495
		t.Errorf("the draft offers %s, want %s", got, want)
	}
	watch := r.LineItems[0].ItemID
	want := []compliance.Reason{{ItemID: watch, Rule: "hs_prefix", Match: "9102"}}
	shippingtest.Diff(t, "reasons of WATCH", want, r.AvailableDocuments[2].Reasons)
	if got := w.get(r); got != r {
		t.Errorf("look-up gives %s", got.JSON())
	}
	shippingtest.Diff(t, "balance after the analysis", "1000000.00", w.balance(naira))
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
