package benchmarks

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
)

// BenchmarkList reads a list of 100 records, and all countries.
func BenchmarkList(b *testing.B) {
	rates, transactions := get(b, "rates?perPage=100"), get(b, "transactions?perPage=100&wallet=WALLET")
	webhooks, countries := get(b, "webhooks?perPage=100"), get(b, "countries")
	all := []comparison{
		{"rates", 100, rawRates(rates), listRates(newClient(b, rates))},
		{"transactions", 100, rawTransactions(transactions), listTransactions(newClient(b, transactions))},
		{
			"webhooks", 100, byHand(webhooks, address+"/v1/webhooks", func(r *raw.Webhooks) int { return len(r.Data.Webhooks) }),
			listed(newClient(b, webhooks).Webhooks.List, nil),
		},
		{
			"countries", 250, byHand(countries, address+"/v1/countries", func(r *raw.Countries) int { return len(r.Data) }),
			listCountries(newClient(b, countries)),
		},
	}
	for _, p := range peers(b) {
		all = append(all, comparison{p.name, 100, p.rawList, p.list})
	}
	compare(b, all)
}

// BenchmarkOne reads one record.
func BenchmarkOne(b *testing.B) {
	rates, transactions := get(b, "rates?perPage=1"), get(b, "transactions?perPage=1&wallet=WALLET")
	smallest := fixed(`{"status":true,"message":"OK","data":{"request_id":"RD-5FQJ2M81KD0XA7NB","status":"draft"}}`)
	all := []comparison{
		{"rate", 1, rawRates(rates), listRates(newClient(b, rates))},
		{"transaction", 1, rawTransactions(transactions), listTransactions(newClient(b, transactions))},
		getRequest(b, "request-1KB", shortDraft(b)),
		getRequest(b, "request-6KB", longDraft(b)),
		getRequest(b, "smallest-request", smallest),
	}
	for _, p := range peers(b) {
		all = append(all, comparison{p.name, 1, p.rawOne, p.one})
	}
	compare(b, all)
}

// BenchmarkForms reads 100 rates that are written in other ways. Hand-written code reads the page in its usual form.
func BenchmarkForms(b *testing.B) {
	rates := get(b, "rates?perPage=100")
	for _, f := range forms() {
		rewritten := fixed(f.rewrite(b, rates))
		compare(b, []comparison{{f.name, 100, rawRates(rates), listRates(newClient(b, rewritten))}})
	}
}

// BenchmarkDrift reads 100 rates without and with a report of the differences from the specification.
func BenchmarkDrift(b *testing.B) {
	rates := get(b, "rates?perPage=100")
	for name, body := range map[string]fixed{"rates": rates, "odd-scalars": odd(b, rates)} {
		reporting := newClient(b, body, shipping.WithDriftReport(func(shipping.Drift) {}))
		b.Run("of="+name+"/report=off", func(b *testing.B) { measure(b, 100, listRates(newClient(b, body))) })
		b.Run("of="+name+"/report=on", func(b *testing.B) { measure(b, 100, listRates(reporting)) })
	}
}

// BenchmarkOffers analyzes a shipment, purchases all that is offered with a budget, and waits for the documents.
func BenchmarkOffers(b *testing.B) {
	for _, offers := range []int{250, 2500} {
		client := newClient(b, purchasing(offers))
		limit, err := shipping.ParseBudget(fmt.Sprint(offers, " NGN"))
		if err != nil {
			b.Fatal(err)
		}
		options := &shipping.AnalyzeAndPollOptions{
			Select: shipping.SelectAll, Budget: limit, Purchase: shipping.PurchaseOptions{AllowUnknown: true},
		}
		b.Run(fmt.Sprintf("n=%d", offers), func(b *testing.B) {
			measure(b, offers, func(ctx context.Context) (int, error) {
				request, err := client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: "SH-TLMHDHXQMDVVJ4U9"}, options)
				if err != nil {
					return 0, err
				}
				return len(request.Documents), nil
			})
		})
	}
}

// purchasing returns a service that offers many documents at 1 NGN, and generates all of them at once.
func purchasing(offers int) http.RoundTripper {
	list := func(member string) string {
		var documents []string
		for n := range offers {
			documents = append(documents, fmt.Sprintf(`{"document_type":"FORM-%d","name":"a form","mode":"automated",%s}`, n, member))
		}
		return strings.Join(documents, ",")
	}
	const envelope = `{"status":true,"message":"OK","data":{"request_id":"RD-5FQJ2M81KD0XA7NB","status":"%s","available_documents":[%s],"documents":[%s]}}`
	offered := list(`"amount":1,"currency":"NGN"`)
	drafted := fmt.Appendf(nil, envelope, "draft", offered, "")
	generated := fmt.Appendf(nil, envelope, "completed", offered, list(`"status":"generated"`))
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/analyze") {
			return respond(r, drafted), nil
		}
		return respond(r, generated), nil
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const wallet = "VA-1000000001"

func rawRates(body fixed) call {
	return byHand(body, address+"/v1/rates", func(r *raw.Rates) int { return len(r.Data.Rates) })
}

func rawTransactions(body fixed) call {
	return byHand(body, address+"/v1/transactions?wallet="+wallet, func(r *raw.Transactions) int { return len(r.Data.Transactions) })
}

func listRates(client *shipping.Client) call { return listed(client.Rates.List, nil) }

func listTransactions(client *shipping.Client) call {
	return listed(client.Transactions.List, &shipping.TransactionListOptions{Wallet: wallet})
}

// listed returns a call of a method that returns a page.
func listed[T, O any](list func(context.Context, *O, ...shipping.CallOption) (*shipping.Page[T], error), options *O) call {
	return func(ctx context.Context) (int, error) {
		page, err := list(ctx, options)
		if err != nil {
			return 0, err
		}
		return len(page.Items), nil
	}
}

func listCountries(client *shipping.Client) call {
	return func(ctx context.Context) (int, error) {
		countries, err := client.Countries.List(ctx)
		return len(countries), err
	}
}

// getRequest compares calls that read a regulatory request.
func getRequest(b *testing.B, name string, body fixed) comparison {
	id, client := requestID(body), newClient(b, body)
	return comparison{
		name, 1, byHand(body, address+"/v1/regulatory-documents/request/"+id, func(r *raw.Draft) int { return one(r.Data.RequestID == id) }),
		func(ctx context.Context) (int, error) {
			request, err := client.Regulatory.Get(ctx, id)
			return one(err == nil && request.RequestID == id), err
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
