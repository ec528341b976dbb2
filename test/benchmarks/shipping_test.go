package benchmarks

import (
	"context"
	"net/http"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/payload"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/transport"
)

const (
	address = "https://api.shipping.example"
	key     = "sk_test_benchmark"
)

// newClient returns this project's client with its defaults.
func newClient(tb testing.TB, through http.RoundTripper, opts ...shipping.Option) *shipping.Client {
	tb.Helper()
	client, err := shipping.NewClient(key, append([]shipping.Option{
		shipping.WithBaseURL(address), shipping.WithHTTPClient(&http.Client{Transport: through}),
	}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

// byHand returns hand-written code that reads url and counts the records of the response.
func byHand[T any](through http.RoundTripper, url string, count func(*T) int) call {
	client := &http.Client{Transport: through}
	return func(ctx context.Context) (int, error) {
		answer, err := raw.Get[T](ctx, client, url, key)
		return count(&answer), err
	}
}

type (
	rateAnswer        = payload.Envelope[payload.RateList]
	transactionAnswer = payload.Envelope[payload.TransactionList]
	requestAnswer     = payload.Envelope[payload.Request]
	webhookAnswer     = payload.Envelope[payload.WebhookList]
	countryAnswer     = payload.Envelope[[]payload.Country]
)

func rates(tb testing.TB, name string, n int) contest {
	body := transport.Fixed(payload.Rates(n, 1, 1))
	client := newClient(tb, body)
	return contest{
		name: name, body: body, records: n, client: "shipping",
		raw:  byHand(body, address+"/v1/rates", func(a *rateAnswer) int { return len(a.Data.Rates) }),
		call: listRates(client),
	}
}

func transactions(tb testing.TB, name string, n int) contest {
	body := transport.Fixed(payload.Transactions(n, 1, 1))
	client := newClient(tb, body)
	return contest{
		name: name, body: body, records: n, client: "shipping",
		raw: byHand(body, address+"/v1/transactions?wallet="+payload.Wallet,
			func(a *transactionAnswer) int { return len(a.Data.Transactions) }),
		call: func(ctx context.Context) (int, error) {
			page, err := client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: payload.Wallet})
			if err != nil {
				return 0, err
			}
			return len(page.Items), nil
		},
	}
}

func webhooks(tb testing.TB, name string, n int) contest {
	body := transport.Fixed(payload.Webhooks(n))
	client := newClient(tb, body)
	return contest{
		name: name, body: body, records: n, client: "shipping",
		raw: byHand(body, address+"/v1/webhooks", func(a *webhookAnswer) int { return len(a.Data.Webhooks) }),
		call: func(ctx context.Context) (int, error) {
			page, err := client.Webhooks.List(ctx, nil)
			if err != nil {
				return 0, err
			}
			return len(page.Items), nil
		},
	}
}

func countries(tb testing.TB, name string, n int) contest {
	body := transport.Fixed(payload.Countries(n))
	client := newClient(tb, body)
	return contest{
		name: name, body: body, records: n, client: "shipping",
		raw: byHand(body, address+"/v1/countries", func(a *countryAnswer) int { return len(a.Data) }),
		call: func(ctx context.Context) (int, error) {
			countries, err := client.Countries.List(ctx)
			return len(countries), err
		},
	}
}

func draft(tb testing.TB, name string, answer []byte) contest {
	body := transport.Fixed(answer)
	client := newClient(tb, body)
	return contest{
		name: name, body: body, records: 1, client: "shipping",
		raw: byHand(body, address+"/v1/regulatory-documents/request/"+payload.RequestID,
			func(a *requestAnswer) int { return one(a.Data.RequestID == payload.RequestID) }),
		call: func(ctx context.Context) (int, error) {
			record, err := client.Regulatory.Get(ctx, payload.RequestID)
			if err != nil {
				return 0, err
			}
			return one(record.RequestID == payload.RequestID), nil
		},
	}
}

// one counts a single record.
func one(received bool) int {
	if received {
		return 1
	}
	return 0
}
