package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

func TestQuickstartNeedsNoSetUp(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, strings.NewReader(""), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"250 countries", "rates read", "Purchased once:", "Completed: CUSTOMS, FDA",
		"Our receiver got it: shipment.created", "signature valid",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story does not contain %q:\n%s", want, &out)
		}
	}
	counts := regexp.MustCompile(`has (\d+) transactions(?s:.*) (\d+) transactions now`).FindStringSubmatch(out.String())
	if len(counts) != 3 {
		t.Fatalf("no count of transactions:\n%s", &out)
	}
	before, _ := strconv.Atoi(counts[1])
	if after, _ := strconv.Atoi(counts[2]); after != before+1 {
		t.Errorf("%d transactions before the purchase, %d after", before, after)
	}
}

func TestQuickstartAsksBeforeItSpendsElsewhere(t *testing.T) {
	for _, tc := range []struct {
		name, answer string
		args         []string
		purchases    int
		message      string
	}{
		{"an empty answer", "", nil, 0, "nothing was purchased"},
		{"no", "n\n", nil, 0, "nothing was purchased"},
		{"yes", "y\n", nil, 1, "Purchased once:"},
		{"agreed with -yes", "", []string{"-yes"}, 1, "Purchased once:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := mockserver.New(mockserver.WithAssumptions(func(a *assumption.Set) { a.GenerationScale = -1 }))
			defer server.Close()
			t.Setenv(shipping.EnvBaseURL, server.URL)
			t.Setenv(shipping.EnvSecretKey, server.SecretKey)
			args := append([]string{"-wallet", server.Wallets()[0], "-shipment", server.Shipments()[0]}, tc.args...)
			var out bytes.Buffer
			if err := run(t.Context(), args, strings.NewReader(tc.answer), &out); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			if got := server.Requests(shipping.OpPurchase); got != tc.purchases || !strings.Contains(out.String(), tc.message) {
				t.Errorf("%d purchases, want %d, and %q in:\n%s", got, tc.purchases, tc.message, &out)
			}
			if !strings.Contains(out.String(), "skipped: name one with -invoice") {
				t.Errorf("a chapter without its flag is not skipped:\n%s", &out)
			}
		})
	}
}

// The cheapest and the fastest rate on offer are two different rates, so that both are shown.
func TestQuickstartShowsACheapestAndAFastestRate(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, strings.NewReader(""), &out); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`cheapest +[0-9,.]+ NGN`).MatchString(out.String()) || !regexp.MustCompile(`fastest +[0-9,.]+ NGN`).MatchString(out.String()) {
		t.Errorf("no choice of rates:\n%s", &out)
	}
}

// A confirmation may lack the amount and the transaction. The program then states that, and prints no empty values.
func TestQuickstartReadsAMinimalConfirmation(t *testing.T) {
	server := mockserver.New(mockserver.WithAssumptions(func(a *assumption.Set) { a.GenerationScale = -1 }))
	defer server.Close()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/purchase") {
			server.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.Code)
		_, _ = io.WriteString(w, `{"status":true,"message":"Purchased"}`) // a caller that is gone needs no response
	}))
	defer front.Close()
	t.Setenv(shipping.EnvBaseURL, front.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	args := []string{"-wallet", server.Wallets()[0], "-shipment", server.Shipments()[0], "-yes"}
	var out bytes.Buffer
	if err := run(t.Context(), args, strings.NewReader(""), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"Purchased once. The confirmation names no amount and no transaction.\n", " success  Regulatory documents for RD-",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// The transaction that is shown is that of the purchase, wherever it stands in the list. If none can be identified, none
// is shown.
func TestQuickstartShowsTheTransactionOfThePurchase(t *testing.T) {
	t.Parallel()
	amount := func(text string) (a shipping.Amount) {
		if err := a.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return a
	}
	const other = `{"transactionId":"TR-0","amount":7,"currency":"NGN","flow":"out","status":"success","description":"Label"}`
	const debit = `{"transactionId":"TR-1","amount":60.5,"currency":"NGN","flow":"out","status":"success","description":"Documents"}`
	const named = `{"transactionId":"TR-2","amount":60,"currency":"NGN","flow":"out","status":"success","description":"For RD-1"}`
	for name, tc := range map[string]struct {
		first, last string
		pages       int
		purchase    *shipping.PurchaseResult
		message     string
	}{
		"by its id, after a row that arrived": {other + "," + debit, "", 1, &shipping.PurchaseResult{RequestID: "RD-1", TransactionID: "TR-1"}, "-60.50 NGN"},
		"by its id, the oldest first":         {other, debit, 2, &shipping.PurchaseResult{RequestID: "RD-1", TransactionID: "TR-1"}, "-60.50 NGN"},
		"not listed yet":                      {other, "", 1, &shipping.PurchaseResult{RequestID: "RD-1", TransactionID: "TR-1"}, "does not show transaction TR-1 yet"},
		"by the request":                      {debit + "," + named, "", 1, &shipping.PurchaseResult{RequestID: "RD-1"}, "-60.00 NGN"},
		"by the amount charged":               {other + "," + debit, "", 1, &shipping.PurchaseResult{RequestID: "RD-1", ChargedAmount: amount("60.5")}, "-60.50 NGN"},
		"by the price on the draft":           {other + "," + debit, "", 1, &shipping.PurchaseResult{RequestID: "RD-1"}, "-60.50 NGN"},
		"two of that amount":                  {debit + "," + debit, "", 1, &shipping.PurchaseResult{RequestID: "RD-1"}, "names no transaction"},
		"none of that amount":                 {other, "", 1, &shipping.PurchaseResult{RequestID: "RD-1"}, "names no transaction"},
		"no purchase":                         {other, "", 1, nil, "nothing was purchased"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mock := httpmock.NewMockTransport()
			mock.RegisterResponder("GET", "https://api.example/v1/transactions", func(r *http.Request) (*http.Response, error) {
				rows := tc.first
				if r.URL.Query().Get("page") == strconv.Itoa(tc.pages) && tc.pages > 1 {
					rows = tc.last
				}
				return httpmock.NewStringResponse(200, fmt.Sprintf(`{"status":true,"message":"","data":{"transactions":[%s],"pagination":{"total":%d}}}`,
					rows, 100*tc.pages)), nil
			})
			client, err := shipping.NewClient("sk_test_1", shipping.WithBaseURL("https://api.example"), shipping.WithHTTPClient(&http.Client{Transport: mock}))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			s := &scene{client: client, wallet: "VA-1", purchase: tc.purchase, price: amount("60.5"), out: newPrinter(&out)}
			if err := s.debit(t.Context()); err != nil || !strings.Contains(out.String(), tc.message) {
				t.Errorf("%v, want %q in\n%s", err, tc.message, &out)
			}
			if strings.Contains(out.String(), "Label") {
				t.Errorf("an unrelated transaction is shown:\n%s", &out)
			}
		})
	}
}

func TestQuickstartEndsCleanly(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	ended, end := context.WithCancel(t.Context())
	end()
	if err := run(ended, nil, strings.NewReader(""), &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, strings.NewReader(""), &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-shipment") {
		t.Errorf("help: %v\n%s", err, &help)
	}
	t.Setenv(shipping.EnvBaseURL, "https://api.example")
	t.Setenv(shipping.EnvSecretKey, "")
	if err := run(t.Context(), nil, strings.NewReader(""), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), shipping.EnvSecretKey) {
		t.Errorf("without a key: %v", err)
	}
}

// A service that makes the other choice at each open point gives the same output.
func TestQuickstartAgainstAServiceThatChoosesOtherwise(t *testing.T) {
	server := mockserver.New(mockserver.WithAssumptions(assumption.Contrary), mockserver.WithAssumptions(func(a *assumption.Set) { a.GenerationScale = -1 }))
	defer server.Close()
	t.Setenv(shipping.EnvBaseURL, server.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	args := []string{"-wallet", server.Wallets()[0], "-shipment", server.Shipments()[0], "-invoice", server.Invoices()[0], "-yes"}
	var out bytes.Buffer
	if err := run(t.Context(), args, strings.NewReader(""), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"250 countries", "rates read", "Purchased once", "Completed: CUSTOMS, FDA", "Regulatory documents for RD-"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if n := server.Requests(shipping.OpPurchase); n != 1 {
		t.Errorf("%d purchases", n)
	}
}
