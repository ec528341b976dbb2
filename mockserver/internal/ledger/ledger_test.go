package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shipping-go/shipping"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

var amount = shippingtest.Amount

// funded returns a ledger with a naira wallet that holds 100.10 and an empty dollar wallet.
func funded(t testing.TB) *Ledger {
	t.Helper()
	l := New()
	err := errors.Join(l.Open(Wallet{Reference: "VA-1", Currency: "NGN", Name: "Main"}),
		l.Open(Wallet{Reference: "VA-2", Currency: "USD", Name: "Dollars"}))
	if _, failed := l.Fund("VA-1", amount(t, "100.10"), "Opening balance", noon, "TR-1"); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return l
}

func checkBalance(t testing.TB, l *Ledger, wallet, want string) {
	t.Helper()
	if got, known := l.Balance(wallet); !known || got != amount(t, want) {
		t.Errorf("balance of %s is %s (open %v), want %s", wallet, got, known, want)
	}
	shippingtest.NoError(t, l.Check())
}

// A debit moves money from the wallet to revenue, and a reversal moves it back.
func TestDebitAndReversal(t *testing.T) {
	t.Parallel()
	l := funded(t)
	debit := shippingtest.Must(l.Debit("VA-1", amount(t, "19.99"), "RD-1", "Regulatory documents", noon, "TR-2"))(t)
	checkBalance(t, l, "VA-1", "80.11")
	reversal := shippingtest.Must(l.Reverse("RD-1", "Label cancelled", noon, "TR-3"))(t)
	checkBalance(t, l, "VA-1", "100.10")
	want := []Entry{{
		ID: "TR-2", Kind: KindDebit, Wallet: "VA-1", Currency: "NGN", Amount: amount(t, "19.99"),
		Reference: "RD-1", Memo: "Regulatory documents", At: noon, Balance: amount(t, "80.11"),
		Postings: [2]Posting{{"VA-1", amount(t, "-19.99")}, {Revenue("NGN"), amount(t, "19.99")}},
	}, {
		ID: "TR-3", Kind: KindReversal, Wallet: "VA-1", Currency: "NGN", Amount: amount(t, "19.99"),
		Reference: "RD-1", Memo: "Label cancelled", At: noon, Balance: amount(t, "100.10"),
		Postings: [2]Posting{{"VA-1", amount(t, "19.99")}, {Revenue("NGN"), amount(t, "-19.99")}},
	}}
	if got := l.Entries("VA-1"); !slices.Equal(got[1:], want) || debit != want[0] || reversal != want[1] {
		t.Errorf("entries of the wallet are %+v, want %+v", got, want)
	}
	shippingtest.Diff(t, "entries of the other wallet", 0, len(l.Entries("VA-2")))
	shippingtest.Diff(t, "entries", 3, len(l.Journal()))
}

func TestWalletIsEmptiedButNeverOverdrawn(t *testing.T) {
	t.Parallel()
	l := funded(t)
	_, err := l.Debit("VA-1", amount(t, "100.11"), "RD-1", "", noon, "TR-2")
	var short *InsufficientFundsError
	if !errors.As(err, &short) || short.Balance != amount(t, "100.10") || short.Needed != amount(t, "100.11") {
		t.Fatalf("debit of more than the balance: %v", err)
	}
	shippingtest.Diff(t, "message",
		"wallet VA-1 holds NGN 100.10, and NGN 100.11 is needed", err.Error())
	checkBalance(t, l, "VA-1", "100.1")
	shippingtest.Must(l.Debit("VA-1", amount(t, "100.10"), "RD-1", "", noon, "TR-2"))(t)
	checkBalance(t, l, "VA-1", "0")
}

func TestRefusedCallsChangeNothing(t *testing.T) {
	t.Parallel()
	second := func(_ Entry, err error) error { return err }
	type call = func(*Ledger) error
	fund := func(wallet, units, id string, at time.Time) call {
		return func(l *Ledger) error { return second(l.Fund(wallet, amount(t, units), "", at, id)) }
	}
	debit := func(a shipping.Amount, reference string) call {
		return func(l *Ledger) error { return second(l.Debit("VA-1", a, reference, "", noon, "TR-2")) }
	}
	open := func(reference, currency string) call {
		return func(l *Ledger) error { return l.Open(Wallet{Reference: reference, Currency: currency}) }
	}
	for name, tc := range map[string]struct {
		call call
		want error
	}{
		"unknown wallet":              {fund("VA-9", "1", "TR-2", noon), ErrUnknownWallet},
		"no id":                       {fund("VA-1", "1", "", noon), ErrInvalidEntry},
		"earlier than the last entry": {fund("VA-1", "1", "TR-2", noon.Add(-1)), ErrInvalidEntry},
		"overflow":                    {fund("VA-1", "999999999999999999", "TR-2", noon), shipping.ErrAmountOverflow},
		"negative amount":             {debit(amount(t, "-1"), "RD-1"), ErrInvalidEntry},
		"amount not given":            {debit(shipping.Amount{}, "RD-1"), ErrInvalidEntry},
		"no reference":                {debit(amount(t, "1"), ""), ErrInvalidEntry},
		"open twice":                  {open("VA-1", "EUR"), ErrWalletExists},
		"open without currency":       {open("VA-3", ""), ErrInvalidEntry},
	} {
		l := funded(t)
		shippingtest.WantError(t, name, tc.call(l), tc.want)
		checkBalance(t, l, "VA-1", "100.1")
		shippingtest.Diff(t, name+": entries and wallets", [2]int{1, 2}, [2]int{len(l.Journal()), len(l.Wallets())})
	}
}

// After any calls a ledger sums to zero, and its balances and those of its copies equal plain sums of the accepted
// calls.
func TestLedgerBalancesAfterAnySequence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		books := []*book{{Ledger: funded(t), cents: map[string]int64{"VA-1": 10010, "VA-2": 0}, paid: map[string]payment{}}}
		for i := range rapid.IntRange(0, 40).Draw(rt, "calls") {
			b := rapid.SampledFrom(books).Draw(rt, "book")
			id := fmt.Sprintf("TR-%d", i+2)
			switch rapid.SampledFrom([]string{"fund", "debit", "debit", "reverse", "clone"}).Draw(rt, "call") {
			case "fund":
				b.fund(rt, id)
			case "debit":
				b.debit(rt, id)
			case "reverse":
				b.reverse(rt, id)
			case "clone":
				books = append(books, &book{b.Clone(), maps.Clone(b.cents), maps.Clone(b.paid)})
			}
		}
		for _, b := range books {
			b.check(rt)
		}
	})
}

// book is a ledger and its expected contents, stored in the simplest way.
type book struct {
	*Ledger
	cents map[string]int64   // by wallet
	paid  map[string]payment // by reference
}

type payment struct {
	wallet   string
	cents    int64
	reversed bool // it was given back
}

// draw returns a wallet, which may not be open, and an amount, which may be none that can be moved.
func (b *book) draw(rt *rapid.T) (wallet string, cents int64, a shipping.Amount) {
	wallet = rapid.SampledFrom([]string{"VA-1", "VA-2", "VA-3"}).Draw(rt, "wallet")
	cents = rapid.Int64Range(-100, 8000).Draw(rt, "cents")
	a, err := shipping.NewAmount(cents, 2)
	if err != nil {
		rt.Fatal(err)
	}
	return wallet, cents, a
}

func drawReference(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"RD-1", "RD-2", "RD-3", "RD-4"}).Draw(rt, "reference")
}

func (b *book) fund(rt *rapid.T, id string) {
	wallet, cents, a := b.draw(rt)
	_, open := b.cents[wallet]
	_, err := b.Fund(wallet, a, "", noon, id)
	if want := open && cents >= 0; want != (err == nil) {
		rt.Fatalf("fund %s with %s: %v", wallet, a, err)
	} else if want {
		b.cents[wallet] += cents
	}
}

func (b *book) debit(rt *rapid.T, id string) {
	wallet, cents, a := b.draw(rt)
	reference := drawReference(rt)
	held, open := b.cents[wallet]
	_, paid := b.paid[reference]
	_, err := b.Debit(wallet, a, reference, "", noon, id)
	if want := open && cents >= 0 && cents <= held && !paid; want != (err == nil) {
		rt.Fatalf("debit %s by %s for %s: %v", wallet, a, reference, err)
	} else if want {
		b.cents[wallet], b.paid[reference] = held-cents, payment{wallet: wallet, cents: cents}
	}
}

func (b *book) reverse(rt *rapid.T, id string) {
	reference := drawReference(rt)
	p, paid := b.paid[reference]
	_, err := b.Reverse(reference, "", noon, id)
	if want := paid && !p.reversed; want != (err == nil) {
		rt.Fatalf("reverse %s: %v", reference, err)
	} else if want {
		b.cents[p.wallet] += p.cents
		b.paid[reference] = payment{p.wallet, p.cents, true}
	}
}

func (b *book) check(rt *rapid.T) {
	for wallet, cents := range b.cents {
		want, err := shipping.NewAmount(cents, 2)
		if got, _ := b.Balance(wallet); err != nil || got != want {
			rt.Fatalf("balance of %s is %s, want %s", wallet, got, want)
		}
	}
	for reference, p := range b.paid {
		if e, known := b.Debited(reference); !known || e.Wallet != p.wallet {
			rt.Fatalf("%s is paid by %q (%v), want %s", reference, e.Wallet, known, p.wallet)
		}
	}
	if err := b.Check(); err != nil {
		rt.Fatal(err)
	}
}

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
