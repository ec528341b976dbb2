package ledger

import (
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

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
func Funding(currency string) Account { return Account(fundingPrefix + currency) }

// Revenue returns the account that receives charges.
func Revenue(currency string) Account { return Account(revenuePrefix + currency) }

const fundingPrefix, revenuePrefix = "funding:", "revenue:"

func (a Account) house() bool {
	return strings.HasPrefix(string(a), fundingPrefix) || strings.HasPrefix(string(a), revenuePrefix)
}

// Kind is the kind of an entry.
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
