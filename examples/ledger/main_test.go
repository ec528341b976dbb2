package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

func serve(t *testing.T, options ...mockserver.Option) *mockserver.Server {
	t.Helper()
	server := mockserver.New(append(options, mockserver.WithVirtualClock(time.Time{}))...)
	t.Cleanup(server.Close)
	t.Setenv("SHIPPING_BASE_URL", server.URL)
	t.Setenv("SHIPPING_SECRET_KEY", server.SecretKey)
	return server
}

// exported exports a wallet, and returns what the program prints and a function that returns a column of the CSV.
func exported(t *testing.T, args ...string) (out string, column func(name string) []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "books.csv")
	var printed bytes.Buffer
	if err := run(t.Context(), append(args, "-out", path), &printed); err != nil {
		t.Fatalf("%v\n%s", err, &printed)
	}
	file := shippingtest.Must(os.Open(path))(t)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	shippingtest.NoError(t, err)
	return printed.String(), func(name string) (cells []string) {
		for _, row := range rows[1:] {
			cells = append(cells, row[slices.Index(rows[0], name)])
		}
		return cells
	}
}

func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv("SHIPPING_BASE_URL", "")
	t.Setenv("SHIPPING_SECRET_KEY", "")
	out, column := exported(t)
	if !strings.Contains(out, "NGN  211 rows, 4 in doubt") || len(column("amount")) != 211 {
		t.Errorf("%d rows\n%s", len(column("amount")), out)
	}
}

// The sum of the CSV is the balance of the wallet, and so is the total that the program prints. Reversed payments
// counted as 0 and their reversals as income, so that the total was too large.
func TestTheTotalIsTheBalance(t *testing.T) {
	for name, choices := range map[string]string{"default": "reference", "contrary": "contrary"} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, mockserver.WithDialect(shippingtest.Dialect(t, choices)))
			for _, wallet := range server.Wallets() {
				out, column := exported(t, "-wallet", wallet)
				var got shipping.Amount
				for _, cell := range column("amount") {
					amount, err := shipping.ParseAmount(cell)
					if err == nil {
						got, err = got.Add(amount)
					}
					shippingtest.NoError(t, err)
				}
				if balance, _ := server.Balance(wallet); got != balance || !strings.Contains(out, " "+balance.StringFixed(2)+"\n") {
					t.Errorf("the CSV of %s adds up to %s, the balance is %s, and the program prints\n%s", wallet, got, balance, out)
				}
			}
		})
	}
}

func TestRow_AmountAndDoubt(t *testing.T) {
	t.Parallel()
	var unreadable, fifth shipping.Amount
	shippingtest.NoError(t, errors.Join(unreadable.UnmarshalJSON([]byte(`"lots"`)), fifth.UnmarshalJSON([]byte("0.2"))))
	for _, tc := range []struct {
		transaction   shipping.Transaction
		amount, doubt string
		unbooked      int
	}{
		{shipping.Transaction{Amount: fifth, FlatAmount: 20, Flow: "out", Reversed: true, Status: "success"}, "-0.2",
			"reversed: ", 0},
		{shipping.Transaction{Amount: fifth, FlatAmount: 20, Flow: "around", Status: "success"}, "", `flow is "around"`, 1},
		{shipping.Transaction{Amount: unreadable, Flow: "out", Status: "success"}, "", "amount is not a decimal number", 1},
	} {
		cells := row(&tc.transaction)
		var sum total
		if err := sum.add(&tc.transaction); err != nil || sum.unbooked != tc.unbooked || cells[7] != tc.amount ||
			!strings.Contains(cells[10], tc.doubt) {
			t.Errorf("amount %q, doubt %q, %d not booked, %v; want %+v", cells[7], cells[10], sum.unbooked, err, tc)
		}
	}
	if cells := row(&shipping.Transaction{Description: `=HYPERLINK("x")`}); cells[2] != `'=HYPERLINK("x")` ||
		cells[0] != "" || cells[6] != "" {
		t.Errorf("a description that looks like a formula: %q, a time and an amount that are not there: %q, %q", cells[2],
			cells[0], cells[6])
	}
}
