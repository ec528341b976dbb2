// Package ledger implements the reference server's money: wallets, the two house accounts of each
// currency, and a journal of double entries between them.
//
// Every entry has two postings that sum to zero, so money is neither created nor lost. A wallet never
// goes below zero, and one reference is debited at most once.
// A refused call changes nothing. [Ledger.Check] verifies all of it from the journal.
//
// A Ledger is not safe for concurrent use; the world that owns it has the lock.
package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
)

var (
	// ErrUnknownWallet is returned for a reference that was never opened.
	ErrUnknownWallet = errors.New("no such wallet")
	// ErrWalletExists is returned if a reference is opened twice.
	ErrWalletExists = errors.New("wallet is already open")
	// ErrAlreadyDebited is returned if a reference is debited a second time.
	ErrAlreadyDebited = errors.New("reference is already debited")
	// ErrNotDebited is returned if a reference to reverse was never debited.
	ErrNotDebited = errors.New("reference is not debited")
	// ErrAlreadyReversed is returned if a reference is reversed a second time.
	ErrAlreadyReversed = errors.New("reference is already reversed")
	// ErrInvalidEntry is returned for an invalid entry: an amount that is negative
	// or unknown, an empty id or reference, or a time before that of the last entry.
	ErrInvalidEntry = errors.New("invalid ledger entry")
)

// InsufficientFundsError is returned for a debit that would leave the wallet below zero.
type InsufficientFundsError struct {
	Wallet, Currency string
	Balance, Needed  shipping.Amount
}

// Error returns a message with the balance and the needed amount.
func (e *InsufficientFundsError) Error() string {
	return fmt.Sprintf("wallet %s holds %s %s, and %s %s is needed",
		e.Wallet, e.Currency, e.Balance.StringFixed(2), e.Currency, e.Needed.StringFixed(2))
}

// Ledger is a set of accounts and the journal of movements between them. [New] returns one.
type Ledger struct {
	wallets  []Wallet // in the order of opening
	balances map[Account]shipping.Amount
	journal  []*Entry          // append-only, in time order
	debited  map[string]*Entry // by reference of the debit
	reversed map[string]bool   // references whose debit was reversed
}

func New() *Ledger {
	return &Ledger{balances: map[Account]shipping.Amount{}, debited: map[string]*Entry{}, reversed: map[string]bool{}}
}

// Open adds an empty wallet. The reference must be new and not the name of a house account.
// Reference and currency are required.
func (l *Ledger) Open(wallet Wallet) error {
	account := Account(wallet.Reference)
	if wallet.Reference == "" || wallet.Currency == "" {
		return fmt.Errorf("%w: a wallet needs a reference and a currency", ErrInvalidEntry)
	}
	if _, known := l.Wallet(wallet.Reference); known {
		return fmt.Errorf("%w: %s", ErrWalletExists, wallet.Reference)
	}
	zero, err := shipping.NewAmount(0, 0) // a known amount, unlike the zero Amount
	if err != nil {
		return err
	}
	l.wallets = append(l.wallets, wallet)
	for _, account := range []Account{account, Funding(wallet.Currency), Revenue(wallet.Currency)} {
		if _, known := l.balances[account]; !known {
			l.balances[account] = zero
		}
	}
	return nil
}

// Fund deposits money into a wallet and journals it under id. It returns
// [ErrUnknownWallet], [ErrInvalidEntry] or [shipping.ErrAmountOverflow].
func (l *Ledger) Fund(wallet string, amount shipping.Amount, memo string, at time.Time, id string) (Entry, error) {
	return l.post(Entry{ID: id, Kind: KindFunding, Wallet: wallet, Amount: amount, Memo: memo, At: at})
}

// Debit charges a wallet once for a reference. It returns [ErrUnknownWallet], [ErrInvalidEntry],
// [shipping.ErrAmountOverflow] or an [*InsufficientFundsError]; or the first entry with [ErrAlreadyDebited].
func (l *Ledger) Debit(wallet string, amount shipping.Amount, reference, memo string, at time.Time,
	id string) (Entry, error) {
	if reference == "" {
		return Entry{}, fmt.Errorf("%w: a debit needs a reference", ErrInvalidEntry)
	}
	if earlier, known := l.Debited(reference); known {
		return earlier, fmt.Errorf("%w: %s", ErrAlreadyDebited, reference)
	}
	entry, err := l.post(Entry{ID: id, Kind: KindDebit, Wallet: wallet, Amount: amount, Reference: reference, Memo: memo,
		At: at})
	if err == nil {
		l.debited[reference] = l.journal[len(l.journal)-1]
	}
	return entry, err
}

// Reverse reverses the debit of a reference once. It returns [ErrNotDebited],
// [ErrAlreadyReversed], [ErrInvalidEntry] or [shipping.ErrAmountOverflow].
func (l *Ledger) Reverse(reference, memo string, at time.Time, id string) (Entry, error) {
	debit, known := l.Debited(reference)
	if !known {
		return Entry{}, fmt.Errorf("%w: %q", ErrNotDebited, reference)
	}
	if l.reversed[reference] {
		return Entry{}, fmt.Errorf("%w: %s", ErrAlreadyReversed, reference)
	}
	entry, err := l.post(Entry{ID: id, Kind: KindReversal, Wallet: debit.Wallet, Amount: debit.Amount,
		Reference: reference, Memo: memo, At: at})
	if err == nil {
		l.reversed[reference] = true
	}
	return entry, err
}

// post completes an entry from its wallet and journals it, or returns an error and changes nothing.
func (l *Ledger) post(e Entry) (Entry, error) {
	wallet, known := l.Wallet(e.Wallet)
	switch {
	case !known:
		return Entry{}, fmt.Errorf("%w: %q", ErrUnknownWallet, e.Wallet)
	case !e.Amount.Known() || e.Amount.Sign() < 0:
		return Entry{}, fmt.Errorf("%w: amount %s; use 0 or a positive number", ErrInvalidEntry, e.Amount)
	case e.ID == "":
		return Entry{}, fmt.Errorf("%w: an entry needs an id", ErrInvalidEntry)
	}
	if last, any := l.Last(); any && e.At.Before(last.At) {
		return Entry{}, fmt.Errorf("%w: %s is before the last entry; post in chronological order", ErrInvalidEntry,
			e.At.Format(time.RFC3339))
	}
	into, house := e.Amount, Funding(wallet.Currency)
	switch e.Kind {
	case KindDebit:
		into, house = e.Amount.Neg(), Revenue(wallet.Currency)
	case KindReversal:
		house = Revenue(wallet.Currency)
	}
	e.Currency = wallet.Currency
	e.Postings = [2]Posting{{Account(wallet.Reference), into}, {house, into.Neg()}}

	balance, err := l.balances[Account(wallet.Reference)].Add(into)
	if err != nil {
		return Entry{}, fmt.Errorf("balance of %s: %w", wallet.Reference, err)
	}
	if balance.Sign() < 0 {
		return Entry{}, &InsufficientFundsError{
			Wallet: wallet.Reference, Currency: wallet.Currency,
			Balance: l.balances[Account(wallet.Reference)], Needed: e.Amount,
		}
	}
	houseBalance, err := l.balances[house].Add(into.Neg())
	if err != nil {
		return Entry{}, fmt.Errorf("balance of %s: %w", house, err)
	}
	e.Balance = balance
	l.balances[Account(wallet.Reference)], l.balances[house] = balance, houseBalance
	l.journal = append(l.journal, &e)
	return e, nil
}

func (l *Ledger) Wallet(reference string) (Wallet, bool) {
	i := slices.IndexFunc(l.wallets, func(w Wallet) bool { return w.Reference == reference })
	if i < 0 {
		return Wallet{}, false
	}
	return l.wallets[i], true
}

// Wallets returns the wallets in the order in which they were opened. The caller may change the slice.
func (l *Ledger) Wallets() []Wallet { return slices.Clone(l.wallets) }

// Balance returns the balance of a wallet, or false if the wallet does not exist.
func (l *Ledger) Balance(wallet string) (shipping.Amount, bool) {
	if _, known := l.Wallet(wallet); !known {
		return shipping.Amount{}, false
	}
	return l.balances[Account(wallet)], true
}

// Entries returns a wallet's entries, oldest first. The caller may change the slice.
func (l *Ledger) Entries(wallet string) []Entry {
	var entries []Entry
	for _, e := range l.journal {
		if e.Wallet == wallet {
			entries = append(entries, *e)
		}
	}
	return entries
}

// Debited returns the debit of a reference, and whether it exists.
func (l *Ledger) Debited(reference string) (Entry, bool) {
	e, paid := l.debited[reference]
	if !paid {
		return Entry{}, false
	}
	return *e, true
}

// Journal returns every entry, oldest first. The caller may change the slice.
func (l *Ledger) Journal() []Entry {
	var entries []Entry
	for _, e := range l.journal {
		entries = append(entries, *e)
	}
	return entries
}

// Last returns the latest entry, or false if the journal is empty.
func (l *Ledger) Last() (Entry, bool) {
	if len(l.journal) == 0 {
		return Entry{}, false
	}
	return *l.journal[len(l.journal)-1], true
}

func (l *Ledger) Len() int { return len(l.journal) }

// Clone returns an independent copy. Journal entries are immutable, so the copy shares them.
func (l *Ledger) Clone() *Ledger {
	return &Ledger{
		wallets:  slices.Clip(l.wallets),
		balances: maps.Clone(l.balances),
		journal:  slices.Clip(l.journal),
		debited:  maps.Clone(l.debited),
		reversed: maps.Clone(l.reversed),
	}
}

// Wallet is an account with a customer's money in one currency.
//
// Specification: "Transaction" (account_reference: wallet or virtual account reference, format
// VA-<digits>).
type Wallet struct {
	// Reference is the wallet's identifier, such as "VA-1000000001".
	Reference string `json:"reference"`
	// Currency is the ISO 4217 code of the only currency that the wallet holds.
	Currency string `json:"currency"`
	// Name is the owner's name for the wallet.
	Name string `json:"name"`
}

// Account names one side of a posting: a wallet's reference, or one of the house accounts of a
// currency, [Funding] and [Revenue].
type Account string

// Funding returns the account from which wallets are funded. It is the only kind of account
// that goes below zero.
func Funding(currency string) Account { return Account("funding:" + currency) }

// Revenue returns the account that receives charges.
func Revenue(currency string) Account { return Account("revenue:" + currency) }

type Kind string

// Kinds of entries.
const (
	// KindFunding entries deposit money into a wallet.
	KindFunding Kind = "funding"
	// KindDebit entries charge a wallet for a purchase.
	KindDebit Kind = "debit"
	// KindReversal entries refund a debit.
	KindReversal Kind = "reversal"
)

// Posting is one line of an entry. A positive amount raises the account's balance.
type Posting struct {
	Account Account         `json:"account"`
	Amount  shipping.Amount `json:"amount"`
}

// Entry is one movement of money. Entries in the journal are immutable.
type Entry struct {
	// ID is the transaction's identifier, format TR-<alphanumerics>.
	ID string `json:"id"`
	// Kind is funding, debit or reversal.
	Kind Kind `json:"kind"`
	// Wallet is the reference of the wallet that was funded or charged.
	Wallet string `json:"wallet"`
	// Currency is the wallet's currency, and that of every amount.
	Currency string `json:"currency"`
	// Amount is the amount in major units. It is never negative; Kind determines the direction.
	Amount shipping.Amount `json:"amount"`
	// Reference identifies the purchase of a debit; a reversal has the debit's reference. It is empty
	// on funding.
	Reference string `json:"reference,omitempty"`
	// Memo is the text that describes the entry.
	Memo string `json:"memo"`
	// At is when the money moved.
	At time.Time `json:"at"`
	// Balance is the balance of the wallet afterwards.
	Balance shipping.Amount `json:"balance"`
	// Postings are the two sides of the entry and sum to zero.
	Postings [2]Posting `json:"postings"`
}
