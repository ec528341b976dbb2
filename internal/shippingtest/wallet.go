package shippingtest

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
)

func Draft(t testing.TB, client *shipping.Client, shipment string) *shipping.RegulatoryRequest {
	t.Helper()
	draft, err := client.Regulatory.Analyze(t.Context(), &shipping.AnalyzeRequest{ShipmentID: shipment})
	if err != nil {
		t.Fatal(err)
	}
	return draft
}

// Debits returns the sum that a wallet paid for regulatory documents, and the number of payments for each request.
func Debits(t testing.TB, c *shipping.Client, wallet string) (shipping.Amount, map[string]int) {
	t.Helper()
	var sum shipping.Amount
	count := map[string]int{}
	for transaction, err := range c.Transactions.All(t.Context(), &shipping.TransactionListOptions{Wallet: wallet}) {
		if err != nil {
			t.Fatal(err)
		}
		if request, ok := strings.CutPrefix(transaction.Description, "Regulatory documents for "); ok {
			count[request]++
			if sum, err = sum.Add(transaction.Amount); err != nil {
				t.Fatal(err)
			}
		}
	}
	return sum, count
}
