package shipping

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/spelling"
)

// Transaction is a movement of money into or out of a wallet.
//
// Specification: "Transaction".
type Transaction struct {
	// TransactionID identifies the transaction, such as TR-5FQJ2M81KD0XA7NB. The name "transaction_id" is read too.
	TransactionID string `json:"transactionId" alias:"transaction_id"`
	StorageID     string `json:"_id"`
	// AccountID is the storage identifier of the account.
	AccountID string `json:"accountId"`
	// AccountReference is the wallet or virtual account, such as VA-0123456789.
	AccountReference string `json:"account_reference"`
	// StoreReference is the owning store or user.
	StoreReference string `json:"store_reference"`
	// TxRef is the transaction reference; "" if absent. The name "reference" is read too.
	TxRef string `json:"txRef" alias:"reference" spec:"optional"`
	// Amount is in major units of Currency. The direction is in Flow; see [Transaction.Signed].
	Amount              Amount `json:"amount"`
	AmountReceived      Amount `json:"amount_received"`
	ConvertedAmount     Amount `json:"converted_amount"`
	Currency            string `json:"currency"`
	CurrencyConvertedTo string `json:"currency_converted_to"`
	// FlatAmount is the amount times 100, for every currency alike; compare with [Amount.Flat].
	FlatAmount  int64  `json:"flat_amount"`
	Fee         Amount `json:"fee"`
	PlatformFee Amount `json:"platform_fee"`
	Description string `json:"description"`
	// Flow is the direction: "out", for money that leaves the wallet, or "in". The specification shows only "out"
	// (assumption: "in").
	Flow string `json:"flow"`
	// Status is "success" or "pending"; the specification does not show the full set. "failed" is assumed to be a
	// transaction that moved no money.
	Status string `json:"status"`
	// Metadata can hold shipment_id, and can be an empty object; see [Transaction.ShipmentID].
	Metadata RawJSON `json:"metadata"`
	// Shipment is the unspecified member shipment_id or shipment next to Metadata; see [Transaction.ShipmentID].
	Shipment string `json:"-" alias:"shipment_id,shipment"`
	Platform string `json:"platform"`
	// TransactionSource is the source of the money; "wallet" occurs.
	TransactionSource string `json:"transaction_source"`
	Receiver          struct {
		Name      string `json:"name"`
		Reference string `json:"reference"`
		Type      string `json:"type"`
	} `json:"receiver"`
	Sender struct {
		Name string `json:"name"`
		ID   string `json:"id"`
		// AccountNumber may be empty.
		AccountNumber string `json:"account_number"`
	} `json:"sender"`
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

	// Unreadable maps names of the first eight unreadable members to their values as sent; nil if none. Their
	// fields are zero, and an amount is not known.
	Unreadable map[string]RawJSON `json:"-" read:"unreadable"`
}

// ShipmentID returns the shipment that the transaction paid for, from Metadata or Shipment, or "".
func (t *Transaction) ShipmentID() string {
	return cmp.Or(t.Metadata.Get("shipment_id").Text(), t.Shipment)
}

// RequestID returns the regulatory request that the transaction paid for, from Metadata (request_id) or TxRef.
//
// Assumption: it begins with "RD-"; otherwise RequestID returns "".
func (t *Transaction) RequestID() string {
	if id := cmp.Or(t.Metadata.Get("request_id").Text(), t.TxRef); strings.HasPrefix(id, "RD-") {
		return id
	}
	return ""
}

// TransactionListOptions selects a page of a wallet's transactions. Wallet is required; zero Page
// and PerPage are not sent, so the service's defaults (page 1, 100 a page) apply.
type TransactionListOptions struct {
	// Wallet identifies the wallet, such as VA-0123456789.
	Wallet  string `url:"wallet"`
	Page    int    `url:"page,omitempty"`
	PerPage int    `url:"perPage,omitempty"`
	// Walk configures All and Pages.
	Walk Walk `url:"-"`
}

// TransactionsService lists the wallet transactions of the account. Undocumented filters can be
// added with [WithQuery].
type TransactionsService struct{ core *core }

// List returns one page of a wallet's transactions. The specification documents neither filters nor an order.
// The error is a [*ValidationError] or an [*Error].
//
// Specification: GET /v1/transactions.
func (s TransactionsService) List(ctx context.Context, opts *TransactionListOptions,
	call ...CallOption) (*Page[Transaction], error) {
	return s.lister(opts).list(ctx, call)
}

// All iterates over all transactions, from page opts.Page on, and fetches pages ahead; see [Walk].
// A walk that fails yields a [*ListError] and ends.
func (s TransactionsService) All(ctx context.Context, opts *TransactionListOptions,
	call ...CallOption) iter.Seq2[*Transaction, error] {
	return s.lister(opts).all(ctx, call)
}

// Pages iterates over pages, as All does over records.
func (s TransactionsService) Pages(ctx context.Context, opts *TransactionListOptions,
	call ...CallOption) iter.Seq2[*Page[Transaction], error] {
	return s.lister(opts).pages(ctx, call)
}

func (s TransactionsService) lister(opts *TransactionListOptions) lister[Transaction, transactionList] {
	o := *cmp.Or(opts, &TransactionListOptions{})
	invalid := validID(OpListTransactions, "Wallet", o.Wallet)
	if o.Wallet == "" {
		invalid = invalidRequest(OpListTransactions, "Wallet",
			"is required: set TransactionListOptions.Wallet to the wallet's identifier, such as VA-0123456789")
	}
	return lister[Transaction, transactionList]{
		core: s.core, operation: OpListTransactions, page: o.Page, perPage: o.PerPage, walk: o.Walk,
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

// Signed returns the amount for a ledger, in Currency: negative if the flow is "out", positive if it is "in", and 0 if
// the status is "failed". The sum over all transactions of a wallet is its balance.
//
// The error reports that the transaction cannot be booked: its flow is unknown, or its amount is missing, unreadable
// ([ErrAmountUnreadable]) or negative. The specification shows no other flow and no negative amount.
//
// Assumptions: the flow "in", and the status "failed". A pending transaction has moved its money already. The money of
// a reversed transaction comes back in another transaction, so a reversed one counts like any other; see
// [Transaction.Doubt].
func (t *Transaction) Signed() (Amount, error) {
	switch {
	case !t.Amount.Known():
		problem := "no amount"
		if t.Amount.state == amountUnreadable {
			problem = "the amount " + t.sent("amount", "unreadable")
		}
		return Amount{}, fmt.Errorf("%w: transaction %s has %s: check it by hand", ErrAmountUnreadable, t.id(), problem)
	case t.Amount.Sign() < 0:
		return Amount{}, t.notBooked("its amount is negative (" + t.Amount.String() +
			"), and only its flow shows a direction")
	case t.Flow != "in" && t.Flow != "out":
		return Amount{}, t.notBooked("its flow is " + spelling.Quote(t.Flow) + `, neither "in" nor "out"`)
	case t.Status == "failed":
		return Amount{state: amountKnown}, nil
	case t.Flow == "out":
		return t.Amount.Neg(), nil
	}
	return t.Amount, nil
}

func (t *Transaction) notBooked(reason string) error {
	return fmt.Errorf("shipping: transaction %s cannot be booked: %s: check it by hand", t.id(), reason)
}

// id returns the identifier for an error.
func (t *Transaction) id() string {
	return cmp.Or(oneLine(t.TransactionID, maxErrorID), "without an id")
}

// Doubt returns the reasons why a bookkeeper should check the amount that [Transaction.Signed] returns: the
// transaction was reversed, its status is neither success nor pending, or its flat amount is not the amount times
// 100. It returns "" without any.
func (t *Transaction) Doubt() string {
	var doubts []string
	if t.Reversed {
		doubts = append(doubts, "reversed: if the money did not come back in another transaction, this one counts as 0")
	}
	switch t.Status {
	case "success", "pending":
	case "failed":
		doubts = append(doubts, `status "failed": counted as 0`)
	default:
		doubts = append(doubts, "unknown status "+spelling.Quote(t.Status)+": counted as money that moved")
	}
	if flat, err := t.Amount.Flat(); err != nil || flat != t.FlatAmount {
		sent := fmt.Sprint(t.FlatAmount)
		if t.FlatAmount == 0 {
			sent = "missing or 0"
		}
		doubts = append(doubts, fmt.Sprintf("flat_amount is %s, not the amount %s times 100",
			t.sent("flat_amount", sent), t.sent("amount", t.Amount.String())))
	}
	return strings.Join(doubts, "; ")
}

// sent returns the text of a member that could not be read, or else its value.
func (t *Transaction) sent(name, value string) string {
	if text, found := t.Unreadable[name]; found {
		return oneLine(string(text), maxErrorID)
	}
	return value
}
