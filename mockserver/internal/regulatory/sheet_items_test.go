package regulatory

import (
	"slices"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestGoods_TotalsAreExactAndByCurrency(t *testing.T) {
	t.Parallel()
	item := func(pieces int, value, currency string) LineItem {
		item := LineItem{Quantity: Quantity(pieces), Currency: currency}
		if value != "" {
			item.UnitPrice = price(t, value)
		}
		return item
	}
	for _, test := range []struct {
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
	} {
		items, got := printed(test.items)
		for i := range items {
			got = slices.Insert(got, i, items[i].TotalValue)
		}
		shippingtest.Diff(t, test.name, test.want, got)
	}
}

func TestDrafted(t *testing.T) {
	t.Parallel()
	details := &Shipping{Incoterm: "DDP", ReasonForExport: "sale", PortOfEntry: "Newark, NJ",
		EstimatedArrival: "2026-02-01T10:00:00Z"}
	item := func(description, country, currency string) LineItem {
		return LineItem{Description: description, Quantity: 2, UnitPrice: price(t, "12.5"), Weight: price(t, "0.4"),
			OriginCountry: country, Currency: currency}
	}
	of := func(origin, names, value string) map[string]string {
		want := map[string]string{
			"incoterm": "DDP", "reason_for_export": "sale", "arrival_port": "Newark, NJ", "port_of_clearance": "Newark, NJ",
			"arrival_date": "2026-02-01",
			"common_name":  names, "quantity": "4", "quantity_unit": "pieces", "weight_kg": "1.6",
			"species_origin_country": origin, "harvest_country": origin,
		}
		if value != "" {
			want["value_usd"] = value
		}
		return want
	}
	for name, test := range map[string]struct {
		items []LineItem
		want  map[string]string
	}{
		"of one country":   {[]LineItem{item("plums", "CN", "USD"), item("figs", "CN", "USD")}, of("CN", "plums; figs", "50")},
		"of two countries": {[]LineItem{item("plums", "CN", "USD"), item("plums", "VN", "USD")}, of("", "plums", "50")},
		"not in dollars":   {[]LineItem{item("plums", "CN", "NGN"), item("figs", "CN", "USD")}, of("CN", "plums; figs", "")},
	} {
		shippingtest.Diff(t, name, test.want, (&Record{Shipping: details}).drafted(test.items))
	}
	shippingtest.Diff(t, "items of a form that no item is the reason for", 2, len(neededFor(make([]LineItem, 2), nil)))
}

var price = shippingtest.Amount
