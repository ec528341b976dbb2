package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/shipping-go/shipping"
)

// All walks every page, and fetches pages ahead.
func ExampleTransactionsService_All() {
	client, _ := account()
	ctx := context.Background()

	var sum shipping.Amount
	for transaction, err := range client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: wallet}) {
		if err != nil {
			log.Fatal(err)
		}
		signed, err := transaction.Signed() // negative for money that left
		if err != nil {
			log.Fatal(err)
		}
		if sum, err = sum.Add(signed); err != nil { // exact: no float is involved
			log.Fatal(err)
		}
	}
	fmt.Println("balance", sum)
	// Output: balance 60.75
}

// One page, with its numbers.
func ExampleRatesService_List() {
	client, _ := account()

	page, err := client.Rates.List(context.Background(), &shipping.RateListOptions{Page: 2, PerPage: 60})
	if err != nil {
		log.Fatal(err)
	}
	numbers := page.Pagination
	fmt.Println(len(page.Items), "of", numbers.Total, "on page", numbers.Page, "of", numbers.PageCount)
	// Output: 60 of 250 on page 2 of 5
}

// A token in a URL leads to the next page.
func ExampleTransactionsService_Pages() {
	client, _ := account()
	list := func(w http.ResponseWriter, r *http.Request) {
		options := &shipping.TransactionListOptions{Wallet: wallet, PerPage: 2,
			Walk: shipping.Walk{Window: 1, Resume: r.URL.Query().Get("after")}}
		for page, err := range client.Transactions.Pages(r.Context(), options) {
			if err != nil {
				http.Error(w, "the list cannot be read", http.StatusBadGateway)
				return
			}
			for _, transaction := range page.Items {
				fmt.Fprintln(w, transaction.TransactionID)
			}
			if page.Resume != "" { // there is another page
				fmt.Fprintln(w, "next: ?after="+page.Resume)
			}
			return
		}
	}

	for next := "?"; next != ""; {
		response := httptest.NewRecorder()
		list(response, httptest.NewRequest(http.MethodGet, "/transactions"+next, nil))
		body := response.Body.String()
		body, next, _ = strings.Cut(strings.TrimSpace(body), "next: ")
		fmt.Println(strings.Fields(body))
	}
	// Output:
	// [TR-1 TR-2]
	// [TR-3]
}

// The error of a walk has a token that continues it, in this process or another.
func ExampleWalk() {
	client, service := account(shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
	ctx, pages := context.Background(), &shipping.RateListOptions{PerPage: 50, Walk: shipping.Walk{Window: 1}}

	seen, token := 0, ""
	for _, err := range client.Rates.All(ctx, pages) {
		if failure, ok := errors.AsType[*shipping.ListError](err); ok {
			token = failure.Resume // text to keep
			fmt.Println("page", failure.Page, "failed after", seen)
			break
		}
		if seen++; seen == 100 {
			service.Down.Store(true)
		}
	}
	service.Down.Store(false)
	resumed := &shipping.RateListOptions{PerPage: 50, Walk: shipping.Walk{Resume: token}}
	for _, err := range client.Rates.All(ctx, resumed) {
		if err != nil {
			log.Fatal(err)
		}
		seen++
	}
	fmt.Println("all:", seen)
	// Output:
	// page 3 failed after 100
	// all: 250
}

// The cheapest rate for a parcel in one currency.
func ExampleRatesService_All() {
	client, _ := account()
	ctx := context.Background()

	var cheapest *shipping.Rate
	for rate, err := range client.Rates.All(ctx, nil) {
		if err != nil {
			log.Fatal(err)
		}
		// A missing price is not 0.
		if rate.Parcel != "PC-1" || rate.Used || rate.Currency != "NGN" || !rate.Amount.Known() {
			continue
		}
		if cheapest == nil || rate.Amount.Cmp(cheapest.Amount) < 0 {
			cheapest = rate
		}
	}
	if cheapest != nil {
		fmt.Println(cheapest.CarrierName, cheapest.Amount.StringFixed(2), cheapest.Currency)
	}
	// Output: Carrier 1 150.25 NGN
}
