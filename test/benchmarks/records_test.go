package benchmarks

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/raw"
	"github.com/shipping-go/shipping/test/benchmarks/service"
)

// A comparison of two decoders is fair if both decode all members. Hand-written code has a field for each member that the
// reference server sends, and the client's records have the same values.
func TestRecords_BothSidesDecodeAllMembers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	of := record(t)
	for name, test := range map[string]struct {
		byHand   func(t *testing.T) any
		byClient func() (any, error)
	}{
		"rates": {
			func(t *testing.T) any { return strictly[raw.Rates](t, of.Rates).Data.Rates },
			func() (any, error) { return items(newClient(t, of.Rates).Rates.List(ctx, nil)) },
		},
		"transactions": {
			func(t *testing.T) any { return strictly[raw.Transactions](t, of.Transactions).Data.Transactions },
			func() (any, error) {
				return items(newClient(t, of.Transactions).Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: wallet}))
			},
		},
		"webhooks": {
			func(t *testing.T) any { return strictly[raw.Webhooks](t, of.Webhooks).Data.Webhooks },
			func() (any, error) { return items(newClient(t, of.Webhooks).Webhooks.List(ctx, nil)) },
		},
		"countries": {
			func(t *testing.T) any { return strictly[raw.Countries](t, of.Countries).Data },
			func() (any, error) { return newClient(t, of.Countries).Countries.List(ctx) },
		},
		"offers": {
			func(t *testing.T) any { return len(strictly[raw.Draft](t, of.LongDraft).Data.AvailableDocuments) },
			func() (any, error) {
				request, err := newClient(t, of.LongDraft).Regulatory.Get(ctx, service.RequestID(of.LongDraft))
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
	body := record(t).Rates
	read := func(body service.Fixed) []shipping.Rate {
		rates, err := items(newClient(t, body).Rates.List(t.Context(), nil))
		if err != nil {
			t.Fatal(err)
		}
		return rates
	}
	want := read(body)
	for _, form := range service.Forms() {
		rewritten, err := form.Rewrite(body)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(rewritten, body) {
			t.Errorf("%s: the page is as it was", form.Name)
		}
		got := read(rewritten)
		if form.Name == "odd-scalars" {
			if _, err := rawRates(rewritten)(t.Context()); err == nil {
				t.Error("hand-written code reads odd scalars")
			}
			for i := range got {
				got[i].UpdatedAt = want[i].UpdatedAt
			}
		}
		if diff := cmp.Diff(generic(t, want), generic(t, got)); diff != "" {
			t.Errorf("%s (-usual +form):\n%s", form.Name, diff)
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
