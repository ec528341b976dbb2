package regulatory_test

import (
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestSheet_ShowsAGeneratedDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	w.refused(regulatory.CodeNotFound, "purchase it first")(w.Sheet(r.RequestID, "WATCH"))
	w.purchase(r, "CUSTOMS", "WATCH")
	w.refused(regulatory.CodeNotGenerated, "WATCH", "generating")(w.Sheet(r.RequestID, "WATCH"))
	w.advance(7 * time.Second)

	shippingtest.Diff(t, "sheet", []string{
		"Watch worksheet (WATCH)", "Request " + r.RequestID + " for " + parcel, "Generated on 2026-01-05",
		"Specimen of a test server. It is not a legal document.", "",
		"1 x Wristwatch, HS code 910211, origin CN, 89.9 USD each",
		"2 x Food supplement & vitamins, HS code 210690, origin CN, 12.5 USD each",
	}, shippingtest.Must(w.Sheet(r.RequestID, "WATCH"))(t))
	w.refused(regulatory.CodeNotFound, "RD-9")(w.Sheet("RD-9", "WATCH"))
}
