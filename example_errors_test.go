package shipping_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// Test errors with errors.Is, and read their fields with errors.AsType.
func ExampleError() {
	_, server := account()
	defer server.Close()
	client, err := shipping.NewClient("sk_test_of_somebody_else", shipping.WithBaseURL(server.URL))
	if err != nil {
		log.Fatal(err)
	}

	_, err = client.Rates.List(context.Background(), nil)
	fmt.Println(errors.Is(err, shipping.ErrUnauthorized))
	if failure, ok := errors.AsType[*shipping.Error](err); ok {
		fmt.Println(failure.Operation, failure.StatusCode, len(failure.Attempts))
	}
	// Output:
	// true
	// rates.list 401 1
}

// An invalid request is refused before anything is sent.
func ExampleValidationError() {
	client, server := account()
	defer server.Close()

	_, err := client.Transactions.List(context.Background(), nil)
	if mistake, ok := errors.AsType[*shipping.ValidationError](err); ok {
		fmt.Println(mistake.Field, errors.Is(err, shipping.ErrInvalidRequest))
	}
	fmt.Println("calls:", server.Requests(shipping.OpListTransactions))
	// Output:
	// Wallet true
	// calls: 0
}

// Reads are retried: after two failures, the third attempt succeeds.
func ExampleWithRetryPolicy() {
	server := mockserver.New()
	defer server.Close()
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL),
		shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 3})) // 4 unless set
	if err != nil {
		log.Fatal(err)
	}
	busy := fault.Rule{Operation: shipping.OpListRates, First: 2, Fault: fault.Status(http.StatusServiceUnavailable, nil)}
	if err := server.Inject(busy); err != nil {
		log.Fatal(err)
	}

	page, err := client.Rates.List(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, attempt := range page.Response.Attempts {
		fmt.Println(attempt.StatusCode)
	}
	// Output:
	// 503
	// 503
	// 200
}

// If the service requests a wait that would outlast the deadline, the call fails immediately.
func ExampleErrRateLimited() {
	client, server := account()
	defer server.Close()
	limit := fault.Rule{Operation: shipping.OpListRates, Fault: fault.RateLimit(fault.RetryAfterSeconds, time.Minute)}
	if err := server.Inject(limit); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()

	_, err := client.Rates.List(ctx, nil)
	if failure, ok := errors.AsType[*shipping.Error](err); ok && errors.Is(err, shipping.ErrRateLimited) {
		fmt.Println("wait", failure.RetryAfter, "-", failure.NotRetried)
	}
	// Output: wait 1m0s - the deadline would pass first
}
