package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func TestQuickstartNeedsNoSetUp(t *testing.T) {
	t.Setenv("SHIPPING_BASE_URL", "")
	t.Setenv("SHIPPING_SECRET_KEY", "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, strings.NewReader(""), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"250 countries", "250 rates", "Purchased the automated ones, once: CUSTOMS FDA", "5 of 5 documents, completed",
		"success  Regulatory documents for RD-", "signature valid: true",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// On a service of the environment nothing is purchased without a yes. A service that makes the other choice at each
// open point sells the same. If such a service, which shows no documents, lost the response to the purchase, the
// quickstart ended with an unknown outcome.
func TestQuickstartConfirmsPurchasesElsewhere(t *testing.T) {
	bought := []string{"Purchased the automated ones, once: CUSTOMS FDA", "Regulatory documents for RD-"}
	for _, tc := range []struct {
		name, answer string
		choices      string
		purchases    int
		want         []string
	}{
		{"an empty answer", "", "", 0, []string{"nothing was purchased"}},
		{"no", "n\n", "", 0, []string{"nothing was purchased"}},
		{"yes", "y\n", "", 1, bought},
		{"agreed with -yes", "", "", 1, bought},
		{"a service that chooses otherwise", "y\n", "contrary", 1, bought},
		{"a lost response", "y\n", "contrary", 1, bought},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := mockserver.New(mockserver.WithDialect(shippingtest.Dialect(t, tc.choices)),
				mockserver.WithScenario("instant"))
			defer server.Close()
			t.Setenv("SHIPPING_BASE_URL", server.URL)
			t.Setenv("SHIPPING_SECRET_KEY", server.SecretKey)
			args := []string{"-wallet", server.Wallets()[0], "-shipment", server.Shipments()[0]}
			if tc.name == "agreed with -yes" {
				args = append(args, "-yes")
			}
			if tc.name == "a lost response" {
				lost := fault.Rule{Operation: shipping.OpPurchase, Committed: true, Fault: fault.Drop()}
				if err := server.Inject(lost); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			if err := run(t.Context(), args, strings.NewReader(tc.answer), &out); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			if got := server.Requests(shipping.OpPurchase); got != tc.purchases {
				t.Errorf("%d purchases, want %d", got, tc.purchases)
			}
			for _, want := range append(tc.want, "skipped: name one with -webhook") {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
		})
	}
}

// The price of an offer can have a name that the client does not read.
func TestMoneyThatIsNotKnownIsNot0(t *testing.T) {
	if got := money(shipping.Amount{}, "NGN"); got != "unknown" {
		t.Errorf("got %q, want unknown", got)
	}
}
