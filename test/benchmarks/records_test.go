package benchmarks

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
)

// A comparison of two decoders is fair if both decode all members. Hand-written code has a field for each member that the
// reference server sends, and the client's records have the same values.
func TestRecords_BothSidesDecodeAllMembers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	rates, transactions := get(t, "rates?perPage=100"), get(t, "transactions?perPage=100&wallet=WALLET")
	webhooks, countries, draft := get(t, "webhooks?perPage=100"), get(t, "countries"), longDraft(t)
	for name, test := range map[string]struct {
		byHand   func(t *testing.T) any
		byClient func() (any, error)
	}{
		"rates": {
			func(t *testing.T) any { return strictly[raw.Rates](t, rates).Data.Rates },
			func() (any, error) { return items(newClient(t, rates).Rates.List(ctx, nil)) },
		},
		"transactions": {
			func(t *testing.T) any { return strictly[raw.Transactions](t, transactions).Data.Transactions },
			func() (any, error) {
				return items(newClient(t, transactions).Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: wallet}))
			},
		},
		"webhooks": {
			func(t *testing.T) any { return strictly[raw.Webhooks](t, webhooks).Data.Webhooks },
			func() (any, error) { return items(newClient(t, webhooks).Webhooks.List(ctx, nil)) },
		},
		"countries": {
			func(t *testing.T) any { return strictly[raw.Countries](t, countries).Data },
			func() (any, error) { return newClient(t, countries).Countries.List(ctx) },
		},
		"offers": {
			func(t *testing.T) any { return len(strictly[raw.Draft](t, draft).Data.AvailableDocuments) },
			func() (any, error) {
				request, err := newClient(t, draft).Regulatory.Get(ctx, requestID(draft))
				return len(request.AvailableDocuments), err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := test.byClient()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(generic(t, test.byHand(t)), generic(t, read)); diff != "" {
				t.Errorf("records (-raw +client):\n%s", diff)
			}
		})
	}
}

// The forms hold the same rates, except for the dates that the odd scalars leave out or shorten.
func TestForms_HoldTheSameRates(t *testing.T) {
	t.Parallel()
	body := get(t, "rates?perPage=100")
	read := func(body fixed) []shipping.Rate {
		rates, err := items(newClient(t, body).Rates.List(t.Context(), nil))
		if err != nil {
			t.Fatal(err)
		}
		return rates
	}
	want := read(body)
	for _, f := range forms() {
		rewritten := f.rewrite(t, body)
		if bytes.Equal(rewritten, body) {
			t.Errorf("%s: the page is as it was", f.name)
		}
		got := read(rewritten)
		if f.name == "odd-scalars" {
			if _, err := rawRates(rewritten)(t.Context()); err == nil {
				t.Error("hand-written code reads odd scalars")
			}
			for i := range got {
				got[i].UpdatedAt = want[i].UpdatedAt
			}
		}
		if diff := cmp.Diff(generic(t, want), generic(t, got)); diff != "" {
			t.Errorf("%s (-usual +form):\n%s", f.name, diff)
		}
	}
}

func items[T any](page *shipping.Page[T], err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return page.Items, nil
}

// strictly decodes a body without members that T does not have.
func strictly[T any](t *testing.T, body []byte) (value T) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}

// generic converts records to values of JSON, whatever their types.
func generic(t *testing.T, records any) (value any) {
	t.Helper()
	text, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
