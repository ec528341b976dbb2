package regulatory

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

func TestGoods_TotalsAreExactAndByCurrency(t *testing.T) {
	t.Parallel()
	item := func(pieces int, price, currency string) LineItem {
		item := LineItem{Quantity: Quantity(pieces), Currency: currency}
		if price != "" {
			amount, err := shipping.ParseAmount(price)
			if err != nil {
				t.Fatal(err)
			}
			item.UnitPrice = amount
		}
		return item
	}
	tests := []struct {
		name  string
		items []LineItem
		want  []string // values of the items, then the totals
	}{
		{"exact", []LineItem{item(3, "0.1", "USD"), item(7, "0.125", "usd")}, []string{"0.30", "0.875", "1.175 USD"}},
		{
			"by currency, as they turn up",
			[]LineItem{item(2, "1", "NGN"), item(1, "5", "EUR"), item(1, "1", "NGN")},
			[]string{"2.00", "5.00", "1.00", "3.00 NGN", "5.00 EUR"},
		},
		{
			"none where a price is missing",
			[]LineItem{item(2, "", "NGN"), item(1, "5", "NGN"), item(1, "5", "EUR")},
			[]string{"-", "5.00", "5.00", "5.00 EUR"},
		},
		{"none if it is too long", []LineItem{item(1_000_000_000, "123456789012", "NGN")}, []string{"-"}},
		{"without a currency", []LineItem{item(2, "2.5", "")}, []string{"5.00", "5.00"}},
	}
	for _, test := range tests {
		items, got := printed(test.items)
		for i := range items {
			got = slices.Insert(got, i, items[i].TotalValue)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
