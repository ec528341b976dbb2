package shipping

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Transaction is a movement of money into or out of a wallet.
//
// Specification: "Transaction".
type Transaction struct {
	// TransactionID identifies the transaction, such as TR-5FQJ2M81KD0XA7NB.
	TransactionID string `json:"transactionId"`
	// StorageID is the storage identifier.
	StorageID string `json:"_id"`
	// AccountID is the storage identifier of the account.
	AccountID string `json:"accountId"`
	// AccountReference is the wallet or virtual account, such as VA-0123456789.
	AccountReference string `json:"account_reference"`
	// StoreReference is the owning store or user.
	StoreReference string `json:"store_reference"`
	// TxRef is the transaction reference; "" if absent.
	TxRef string `json:"txRef" spec:"optional"`
	// Amount is in major units of Currency. The direction is in Flow, not in the sign.
	Amount          Amount `json:"amount"`
	AmountReceived  Amount `json:"amount_received"`
	ConvertedAmount Amount `json:"converted_amount"`
	Currency        string `json:"currency"`
	// CurrencyConvertedTo is the currency of ConvertedAmount.
	CurrencyConvertedTo string `json:"currency_converted_to"`
	// FlatAmount is the amount times 100, for every currency alike; compare with [Amount.Flat].
	FlatAmount  int64  `json:"flat_amount"`
	Fee         Amount `json:"fee"`
	PlatformFee Amount `json:"platform_fee"`
	// Description describes the charge.
	Description string          `json:"description"`
	Flow        TransactionFlow `json:"flow"`
	// Status can have values beyond the constants.
	Status TransactionStatus `json:"status"`
	// Metadata can hold shipment_id, and can be an empty object; see [Transaction.ShipmentID].
	Metadata RawJSON `json:"metadata"`
	Platform string  `json:"platform"`
	// TransactionSource is the source of the money; "wallet" occurs.
	TransactionSource string              `json:"transaction_source"`
	Receiver          TransactionReceiver `json:"receiver"`
	Sender            TransactionSender   `json:"sender"`
	// Recipient may be empty.
	Recipient string `json:"recipient"`
	Reversed  bool   `json:"reversed"`
	Settled   bool   `json:"settled"`
	// SettlementReference may be empty.
	SettlementReference string `json:"settlement_reference"`
	// PayoutDate is zero before a payout (null).
	PayoutDate time.Time `json:"payout_date"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	// Revision is the record's revision counter.
	Revision int `json:"__v"`
}

// ShipmentID returns the shipment that the transaction paid for, from Metadata; "" if there is
// none.
func (t *Transaction) ShipmentID() string { return t.Metadata.Get("shipment_id").Text() }

// TransactionReceiver is the receiver of a transaction's money.
type TransactionReceiver struct {
	Name      string `json:"name"`
	Reference string `json:"reference"`
	Type      string `json:"type"`
}

// TransactionSender is the payer of a transaction.
type TransactionSender struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	// AccountNumber may be empty.
	AccountNumber string `json:"account_number"`
}

// TransactionFlow is the direction of a transaction. It is an open type: new values are kept.
type TransactionFlow string

// FlowOut is money that leaves the wallet: the one value the specification shows.
const FlowOut TransactionFlow = "out"

// TransactionStatus is the state of a transaction. The specification does not show the full set.
type TransactionStatus string

// The transaction states that occur in the specification.
const (
	TransactionSuccess TransactionStatus = "success"
	TransactionPending TransactionStatus = "pending"
)

// TransactionListOptions selects a page of a wallet's transactions. Wallet is required; zero Page
// and PerPage are not sent, so the service's defaults (page 1, 100 a page) apply.
type TransactionListOptions struct {
	// Wallet identifies the wallet, such as VA-0123456789.
	Wallet  string `url:"wallet"`
	Page    int    `url:"page,omitempty"`
	PerPage int    `url:"perPage,omitempty"`
}

// TransactionsService lists the wallet transactions of the account. Undocumented filters can be
// added with [WithQuery].
type TransactionsService struct{ core *core }

// List returns one page of a wallet's transactions. The specification documents neither filters nor an order.
// The error is a [*ValidationError] or an [*Error].
//
// Specification: GET /v1/transactions.
func (s TransactionsService) List(ctx context.Context, opts *TransactionListOptions, call ...CallOption) (*Page[Transaction], error) {
	return s.lister(opts).list(ctx, call)
}

// All walks every transaction of every page, from opts.Page on, fetching pages ahead; see
// [WithWindow]. A walk that fails yields a [*ListError] and ends.
func (s TransactionsService) All(ctx context.Context, opts *TransactionListOptions, call ...CallOption) iter.Seq2[*Transaction, error] {
	return s.lister(opts).all(ctx, call)
}

// Pages walks page by page, like All.
func (s TransactionsService) Pages(ctx context.Context, opts *TransactionListOptions, call ...CallOption) iter.Seq2[*Page[Transaction], error] {
	return s.lister(opts).pages(ctx, call)
}

func (s TransactionsService) lister(opts *TransactionListOptions) lister[Transaction, transactionList] {
	var o TransactionListOptions
	if opts != nil {
		o = *opts
	}
	var invalid error
	if o.Wallet == "" {
		invalid = invalidRequest(OpListTransactions, "Wallet",
			"is required: set TransactionListOptions.Wallet to the wallet's identifier, such as VA-0123456789")
	}
	return lister[Transaction, transactionList]{
		core: s.core, operation: OpListTransactions, page: o.Page, perPage: o.PerPage,
		query:   func(page int) any { next := o; next.Page = page; return next },
		invalid: invalid, id: func(t *Transaction) (id, storage string) { return t.TransactionID, t.StorageID },
	}
}

// transactionList is the data of GET /v1/transactions.
type transactionList struct {
	Transactions []Transaction `json:"transactions" read:"strict"`
	Pagination   Pagination    `json:"pagination"`
}

func (l transactionList) contents() ([]Transaction, Pagination) { return l.Transactions, l.Pagination }

// LedgerEntry is a transaction for bookkeeping: one signed amount in one currency.
type LedgerEntry struct {
	Transaction *Transaction
	// Amount is negative for money that left the wallet, in the transaction's Currency. It is 0 for a
	// transaction that was reversed, because its money came back, and for one that failed.
	Amount Amount
	// Pending is true while the amount may still change or fail.
	Pending bool
	// Doubt is the reason why a bookkeeper should check the entry; nil if it needs no check. Amount
	// counts in both cases.
	Doubt error
}

// Doubts of a [LedgerEntry], to test with [errors.Is].
var (
	// ErrFlatAmount: the flat amount is not the amount times 100.
	ErrFlatAmount = errors.New("shipping: flat_amount is not the amount times 100")
	// ErrUnknownFlow: the flow is neither "in" nor "out". The amount is counted as money that left.
	ErrUnknownFlow = errors.New("shipping: unknown flow")
	// ErrTransactionStatus: the status is neither success nor pending. The amount is 0 if it is
	// "failed", and counted as money that moved if the status is unknown.
	ErrTransactionStatus = errors.New("shipping: the status is neither success nor pending")
)

// FlowIn is money that comes into the wallet.
//
// Assumption: the specification shows "out" alone.
const FlowIn TransactionFlow = "in"

// TransactionFailed is a transaction that moved no money.
//
// Assumption: the specification does not show the full set of statuses.
const TransactionFailed TransactionStatus = "failed"

// LedgerEntry returns the transaction as a ledger entry. An amount that is missing or unreadable is
// [ErrAmountUnreadable]: nothing may be booked for it.
func (t *Transaction) LedgerEntry() (LedgerEntry, error) {
	entry := LedgerEntry{Transaction: t, Pending: t.Status == TransactionPending}
	if !t.Amount.Known() {
		return entry, fmt.Errorf("%w: amount of transaction %s", ErrAmountUnreadable, t.TransactionID)
	}
	flat, err := t.Amount.Flat()
	if err != nil || flat != t.FlatAmount {
		entry.Doubt = fmt.Errorf("%w: %d for %s", ErrFlatAmount, t.FlatAmount, t.Amount)
	}
	switch t.Flow {
	case FlowOut:
		entry.Amount = t.Amount.Neg()
	case FlowIn:
		entry.Amount = t.Amount
	default:
		entry.Amount = t.Amount.Neg()
		entry.Doubt = errors.Join(entry.Doubt, fmt.Errorf("%w: %q, counted as money that left", ErrUnknownFlow, t.Flow))
	}
	switch t.Status {
	case TransactionSuccess, TransactionPending:
	case TransactionFailed:
		entry.Doubt = errors.Join(entry.Doubt, fmt.Errorf("%w: %q, counted as money that did not move", ErrTransactionStatus, t.Status))
	default:
		entry.Doubt = errors.Join(entry.Doubt, fmt.Errorf("%w: %q, counted as money that moved", ErrTransactionStatus, t.Status))
	}
	if t.Reversed || t.Status == TransactionFailed {
		entry.Amount = Amount{state: amountKnown}
	}
	return entry, nil
}
