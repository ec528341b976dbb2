package account

import (
	"encoding/json"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/records"
	"github.com/shipping-go/shipping/mockserver/internal/splitmix"
)

// computedStep is the time between two computed transactions. A hundred million of them are sixty years.
const computedStep = 20 * time.Second

// Compute gives a wallet, before anything else, a history of so many transactions that follow from the
// seed and their place alone. None is kept in memory, and the millionth costs what the first does.
func (w *Account) Compute(scope ComputedScope) {
	wallet, _ := w.Ledger.Wallet(scope.Wallet)
	computed := &computedWallet{
		ComputedScope: scope, currency: wallet.Currency, user: w.User, accountID: w.AccountID,
		texts: []string{"Payment for shipment label", "Payment for insurance", "Payment for pickup"},
	}
	w.Computed = &scope
	w.TransactionsOf(scope.Wallet).Past = records.Past{Total: scope.Total, Record: computed.record}
}

// ComputedScope selects the transactions that are computed.
type ComputedScope struct {
	Wallet string    `json:"wallet"` // its reference
	Seed   uint64    `json:"seed"`
	Total  int       `json:"total"`
	Before time.Time `json:"before"`
}

// computedWallet computes transactions. It never changes, so many may ask it at once.
type computedWallet struct {
	ComputedScope
	currency, user, accountID string
	texts                     []string
}

// record returns the transaction with an ordinal, counted from the oldest.
func (p *computedWallet) record(ordinal int) json.RawMessage {
	// Both are bijective, so no identifier comes twice.
	number := splitmix.Mix(uint64(ordinal) ^ p.Seed)
	chance := splitmix.Mix(number)
	cents := int64(chance%5_000_000) + 1
	amount, _ := shipping.NewAmount(cents, 2) // seven digits always fit
	at := jsontext.Timestamp(p.Before.Add(-time.Duration(p.Total-ordinal) * computedStep))
	t := Transaction{
		TransactionID: "TR-" + codedNumber(number), StorageID: storageNumber(number), AccountID: p.accountID,
		AccountReference: p.Wallet, StoreReference: p.user,
		Amount: amount, AmountReceived: amount, ConvertedAmount: amount,
		Currency: p.currency, CurrencyConvertedTo: p.currency, FlatAmount: cents,
		Description: p.texts[chance>>32%uint64(len(p.texts))], Flow: "out", Status: "success",
		Platform: "api", Source: "wallet",
		Receiver: Receiver{Name: "Shipping service", Reference: "shipping", Type: "platform"},
		Sender:   Sender{Name: company, ID: p.user},
		Settled:  true, CreatedAt: at, UpdatedAt: at,
	}
	if chance%7 != 0 {
		t.TxRef = "SHP-" + t.TransactionID[len("TR-"):]
	}
	record, err := jsontext.Encode(t)
	if err != nil { // every value is computed from valid parts
		return json.RawMessage("null")
	}
	return record
}

// codedNumber writes a number as 16 letters and digits.
func codedNumber(n uint64) string {
	var text [16]byte
	for i := range text {
		text[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return string(text[:])
}

// storageNumber writes a number as 24 hexadecimal digits.
func storageNumber(n uint64) string {
	const digits = "0123456789abcdef"
	var text [24]byte
	for i := range text {
		text[i] = digits[n&15]
		n = n>>4 | n<<60
	}
	return string(text[:])
}
