package benchmarks

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/test/benchmarks/payload"
	"github.com/shipping-go/shipping/test/benchmarks/transport"
)

// BenchmarkForms reads 100 rates that are written in other ways. Hand-written code reads the clean page.
func BenchmarkForms(b *testing.B) {
	clean := rates(b, "", 100)
	for _, form := range payload.Forms() {
		body := transport.Fixed(form.Rewrite(clean.body))
		clean.name, clean.call = "100 rates, "+form.Name, listRates(newClient(b, body))
		race(b, []contest{clean})
	}
}

// BenchmarkDrift reads 100 rates with and without a report of the differences from the specification.
func BenchmarkDrift(b *testing.B) {
	clean := payload.Rates(100, 1, 1)
	for name, body := range map[string]transport.Fixed{"100 rates": clean, "100 rates, odd scalars": payload.Forms()[0].Rewrite(clean)} {
		for client, options := range map[string][]shipping.Option{
			"list": nil, "with report": {shipping.WithDriftReport(func(shipping.Drift) {})},
		} {
			c := contest{body: body, records: 100}
			b.Run(name+"/"+client, func(b *testing.B) { c.measure(b, listRates(newClient(b, body, options...))) })
		}
	}
}

func listRates(client *shipping.Client) call {
	return func(ctx context.Context) (int, error) {
		page, err := client.Rates.List(ctx, nil)
		if err != nil {
			return 0, err
		}
		return len(page.Items), nil
	}
}

// The forms are of the same rates, but for the dates that the first one leaves out.
func TestFormsHoldTheSameRates(t *testing.T) {
	t.Parallel()
	clean := payload.Rates(100, 1, 1)
	read := func(body transport.Fixed) []shipping.Rate {
		page, err := newClient(t, body).Rates.List(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return page.Items
	}
	for _, form := range payload.Forms() {
		body := form.Rewrite(clean)
		if cmp.Equal(string(body), string(clean)) {
			t.Errorf("%s: nothing is different", form.Name)
		}
		want, got := read(clean), read(body)
		if form.Name == "odd scalars" {
			_, err := byHand(transport.Fixed(body), address, func(a *rateAnswer) int { return len(a.Data.Rates) })(t.Context())
			if err == nil {
				t.Error("hand-written code reads the odd scalars")
			}
			for i := range want {
				w := &want[i]
				w.DeliveryDate, w.CreatedAt, w.UpdatedAt = w.DeliveryDate.Truncate(1e9), w.CreatedAt.Truncate(1e9), got[i].UpdatedAt
				if !w.UpdatedAt.IsZero() {
					t.Fatalf("rate %d was updated at %v", i, w.UpdatedAt)
				}
			}
		}
		if diff := cmp.Diff(generic(t, want), generic(t, got)); diff != "" {
			t.Errorf("%s (-clean +form):\n%s", form.Name, diff)
		}
	}
}
