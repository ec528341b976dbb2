package payload

import (
	"fmt"
	"math"
	"time"
)

// Transaction is a transaction as hand-written code would declare it.
//
// Specification: "Transaction".
type Transaction struct {
	TransactionID       string              `json:"transactionId"`
	ID                  string              `json:"_id"`
	AccountID           string              `json:"accountId"`
	AccountReference    string              `json:"account_reference"`
	StoreReference      string              `json:"store_reference"`
	TxRef               string              `json:"txRef,omitempty"`
	Amount              float64             `json:"amount"`
	AmountReceived      float64             `json:"amount_received"`
	ConvertedAmount     float64             `json:"converted_amount"`
	Currency            string              `json:"currency"`
	CurrencyConvertedTo string              `json:"currency_converted_to"`
	FlatAmount          int64               `json:"flat_amount"`
	Fee                 float64             `json:"fee"`
	PlatformFee         float64             `json:"platform_fee"`
	Description         string              `json:"description"`
	Flow                string              `json:"flow"`
	Status              string              `json:"status"`
	Metadata            TransactionMetadata `json:"metadata"`
	Platform            string              `json:"platform"`
	TransactionSource   string              `json:"transaction_source"`
	Receiver            Receiver            `json:"receiver"`
	Sender              Sender              `json:"sender"`
	Recipient           string              `json:"recipient"`
	Reversed            bool                `json:"reversed"`
	Settled             bool                `json:"settled"`
	SettlementReference string              `json:"settlement_reference"`
	PayoutDate          *time.Time          `json:"payout_date"`
	CreatedAt           time.Time           `json:"created_at"`
	UpdatedAt           time.Time           `json:"updated_at"`
	Revision            int                 `json:"__v"`
}

// TransactionMetadata can be an empty object.
type TransactionMetadata struct {
	ShipmentID string `json:"shipment_id,omitempty"`
}

// Receiver is who received the money.
type Receiver struct {
	Name      string `json:"name"`
	Reference string `json:"reference"`
	Type      string `json:"type"`
}

// Sender is who paid.
type Sender struct {
	Name          string `json:"name"`
	ID            string `json:"id"`
	AccountNumber string `json:"account_number"`
}

// TransactionList is the data of GET /v1/transactions.
type TransactionList struct {
	Transactions []Transaction `json:"transactions"`
	Pagination   struct {
		Page        int  `json:"page"`
		PerPage     int  `json:"perPage"`
		CurrentPage int  `json:"currentPage"`
		Total       int  `json:"total"`
		PageCount   int  `json:"pageCount"`
		PrevPage    int  `json:"prevPage"`
		NextPage    int  `json:"nextPage"`
		HasPrevPage bool `json:"hasPrevPage"`
		HasNextPage bool `json:"hasNextPage"`
	} `json:"pagination"`
}

// Wallet is the wallet that every transaction here belongs to.
const Wallet = "VA-1000000001"

// Transactions writes page number page of so many pages, n transactions on each.
func Transactions(n, page, pages int) []byte {
	m := newMaker(uint64(page))
	var data TransactionList
	data.Transactions = list(n, func(i int) Transaction { return m.transaction((page-1)*n + i) })
	p := &data.Pagination
	p.Page, p.CurrentPage, p.PerPage, p.Total, p.PageCount = page, page, n, n*pages, pages
	p.HasPrevPage, p.HasNextPage = page > 1, page < pages
	if p.PrevPage = page - 1; p.HasNextPage {
		p.NextPage = page + 1
	}
	return success("Transactions retrieved successfully", data)
}

// TransactionID is the identifier of row number row, from 0. It has the same length for every row.
func TransactionID(row int) string { return fmt.Sprintf("TR-W4L5T%011d", row) }

func (m maker) transaction(row int) Transaction {
	amount, made := m.money(90_000), m.moment()
	t := Transaction{
		TransactionID: TransactionID(row), ID: m.storageID(), AccountID: m.storageID(),
		AccountReference: Wallet, StoreReference: m.numbered("USER"), TxRef: m.text("TX-", letters, 16),
		Amount: amount, AmountReceived: amount, ConvertedAmount: amount, Currency: "NGN", CurrencyConvertedTo: "NGN",
		FlatAmount: int64(math.Round(amount * 100)), Fee: m.money(100), PlatformFee: m.money(10),
		Description: "Payment for shipment from Lagos to London with DHL Express Worldwide, insurance included", Flow: "out",
		Status: pick(m, "success", "success", "success", "pending"), Platform: "web dashboard", TransactionSource: "wallet",
		Receiver: Receiver{Name: "Shipping service settlement account", Reference: m.numbered("VA"), Type: "virtual_account"},
		Sender:   Sender{Name: "Adaeze Okafor Trading Company", ID: m.storageID()},
		Reversed: m.yes(2), Settled: m.yes(80), CreatedAt: made, UpdatedAt: made.Add(1740 * time.Millisecond),
	}
	if m.yes(80) {
		t.Metadata.ShipmentID = m.text("SH-", letters, 16)
	}
	if t.Settled {
		paid := made.Add(24 * time.Hour)
		t.SettlementReference, t.PayoutDate = m.text("ST-", letters, 16), &paid
	}
	return t
}
