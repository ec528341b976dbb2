package account

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
)

const company = "Harbour Row Trading"

// TransactionDetails holds the fields of a transaction that its ledger entry does not have.
type TransactionDetails struct {
	About             TransactionMetadata
	TxRef             string
	Pending, Reversed bool
}

// AddTransaction adds a ledger entry as the newest transaction of its wallet. Each transaction is an entry of the
// ledger, and each entry a transaction.
func (w *Account) AddTransaction(e ledger.Entry, how TransactionDetails) error {
	t, err := w.transaction(e, how, w.IDs.Storage())
	if err != nil {
		return fmt.Errorf("transaction %s: %w", e.ID, err)
	}
	w.TransactionsOf(e.Wallet).PrependValue(t)
	return nil
}

// transaction returns the transaction of an entry.
//
// Assumption: money that comes in has flow "in"; only "out" is known to occur. The money of a reversed
// transaction comes back in another one with flow "in", so that every row counts once.
func (w *Account) transaction(e ledger.Entry, how TransactionDetails, storageID string) (Transaction, error) {
	flat, err := e.Amount.Flat()
	t := Transaction{
		TransactionID: e.ID, StorageID: storageID, AccountID: w.AccountID,
		AccountReference: e.Wallet, StoreReference: w.User, TxRef: how.TxRef,
		Amount: e.Amount, AmountReceived: e.Amount, ConvertedAmount: e.Amount,
		Currency: e.Currency, CurrencyConvertedTo: e.Currency, FlatAmount: flat,
		Description: e.Memo, Flow: "out", Status: "success", Metadata: how.About,
		Platform: "api", Source: "wallet",
		Receiver: Receiver{Name: "Shipping service", Reference: "shipping", Type: "platform"},
		Sender:   Sender{Name: company, ID: w.User},
		Reversed: how.Reversed, Settled: !how.Pending, CreatedAt: jsontext.Timestamp{Time: e.At},
		UpdatedAt: jsontext.Timestamp{Time: e.At},
	}
	if how.Pending {
		t.Status = "pending"
	}
	if e.Kind != ledger.KindDebit {
		t.Flow = "in"
		t.Receiver = Receiver{Name: company, Reference: w.User, Type: "user"}
		t.Sender = Sender{Name: "Shipping service", ID: "shipping"}
	}
	if e.Kind == ledger.KindFunding {
		t.Sender = Sender{Name: "Bank transfer", ID: "bank", AccountNumber: "0123456789"}
		paidOut := jsontext.Timestamp{Time: e.At.Add(24 * time.Hour)}
		t.SettlementReference, t.PayoutDate = "ST-"+e.ID[len("TR-"):], &paidOut
	}
	return t, err
}

func (w *Account) Fund(wallet string, amount shipping.Amount, memo string, at time.Time) error {
	e, err := w.Ledger.Fund(wallet, amount, memo, at, w.IDs.Coded("TR"))
	if err != nil {
		return err
	}
	return w.AddTransaction(e, TransactionDetails{})
}

// Transaction is a record of GET /v1/transactions.
//
// Specification: "Transaction", in the order of its table.
type Transaction struct {
	TransactionID       string              `json:"transactionId"`
	StorageID           string              `json:"_id"`
	AccountID           string              `json:"accountId"`
	AccountReference    string              `json:"account_reference"`
	StoreReference      string              `json:"store_reference"`
	TxRef               string              `json:"txRef,omitempty"`
	Amount              shipping.Amount     `json:"amount"`
	AmountReceived      shipping.Amount     `json:"amount_received"`
	ConvertedAmount     shipping.Amount     `json:"converted_amount"`
	Currency            string              `json:"currency"`
	CurrencyConvertedTo string              `json:"currency_converted_to"`
	FlatAmount          int64               `json:"flat_amount"`
	Fee                 shipping.Amount     `json:"fee"`
	PlatformFee         shipping.Amount     `json:"platform_fee"`
	Description         string              `json:"description"`
	Flow                string              `json:"flow"`
	Status              string              `json:"status"`
	Metadata            TransactionMetadata `json:"metadata"`
	Platform            string              `json:"platform"`
	Source              string              `json:"transaction_source"`
	Receiver            Receiver            `json:"receiver"`
	Sender              Sender              `json:"sender"`
	Recipient           string              `json:"recipient"`
	Reversed            bool                `json:"reversed"`
	Settled             bool                `json:"settled"`
	SettlementReference string              `json:"settlement_reference"`
	PayoutDate          *jsontext.Timestamp `json:"payout_date"`
	CreatedAt           jsontext.Timestamp  `json:"created_at"`
	UpdatedAt           jsontext.Timestamp  `json:"updated_at"`
	Revision            int                 `json:"__v"`
}

type TransactionMetadata struct {
	ShipmentID string `json:"shipment_id,omitempty"`
	RequestID  string `json:"request_id,omitempty"` // assumption: of a purchase of regulatory documents
}

type Receiver struct {
	Name      string `json:"name"`
	Reference string `json:"reference"`
	Type      string `json:"type"`
}

type Sender struct {
	Name          string `json:"name"`
	ID            string `json:"id"`
	AccountNumber string `json:"account_number"`
}

// computedStep is the time between two computed transactions. A hundred million of them are sixty years.
const computedStep = 20 * time.Second

// Compute gives a wallet this number of transactions before a time, older than all others. Each is computed only from
// the seed and its place. Every second one pays out what the one before paid in, so that an even number adds up to 0.
// None is kept in memory, and the millionth costs no more than the first.
func (w *Account) Compute(wallet ledger.Wallet, seed uint64, total int, before time.Time) {
	w.TransactionsOf(wallet.Reference).Past = records.Past{Total: total, Record: func(ordinal int) json.RawMessage {
		e := ledger.Entry{Wallet: wallet.Reference, Currency: wallet.Currency,
			At: before.Add(-time.Duration(total-ordinal) * computedStep)}
		return w.computed(e, uint64(ordinal), seed)
	}}
}

// computed returns the transaction with the given ordinal; e has its wallet and time. It reads only the parts of the
// account that never change.
func (w *Account) computed(e ledger.Entry, ordinal, seed uint64) json.RawMessage {
	texts := []string{"Payment for shipment label", "Payment for insurance", "Payment for pickup"}
	number := splitmix.Mix(ordinal ^ seed) // different for each ordinal, as is the identifier
	chance := splitmix.Mix(number)
	pair := splitmix.Mix(splitmix.Mix(ordinal/2 ^ seed))
	e.Amount, _ = shipping.NewAmount(int64(pair%5_000_000)+1, 2) // seven digits always fit, here and below
	if e.Kind, e.Memo = ledger.KindDebit, texts[chance>>32%uint64(len(texts))]; ordinal%2 == 0 {
		e.Kind, e.Memo = ledger.KindFunding, "Wallet funded"
	}
	id, how := codedNumber(number), TransactionDetails{}
	if chance%7 != 0 {
		how.TxRef = "SHP-" + id
	}
	e.ID = "TR-" + id
	t, _ := w.transaction(e, how, storageNumber(number))
	return jsontext.Of(t)
}

func codedNumber(n uint64) string {
	var text [16]byte
	for i := range text {
		text[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return string(text[:])
}

func storageNumber(n uint64) string {
	const digits = "0123456789abcdef"
	var text [24]byte
	for i := range text {
		text[i] = digits[n&15]
		n = n>>4 | n<<60
	}
	return string(text[:])
}
