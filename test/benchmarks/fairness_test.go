package benchmarks

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/payload"
	"github.com/shipping-go/shipping/test/benchmarks/transport"
)

func TestContendersReceiveTheSameNumberOfRecords(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(lists(t), shorter(t), ones(t)) {
		for name, do := range map[string]call{"raw": c.raw, c.client: c.call} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				records, err := do(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if records != c.records {
					t.Errorf("received %d records, want %d", records, c.records)
				}
			})
		}
	}
}

func TestListsAreOfComparableSize(t *testing.T) {
	t.Parallel()
	const smallest, largest = 90_000, 110_000
	for _, c := range lists(t) {
		if size := len(c.body); size < smallest || size > largest {
			t.Errorf("%s: %d bytes, want between %d and %d", c.name, size, smallest, largest)
		}
	}
}

// A comparison of two decoders is worth something only where both decode everything.

func TestRatesHoldTheSameValuesEitherWay(t *testing.T) {
	t.Parallel()
	body := transport.Fixed(payload.Rates(100, 1, 1))
	byHand := mustDecode[rateAnswer](t, body)
	page, err := newClient(t, body).Rates.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generic(t, byHand.Data.Rates), generic(t, page.Items)); diff != "" {
		t.Errorf("rates differ (-raw +client):\n%s", diff)
	}
}

func TestWebhooksAndCountriesHoldTheSameValuesEitherWay(t *testing.T) {
	t.Parallel()
	body := transport.Fixed(payload.Webhooks(100))
	page, err := newClient(t, body).Webhooks.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generic(t, mustDecode[webhookAnswer](t, body).Data.Webhooks), generic(t, page.Items)); diff != "" {
		t.Errorf("webhooks differ (-raw +client):\n%s", diff)
	}
	body = payload.Countries(250)
	all, err := newClient(t, body).Countries.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generic(t, mustDecode[countryAnswer](t, body).Data), generic(t, all)); diff != "" {
		t.Errorf("countries differ (-raw +client):\n%s", diff)
	}
}

func TestTransactionsHoldTheSameValuesEitherWay(t *testing.T) {
	t.Parallel()
	body := transport.Fixed(payload.Transactions(100, 1, 1))
	byHand := mustDecode[transactionAnswer](t, body)
	page, err := newClient(t, body).Transactions.List(t.Context(), &shipping.TransactionListOptions{Wallet: payload.Wallet})
	if err != nil {
		t.Fatal(err)
	}
	want, got := generic(t, byHand.Data.Transactions), generic(t, page.Items)
	for i := range want {
		if want[i]["payout_date"] == nil {
			want[i]["payout_date"] = "0001-01-01T00:00:00Z" // the client's zero time
		}
		if want[i]["txRef"] == nil {
			want[i]["txRef"] = ""
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transactions differ (-raw +client):\n%s", diff)
	}
}

func mustDecode[T any](t *testing.T, body []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// generic converts records to their JSON values, whatever their types.
func generic(t *testing.T, records any) []map[string]any {
	t.Helper()
	text, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	return mustDecode[[]map[string]any](t, text)
}
