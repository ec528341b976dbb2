package cost

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// A charge is the most that its text can mean, in the currency of its code or symbol.
func TestCharge(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		`5`: "5 ", `"1,234.50"`: "1234.5 ", `"46.86 gbp"`: "46.86 GBP", `"₦1,500"`: "1500 NGN", `"41.500"`: "41500 ",
		`"41.500 KWD"`: "41.5 KWD", `"0.00 NGN"`: "0 NGN", `"0"`: "0 ",
		`"₺5"`: "", `"5 %"`: "", `"five"`: "", `{"sum":5}`: "", `["0"]`: "", `null`: "", `"NGN 5 GBP"`: "",
	} {
		v, got := jsonread.Parse(sent), ""
		if n, currency, read := Charge(v); read {
			got = text(n) + " " + currency
		}
		if got != want || IsZero(v) != strings.HasPrefix(got, "0 ") {
			t.Errorf("%s is %q, zero: %t", sent, got, IsZero(v))
		}
	}
}
