package regulatory_test

import (
	"strings"
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

func TestPurchase_RefusalsChargeNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		slugs []string
		code  regulatory.Code
		says  []string
	}{
		"no document types": {nil, regulatory.CodeInvalidRequest, []string{"document_types is required"}},
		"a slug that no form has": {[]string{"WATCH", "PASSPORT"}, regulatory.CodeUnknownDocumentType,
			[]string{"document_types[1] (PASSPORT) is not a document type", "nothing was charged"}},
		"a slug in lower case": {[]string{"watch"}, regulatory.CodeUnknownDocumentType,
			[]string{"(watch) is not a document type"}},
		"a form that is not offered": {[]string{"MSDS"}, regulatory.CodeNotOffered,
			[]string{"(MSDS) is not offered by the draft", "offers CUSTOMS, FDA, WATCH"}},
		"the same form twice": {[]string{"FDA", "FDA"}, regulatory.CodeRepeatedDocumentType,
			[]string{"document_types[1] (FDA) is listed before"}},
		"every problem, all named": {[]string{"MSDS", "", "WATCH", "WATCH"}, regulatory.CodeNotOffered,
			[]string{"[0] (MSDS)", "[1] () is no", "[3] (WATCH)"}},
		"more than the wallet holds": {[]string{"WATCH"}, regulatory.CodeInsufficientFunds,
			[]string{"holds USD 10.00, and USD 11.50 is needed",
				`add money with PATCH /_mock/ledger {"fund":[{"wallet":"` + dollars + `","amount":1.5}]}`}},
		"a sum above the balance": {[]string{"CUSTOMS", "FDA"}, regulatory.CodeInsufficientFunds,
			[]string{"USD 16.00 is needed"}},
		"a hundred kilobytes of a slug": {[]string{string(make([]byte, 100_000))}, regulatory.CodeUnknownDocumentType,
			[]string{"…"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.record(w.Analyze(regulatory.AnalyzeInput{ShipmentID: parcel, Wallet: dollars}))
			said := w.refused(tc.code, tc.says...)(w.try(r, tc.slugs...))
			if problems := strings.Count(said.Message, "document_types["); len(said.Message) > 1000 || problems > len(tc.slugs) {
				t.Errorf("the message has %d characters and %d problems", len(said.Message), problems)
			}
			if w.get(r) != r || w.balance(dollars) != "10.00" || w.clock.Waiting() != 0 {
				t.Errorf("the refusal left %s and %s in the wallet", w.get(r).JSON(), w.balance(dollars))
			}
		})
	}
}
