package regulatory_test

import (
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func TestPurchase_ChargesTheStoredAmountsThoughRatesMoved(t *testing.T) {
	t.Parallel()
	var charges []ledger.Entry
	w := newWorld(t, func(c *regulatory.Config) {
		c.Charged = func(entry ledger.Entry, record *regulatory.Record) {
			if record.Status != regulatory.StatePurchasing || record.TransactionID != entry.ID {
				t.Errorf("charge %s comes with %s", entry.ID, record.JSON())
			}
			charges = append(charges, entry)
		}
	})
	r := w.analyze(parcel)
	w.setRate("9999")
	receipt := w.purchase(r, "WATCH", "FDA")
	want := regulatory.Receipt{
		RequestID: r.RequestID, Status: regulatory.StateProcessing, DocumentTypes: []string{"WATCH", "FDA"},
		ChargedAmount: amount(t, "35253.06"), Currency: "NGN", TransactionID: receipt.TransactionID,
	}
	shippingtest.Diff(t, "receipt", want, receipt)
	if len(charges) != 1 || charges[0].Reference != r.RequestID || charges[0].Amount != receipt.ChargedAmount ||
		w.balance(naira) != "964746.94" {
		t.Errorf("charges are %+v and %s is left", charges, w.balance(naira))
	}
	w.is(r, "processing: WATCH generating, FDA generating")
}

func TestPurchase_LedgerThatRefusesIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.analyze(parcel)
	shippingtest.Must(w.ledger.Debit(naira, amount(t, "1"), r.RequestID, "Somebody else", w.clock.Now(), "TR-9"))(t)
	w.refused(regulatory.CodeChargeRefused, "already debited")(w.try(r, "WATCH"))
	if w.broken = true; w.get(r) != r || w.Check(w.ledger) == nil {
		t.Error("a charge that no purchase made goes unnoticed")
	}
}

// Each row breaks a request in one way, as only a bug in this package could, and Check names it.
func TestCheck_NamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		damage func(r *regulatory.Record)
		want   string
	}{
		"another amount": {func(r *regulatory.Record) { r.ChargedAmount = amount(t, "1") },
			"but the ledger has 17251.5"},
		"another transaction": {func(r *regulatory.Record) { r.TransactionID = "TR-9" }, "by TR-9 of"},
		"another wallet":      {func(r *regulatory.Record) { r.Wallet = dollars }, "of " + dollars + ", but the ledger has"},
		"not purchased": {func(r *regulatory.Record) { r.TransactionID = "" },
			"purchased false, paid in the ledger true"},
		"not generated": {func(r *regulatory.Record) { r.Status = regulatory.StateCompleted },
			"is completed; all its documents are generated: false"},
		"no transition": {func(r *regulatory.Record) { r.Status = regulatory.StateDraft },
			"has no row in the table of transitions"},
	} {
		w := newWorld(t)
		r := w.analyze(parcel)
		w.purchase(r, "WATCH")
		w.broken = true
		test.damage(w.get(r))
		err := w.Check(w.ledger)
		if name == "no transition" {
			w.advance(time.Minute)
			err = w.Check(w.ledger)
		}
		shippingtest.Contains(t, name, err, test.want)
	}
}
