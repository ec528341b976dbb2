package ledger

import (
	"errors"
	"fmt"

	"github.com/shipping-go/shipping"
)

// Check replays the whole journal and returns nil, or an error that names every
// violated invariant:
//
//   - the postings of each entry sum to zero, and so do the balances of each currency,
//   - no wallet was below zero after any entry,
//   - each entry and each account has the balance that follows from the journal,
//   - entries are in chronological order, and no id appears twice,
//   - no reference was debited twice, or reversed more than once or before it was debited.
func (l *Ledger) Check() error {
	var broken []error
	report := func(format string, args ...any) { broken = append(broken, fmt.Errorf(format, args...)) }

	balances := make(map[Account]shipping.Amount)
	currencies := make(map[string]shipping.Amount)
	ids := make(map[string]bool)
	debited := make(map[string]string)
	reversed := make(map[string]bool)
	var before Entry
	for _, e := range l.Journal() {
		if e.At.Before(before.At) {
			report("entry %s is earlier than %s before it", e.ID, before.ID)
		}
		before = e
		if ids[e.ID] {
			report("entry id %s appears twice", e.ID)
		}
		ids[e.ID] = true
		if wallet, known := l.Wallet(e.Wallet); !known || wallet.Currency != e.Currency {
			report("entry %s moves %s in wallet %s, which is not open in that currency", e.ID, e.Currency, e.Wallet)
		}
		if first, twice := debited[e.Reference]; e.Kind == KindDebit && twice {
			report("reference %s is debited twice, by %s and %s", e.Reference, first, e.ID)
		}
		if e.Kind == KindDebit {
			debited[e.Reference] = e.ID
		}
		if e.Kind == KindReversal {
			if _, paid := debited[e.Reference]; !paid || reversed[e.Reference] {
				report("entry %s reverses %s, which is not debited or already reversed", e.ID, e.Reference)
			}
			reversed[e.Reference] = true
		}
		var sum shipping.Amount
		for _, p := range e.Postings {
			sum = add(sum, p.Amount, report, e.ID)
			balances[p.Account] = add(balances[p.Account], p.Amount, report, e.ID)
			currencies[e.Currency] = add(currencies[e.Currency], p.Amount, report, e.ID)
		}
		if sum.Sign() != 0 {
			report("entry %s is out of balance by %s", e.ID, sum)
		}
		after := balances[Account(e.Wallet)]
		if after.Sign() < 0 {
			report("wallet %s is below zero after entry %s: %s", e.Wallet, e.ID, after)
		}
		if !after.Equal(e.Balance) {
			report("entry %s has balance %s, but %s follows from the journal", e.ID, e.Balance, after)
		}
	}
	for account := range balances {
		if _, open := l.balances[account]; !open {
			report("the journal posts to account %s, which is not open", account)
		}
	}
	for account, says := range l.balances {
		if !says.Equal(balances[account]) {
			report("account %s has %s, but %s follows from the journal", account, says, balances[account])
		}
	}
	for currency, sum := range currencies {
		if sum.Sign() != 0 {
			report("accounts in %s sum to %s instead of zero", currency, sum)
		}
	}
	return errors.Join(broken...)
}

func add(a, b shipping.Amount, report func(string, ...any), id string) shipping.Amount {
	sum, err := a.Add(b)
	if err != nil {
		report("entry %s: %w", id, err)
	}
	return sum
}
