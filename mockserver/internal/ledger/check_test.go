package ledger

import (
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

// Each row breaks a good ledger in one way, as only a bug in this package could, and Check names it.
func TestCheckNamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	journal := func(change func([]Entry) []Entry) func(*Ledger) {
		return func(l *Ledger) {
			entries := change(l.Journal())
			l.journal = nil
			for _, e := range entries {
				l.journal = append(l.journal, &e)
			}
		}
	}
	second := func(change func(*Entry)) func(*Ledger) {
		return journal(func(j []Entry) []Entry {
			change(&j[1])
			return j
		})
	}
	reversal := func(id, reference string) Entry {
		return Entry{ID: id, Kind: KindReversal, Wallet: "VA-1", Currency: "NGN", Reference: reference, At: noon}
	}
	for name, tc := range map[string]struct {
		damage func(*Ledger)
		want   string
	}{
		"postings out of balance": {second(func(e *Entry) { e.Postings[1].Amount = amount(t, "4") }),
			"entry TR-2 is out of balance by 1"},
		"currency out of balance": {second(func(e *Entry) { e.Postings[1].Amount = amount(t, "4") }),
			"accounts in NGN sum to 1 instead of zero"},
		"wallet below zero": {journal(func(j []Entry) []Entry { return j[1:] }),
			"wallet VA-1 is below zero after entry TR-2: -3"},
		"balance of an account": {func(l *Ledger) { l.balances["VA-1"] = amount(t, "8") },
			"account VA-1 has 8, but 97.1 follows from the journal"},
		"balance of an entry": {second(func(e *Entry) { e.Balance = amount(t, "8") }),
			"entry TR-2 has balance 8, but 97.1 follows from the journal"},
		"account not open": {func(l *Ledger) { delete(l.balances, Revenue("NGN")) },
			"account revenue:NGN, which is not open"},
		"wallet not open": {func(l *Ledger) { l.wallets = nil }, "wallet VA-1, which is not open"},
		"wallet of another currency": {second(func(e *Entry) { e.Currency = "USD" }),
			"entry TR-2 moves USD in wallet VA-1, which is not open in that currency"},
		"reversed without a debit": {journal(func(j []Entry) []Entry { return append(j, reversal("TR-3", "RD-2")) }),
			"entry TR-3 reverses RD-2, which is not debited"},
		"reversed twice": {journal(func(j []Entry) []Entry {
			return append(j, reversal("TR-3", "RD-1"), reversal("TR-4", "RD-1"))
		}), "entry TR-4 reverses RD-1, which is not debited or already reversed"},
		"order of time": {second(func(e *Entry) { e.At = noon.Add(-time.Hour) }), "entry TR-2 is earlier than TR-1"},
		"id twice":      {second(func(e *Entry) { e.ID = "TR-1" }), "entry id TR-1 appears twice"},
		"debited twice": {journal(func(j []Entry) []Entry { return append(j, j[1]) }), "reference RD-1 is debited twice"},
		"unreadable amount": {second(func(e *Entry) {
			shippingtest.NoError(t, e.Postings[0].Amount.UnmarshalJSON([]byte(`"much"`)))
		}), "entry TR-2: shipping: amount is not a decimal number"},
	} {
		l := funded(t)
		shippingtest.Must(l.Debit("VA-1", amount(t, "3"), "RD-1", "", noon, "TR-2"))(t)
		checkBalance(t, l, "VA-1", "97.10")
		tc.damage(l)
		shippingtest.Contains(t, name, l.Check(), tc.want)
	}
}
