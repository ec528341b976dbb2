package cost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/jsonread"
)

// The price is the member that the dialect names, and nothing else is taken for it.
func TestOffers_CostInADialect(t *testing.T) {
	t.Parallel()
	gross := dialect.Offer{Amount: "price.gross", Currency: "price.currency", Beside: []string{"price.net", "vat"}}
	type offer = dialect.Offer
	for name, test := range map[string]struct {
		offer         offer
		sent, assumed string
		// want is the price, the most and the currency, or a part of the error, and what is printed behind " | ".
		want string
	}{
		"names":          {gross, `"price":{"gross":107.5,"net":100,"currency":"NGN"},"vat":7.5`, "", "107.5 107.5 NGN"},
		"another amount": {gross, `"price":{"gross":107.5,"net":100,"currency":"NGN"},"fee":2`, "", "107.5 109.5 NGN"},
		"not beside": {offer{Amount: "net"}, `"net":100,"tax":7,"fee":100,"cif":900,"currency":"NGN"`, "",
			"100 1107 NGN | tax 7; fee 100; cif 900; offer.beside += tax; offer.beside += fee"},
		"missing": {gross, `"amount":5,"price":{"currency":"NGN"}`, "",
			`the dialect names "price.gross" (offer.amount), which it does not show`},
		"missing beside a tax": {gross, `"tax":5,"price_id":"7"`, "", `not show, but tax 5, price_id "7")`},
		"missing, no number":   {gross, `"note":"x"`, "", "not show): select other documents"},
		"only an object":       {offer{}, `"price":{"net":5}`, "", "price is an object)"},
		"empty":                {gross, `"price":{"gross":"","currency":"NGN"}`, "", "which it does not show"},
		"unreadable":           {gross, `"price":{"gross":"much","currency":"NGN"}`, "", `price.gross is "much"`},
		"object":               {gross, `"price":{"gross":{"a":1},"currency":"NGN"}`, "", "price.gross is an object"},
		"negative":             {gross, `"price":{"gross":-1,"currency":"NGN"}`, "", "negative price -1"},
		"free":                 {gross, `"price":{"gross":0,"currency":"NGN"}`, "", "0 0 NGN"},
		"no currency": {gross, `"price":{"gross":1},"currency":"NGN"`, "",
			`the dialect names "price.currency" (offer.currency)`},
		"no names":             {offer{Amount: "-", Currency: "-"}, `"amount":5,"currency":"NGN"`, "", "5 5 NGN"},
		"assumed currency":     {offer{Amount: "cost"}, `"cost":5`, "KES", "5 5 KES"},
		"code in the text":     {offer{}, `"price":"ZAR 1500"`, "USD", "1500 1500 ZAR"},
		"price on top":         {offer{Amount: "total_charge"}, `"total_charge":5,"currency":"NGN"`, "", "5 5 NGN"},
		"price on top, nested": {offer{Amount: "price.charge"}, `"price":{"charge":5},"currency":"NGN"`, "", "5 5 NGN"},
		"beside, its currency": {offer{Beside: []string{"vat"}}, `"amount":5,"currency":"NGN","vat":1,"vat_currency":"USD"`,
			"", `vat_currency is "USD") | offer.beside += vat_currency`},
		"currency, another": {offer{Currency: "ccy"}, `"amount":5,"ccy":"NGN","agency_currency":"USD"`, "",
			`agency_currency is "USD") | offer.beside += agency_currency`},
		"beside with its currency": {offer{Beside: []string{"vat", "vat_currency"}},
			`"amount":5,"currency":"NGN","vat":1,"vat_currency":"USD"`, "", "5 5 NGN"},
		"beside, deep": {offer{Beside: []string{"fees.port"}}, `"amount":5,"fees":{"port":{"a":1},"b":2}`, "NGN", "5 7 NGN"},
		// Two names that were swapped spent 2,501 of a budget of 10.
		"swapped": {offer{Amount: "amount", Beside: []string{"converted_amount"}},
			`"amount":1.5,"converted_amount":2501.03`, "NGN", "converted_amount of offer.beside is more than the price"},
		"swapped objects": {offer{Amount: "net", Beside: []string{"total"}}, `"net":1,"total":{"amount":{"value":9}}`, "NGN",
			"total.amount.value of offer.beside is more than the price"},
		"swapped, too long": {offer{Beside: []string{"base_price"}}, `"amount":1,"base_price":1e400`, "NGN",
			"base_price of offer.beside is more"},
		"beside, more than the price": {offer{Beside: []string{"item_value"}}, `"amount":1,"item_value":900`, "NGN",
			"1 1 NGN"},
		"beside, like the price": {offer{Beside: []string{"base_price"}}, `"amount":100,"base_price":100`, "NGN",
			"100 100 NGN"},
		"currency object": {offer{Currency: "currency.code"}, `"amount":5,"currency":{"code":"NGN","symbol":"₦"}`, "USD",
			"5 5 NGN"},
		"object with a fee": {offer{Currency: "currency.code"}, `"amount":5,"currency":{"code":"NGN","fee":2}`, "",
			"5 7 NGN"},
		"object with another": {offer{Currency: "currency.code"}, `"amount":5,"currency":{"code":"NGN","currency":"USD"}`, "",
			`currency.currency is "USD"`},
		"two objects": {offer{Currency: "currency.code"},
			`"amount":5,"currency":{"code":"NGN"},"tax":1,"tax_currency":{"code":"USD"}`, "",
			`tax_currency.code is "USD"`},
		"object, not named": {offer{}, `"amount":5,"currency":{"code":"NGN"}`, "NGN", "5 5 NGN"},
		"object with another code": {offer{}, `"amount":5,"currency":{"code":"TZS","name":"x"}`, "NGN",
			`currency.code is "TZS"`},
		"amount in an object": {offer{Amount: "amount.value", Currency: "amount.unit"},
			`"amount":{"value":5,"unit":"NGN"}`, "",
			"5 5 NGN"},
		"not sent, a symbol": {offer{Currency: "-"}, `"amount":5,"currency":"₦"`, "NGN", "5 5 NGN"},
		"a symbol in an object": {offer{Currency: "-"},
			`"price":{"amount":5,"currency":"₦"},"fee":1,"fee_currency":"₦"`, "NGN",
			"5 6 NGN"},
		"a symbol alone":        {offer{Currency: "-"}, `"amount":5,"currency":"₦"`, "", "without a currency"},
		"not sent, a code":      {offer{Currency: "-"}, `"price":{"amount":5},"price_currency":"USD"`, "NGN", `price_currency is "USD"`},
		"no currency to assume": {offer{Amount: "cost"}, `"cost":5`, "", "without a currency"},
		"a currency of the draft": {offer{}, `"amount":5}],"status":"NEW","purse":{"ccy":"GBP"},"a":[{"b":1`, "",
			"currency (perhaps that of purse.ccy) | record.currency = purse.ccy; offer.default_currency = XXX"},
		"a currency of goods": {offer{}, `"amount":5}],"line_items":[{"currency":"USD"`, "", "without a currency"},
		"small letters":       {offer{}, `"amount":100.4,"currency":"jpy"`, "", "100.4 101 jpy"},
		"nested too deeply": {offer{}, `"amount":10,"fees":` + strings.Repeat(`{"a":`, 40) + `50` + strings.Repeat(`}`, 40),
			"NGN", "nested too deeply"},
		// A comma of thousands was read as a decimal comma.
		"a fee in dinars": {offer{Amount: "total"}, `"total":50,"fee":"1,200","currency":"KWD"`, "", "50 1250 KWD"},
		"a price in dinars": {offer{Amount: "total"}, `"total":"41.500","fee":"1.250","currency":"KWD"`, "",
			"41.5 1291.5 KWD"},
		"a price in dinars, not named": {offer{}, `"amount":"41.500","fee":1,"currency":"KWD"`, "",
			"41.5 41501 KWD | a price that may be 41500; fee 1; offer.beside += fee; offer.amount = amount"},
		"thousands of dinars": {offer{Amount: "total"}, `"total":"1,500","currency":"KWD"`, "", "1500 1500 KWD"},
		"no price":            {offer{}, `"amount":"on request"`, "", `"on request"): select other documents, or ask the service`},
		"an unknown code":     {offer{}, `"amount":5,"cost":{"unit":"TZS"}`, "", "perhaps that of cost.unit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.offer.DefaultCurrency = "wallet"
			offers := Read(jsonread.Parse(`{"available_documents":[{"document_type":"FDA",`+test.sent+`}]}`),
				&dialect.Dialect{Offer: test.offer}, test.assumed)
			cost, err := offers.Cost("FDA")
			got := fmt.Sprint(text(cost.Price), " ", text(cost.Most), " ", cost.Currency)
			if err != nil {
				got = err.Error()
			}
			want, lines, printsLines := strings.Cut(test.want, " | ")
			if strings.Contains(got, "line_items") || !strings.Contains(got, want) || (err == nil) != (got == want) ||
				printsLines && printed(cost, err) != lines {
				t.Errorf("%s | %s, want %q", got, printed(cost, err), test.want)
			}
		})
	}
}
