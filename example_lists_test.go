package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// All walks every page, and fetches pages ahead.
func ExampleTransactionsService_All() {
	client, server := account()
	defer server.Close()
	ctx, wallet := context.Background(), server.Wallets()[0]

	var spent shipping.Amount
	for transaction, err := range client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: wallet}) {
		if err != nil {
			log.Fatal(err)
		}
		if transaction.Flow != shipping.FlowOut {
			continue
		}
		if spent, err = spent.Add(transaction.Amount); err != nil { // exact: no float is involved
			log.Fatal(err)
		}
	}
	fmt.Println("something was spent:", spent.Sign() > 0)
	// Output: something was spent: true
}

// One page, with its numbers.
func ExampleRatesService_List() {
	client, server := account()
	defer server.Close()

	page, err := client.Rates.List(context.Background(), &shipping.RateListOptions{Page: 2, PerPage: 60})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Items), "of", page.Pagination.Total, "on page", page.Pagination.Page, "of", page.Pagination.PageCount)
	// Output: 60 of 250 on page 2 of 5
}

// The error of a walk has a token that continues it, in this process or another.
func ExampleWithResume() {
	client, server := account(shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
	defer server.Close()
	ctx, pages := context.Background(), &shipping.RateListOptions{PerPage: 50}
	outage := fault.Rule{Operation: shipping.OpListRates, Fault: fault.Status(http.StatusBadGateway, nil)}

	seen, token := 0, ""
	for _, err := range client.Rates.All(ctx, pages, shipping.WithWindow(1)) {
		if failure, ok := errors.AsType[*shipping.ListError](err); ok {
			token = failure.Resume // text to keep
			fmt.Println("page", failure.Page, "failed after", seen)
			break
		}
		if seen++; seen == 100 {
			if err := server.Inject(outage); err != nil {
				log.Fatal(err)
			}
		}
	}
	server.ClearFaults()
	for _, err := range client.Rates.All(ctx, pages, shipping.WithResume(token)) {
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

// How far a walk is, page by page.
func ExampleWithListProgress() {
	client, server := account()
	defer server.Close()

	report := func(p shipping.ListProgress) { fmt.Println(p.Items, "of", p.Total) }
	for _, err := range client.Rates.All(context.Background(), nil, shipping.WithListProgress(report)) {
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// 100 of 250
	// 200 of 250
	// 250 of 250
}

// A filter that the specification does not document, and the response as it came.
func ExampleWithQuery() {
	client, server := account()
	defer server.Close()

	var response shipping.Response
	_, err := client.Transactions.List(context.Background(), &shipping.TransactionListOptions{Wallet: server.Wallets()[0]},
		shipping.WithQuery("startDate", "2026-01-01"), shipping.WithResponse(&response))
	fmt.Println(err, response.StatusCode, len(response.Attempts), len(response.Body) > 0)
	// Output: <nil> 200 1 true
}

// The cheapest rate, the fastest, and those that no other beats in both.
func ExampleCheapestRate() {
	amount := func(text string) shipping.Amount {
		a, err := shipping.ParseAmount(text)
		if err != nil {
			log.Fatal(err)
		}
		return a
	}
	rates := []*shipping.Rate{
		{RateID: "RT-1", CarrierName: "Road", Amount: amount("41.20"), Currency: "USD", DeliveryETA: 7200},
		{RateID: "RT-2", CarrierName: "Air", Amount: amount("95"), Currency: "USD", DeliveryETA: 1440},
		{RateID: "RT-3", CarrierName: "Slow air", Amount: amount("99.90"), Currency: "USD", DeliveryETA: 2880},
	}

	cheapest, err := shipping.CheapestRate(rates, shipping.RateFilter{})
	if err != nil {
		log.Fatal(err)
	}
	soon, err := shipping.CheapestRate(rates, shipping.RateFilter{Within: 48 * time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	best, err := shipping.BestRates(rates, shipping.RateFilter{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("cheapest:", cheapest.CarrierName)
	fmt.Println("cheapest within two days:", soon.CarrierName)
	fmt.Println("to choose from:", best[0].CarrierName, best[1].CarrierName, len(best))

	rates[0].Currency = "EUR"
	_, err = shipping.CheapestRate(rates, shipping.RateFilter{})
	fmt.Println(err)
	// Output:
	// cheapest: Road
	// cheapest within two days: Air
	// to choose from: Road Air 2
	// shipping: rates are in several currencies; set RateFilter.Currency to compare those of one: EUR and USD
}
