package promises_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// The sum of a wallet's transactions is its balance, also after purchases, refused purchases, failed generations and
// deposits. Reversed payments counted as 0 and their reversals as income, so that the sum of most wallets was too
// large.
func TestTransactions_AddUpToTheBalance(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		synctest.Test(t, func(t *testing.T) { // a refused purchase is read for a second
			server := mockserver.New(mockserver.WithoutListener(), mockserver.WithSeed(seed))
			defer server.Close()
			reversed := 0
			for scenario, wants := range map[string][2]error{
				"default":  {nil, shipping.ErrRequestFailed},
				"lowfunds": {shipping.ErrInsufficientFunds, shipping.ErrInsufficientFunds},
			} {
				world := server.NewWorld(t, scenario)
				client := world.Client(t)
				buy(t, client, world.Shipments()[0], wants[0])
				buy(t, client, "SH-MAGICFAILALWAYS", wants[1])
				if err := world.Fund(world.Wallets()[0], shippingtest.Amount(t, "0.01")); err != nil {
					t.Fatal(err)
				}
				for _, wallet := range world.Wallets() {
					sum, doubts := addUp(t, client, wallet)
					if balance, _ := world.Balance(wallet); sum != balance {
						t.Errorf("seed %d, %s, wallet %s: the transactions add up to %s, and the balance is %s",
							seed, scenario, wallet, sum, balance)
					}
					reversed += doubts
				}
			}
			if reversed == 0 {
				t.Errorf("seed %d: no transaction was reversed", seed)
			}
		})
	}
}

// addUp returns the sum of a wallet's transactions, and how many are doubtful because they were reversed.
func addUp(t *testing.T, client *shipping.Client, wallet string) (sum shipping.Amount, doubts int) {
	t.Helper()
	list := &shipping.TransactionListOptions{Wallet: wallet, PerPage: 50}
	for transaction, err := range client.Transactions.All(t.Context(), list) {
		if err != nil {
			t.Fatal(err)
		}
		doubt := transaction.Doubt()
		if strings.HasPrefix(doubt, "reversed: ") != transaction.Reversed || (doubt != "") != transaction.Reversed {
			t.Errorf("%s: reversed %t, doubt %q", transaction.TransactionID, transaction.Reversed, doubt)
		}
		if transaction.Reversed {
			doubts++
		}
		signed, err := transaction.Signed()
		if err == nil {
			sum, err = sum.Add(signed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return sum, doubts
}

// buy purchases the automated documents of a shipment, and waits for them.
func buy(t *testing.T, client *shipping.Client, shipment string, want error) {
	t.Helper()
	_, err := client.Regulatory.AnalyzeAndPoll(t.Context(), &shipping.AnalyzeRequest{ShipmentID: shipment},
		&shipping.AnalyzeAndPollOptions{Select: shipping.SelectAutomated})
	if !errors.Is(err, want) {
		t.Fatalf("%s: %v, want %v", shipment, err, want)
	}
}
