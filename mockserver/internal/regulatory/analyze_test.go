package regulatory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestAnalyze_StoresADraftWithMatchedDocumentsAndLineItems(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	if r.Status != regulatory.StateDraft || r.Source != regulatory.FlowShipment || r.ShipmentID != parcel || r.Shipping != nil {
		t.Errorf("record is %s", r.JSON())
	}
	if got, want := offers(r), "CUSTOMS 6000.52, FDA 18001.56, WATCH 17251.50"; got != want { // 11.5 × 1500.13 = 17251.495
		t.Errorf("the draft offers %s, want %s", got, want)
	}
	watch := r.LineItems[0].ItemID
	want := []compliance.Reason{{ItemID: watch, Rule: "hs_prefix", Match: "9102"}}
	if diff := cmp.Diff(want, r.AvailableDocuments[2].Reasons); diff != "" {
		t.Errorf("reasons of WATCH (-want +got):\n%s", diff)
	}
	if got := w.get(r); got != r {
		t.Errorf("look-up gives %s", got.JSON())
	}
	if w.balance(naira) != "1000000.00" {
		t.Errorf("analyze charged the wallet: %s", w.balance(naira))
	}
}

func TestAnalyze_RefusesAndStoresNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   regulatory.AnalyzeInput
		code regulatory.Code
		says string
	}{
		"neither shipment nor invoice": {regulatory.AnalyzeInput{}, regulatory.CodeInvalidRequest, "shipment_id or file_url is required"},
		"both":                         {regulatory.AnalyzeInput{ShipmentID: parcel, FileURL: invoice}, regulatory.CodeInvalidRequest, "exclude each other"},
		"unknown shipment":             {regulatory.AnalyzeInput{ShipmentID: "SH-9"}, regulatory.CodeNotFound, `no shipment "SH-9"`},
		"unknown wallet":               {regulatory.AnalyzeInput{ShipmentID: parcel, Wallet: "VA-9"}, regulatory.CodeNotFound, `no wallet "VA-9"`},
		"relative URL":                 {regulatory.AnalyzeInput{FileURL: "1001.pdf"}, regulatory.CodeInvalidRequest, "absolute http or https URL"},
		"other scheme":                 {regulatory.AnalyzeInput{FileURL: "file:///etc/passwd"}, regulatory.CodeInvalidRequest, "absolute http or https URL"},
		"no URL at all":                {regulatory.AnalyzeInput{FileURL: "http://[::1"}, regulatory.CodeInvalidRequest, "absolute http or https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.Analyze(tc.in)
			refusal(t, err, tc.code, tc.says)
			if n := len(w.Records()); n != 0 {
				t.Errorf("%d records are stored", n)
			}
		})
	}
}

func TestAnalyze_FailureStoresAFailedRequestThatCanBeLookedUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   regulatory.AnalyzeInput
		says string
	}{
		"invoice that nobody knows":   {regulatory.AnalyzeInput{FileURL: "https://invoices.example/9.pdf"}, "no invoice could be read at https://invoices.example/9.pdf"},
		"shipment without items":      {regulatory.AnalyzeInput{ShipmentID: "SH-EMPTY"}, "line_items must hold at least one item"},
		"wallet without a rate":       {regulatory.AnalyzeInput{ShipmentID: parcel, Wallet: euros}, "no exchange rate from USD to EUR"},
		"magic input, shipment flow":  {regulatory.AnalyzeInput{ShipmentID: "SH-MAGICFAILANALYSIS"}, "could not be read"},
		"special input, invoice flow": {regulatory.AnalyzeInput{FileURL: "https://invoices.example/fail-analysis.pdf"}, "could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.Analyze(tc.in)
			r := refusal(t, err, regulatory.CodeAnalysisFailed, tc.says, "analyze again")
			id, _ := r.Data["request_id"].(string)
			stored := must[*regulatory.Record](t)(w.Get(id))
			if stored.Status != regulatory.StateFailed || r.Data["status"] != regulatory.StateFailed || stored.FailureReason == "" {
				t.Errorf("refusal carries %v, stored is %s", r.Data, stored.JSON())
			}
			_, err = w.Retry(id)
			refusal(t, err, regulatory.CodeNotRetryable, "its analysis failed", "analyze again")
			w.checkSound()
		})
	}
}

func TestAnalyze_RefusesRatesAndPricesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for rate, says := range map[string]string{"0": "set one above zero", "-1": "set one above zero", "1.00000000000000007": "cannot convert the price of FDA to NGN"} {
		w := newWorld(t)
		w.setRate(rate)
		_, err := w.Analyze(regulatory.AnalyzeInput{ShipmentID: parcel})
		refusal(t, err, regulatory.CodeAnalysisFailed, says)
	}
}
