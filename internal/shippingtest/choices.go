package shippingtest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
)

// Dialect parses text in the format of the flag -dialect, such as "time.generation=-1".
func Dialect(t testing.TB, text string) *dialect.Dialect {
	t.Helper()
	d := new(dialect.Dialect)
	if err := d.Apply(text); err != nil {
		t.Fatal(err)
	}
	return d
}

// WithRoutes enables the operations without a documented path.
func WithRoutes() shipping.Option {
	return shipping.WithDialect(&dialect.Dialect{Routes: dialect.Reference().Routes})
}

// Choices returns dialects that differ from the reference server: at one open point, by the name of its field, or at
// all points.
func Choices(t testing.TB) map[string]*dialect.Dialect {
	t.Helper()
	inEnvelope, whole := dialect.Contrary(), dialect.Contrary()
	inEnvelope.Refusal.Format, inEnvelope.Refusal.Analysis, inEnvelope.Time.Purchasing = "", 0, 0
	whole.Record.Absent, whole.Purchase.Confirmation = nil, ""
	all := map[string]*dialect.Dialect{
		"all": dialect.Contrary(), "all, with every member": whole, "all, refused in the envelope": inEnvelope,
	}
	for _, field := range dialect.Contrary().Fields() {
		if !field.Set {
			continue
		}
		all[field.Name] = new(dialect.Dialect)
		if err := all[field.Name].Set(field.Name, field.Value); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// RandomDialect returns a valid dialect with random choices.
func RandomDialect(r *rand.Rand) *dialect.Dialect {
	for {
		d := new(dialect.Dialect)
		names := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"}
		name := func() string {
			i := r.IntN(len(names))
			chosen := names[i]
			names = slices.Delete(names, i, i+1)
			if r.IntN(4) == 0 {
				chosen = "nested." + chosen
			}
			return chosen
		}
		choices := map[string][]string{
			"record.at":              {"", "request", "document", "[0]"},
			"record.line_items":      {strings.ReplaceAll(name(), ".", "_")},
			"record.documents":       {strings.ReplaceAll(name(), ".", "_")},
			"record.absent":          {"", "profiles", "addresses,created_at"},
			"offer.amount":           {"", "price", "price.gross", "cost"},
			"offer.currency":         {"", "code", "price.unit", "currency.code"},
			"offer.mode":             {"", "way"},
			"offer.beside":           {"", "vat", "price.net,vat", "default_amount,original_currency"},
			"document.document_type": {"", "slug", "kind"},
			"purchase.quoted":        {"", "true"},
			"purchase.confirmation":  {"receipt", "empty"},
			"refusal.format":         {"envelope", "object"},
			"refusal.message":        {"message", "error.text", "data.reason"},
			"refusal.code":           {"data.error_code", "error.code", "code"},
			"list.past_end":          {"empty", "refused", "last page"},
			"list.max_per_page":      {"", "100", "500"},
			"list.order":             {"newest first", "oldest first"},
			"request.unknown_fields": {"ignored", "refused"},
		}
		for _, field := range []string{"record.charged_amount", "record.transaction_id", "record.currency", "record.wallet",
			"offer.document_type"} {
			choices[field] = []string{name()}
		}
		for _, field := range slices.Sorted(maps.Keys(choices)) {
			if value := choices[field][r.IntN(len(choices[field]))]; r.IntN(3) > 0 && value != "" {
				_ = d.Set(field, value) // a contradictory name is drawn again
			}
		}
		if d.Check() == nil {
			return d
		}
	}
}
