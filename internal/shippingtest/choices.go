package shippingtest

import (
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
)

// Dialect returns a dialect in the form of the flag -dialect, such as "time.generation=-1".
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

// Choices returns dialects of services that decide otherwise than the reference server: at one open point, by the name
// of its field, or at all.
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
