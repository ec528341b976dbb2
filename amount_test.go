package shipping

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/randomtest"
)

// FuzzAmount: a text that is read as money is its JSON number, to the last digit, and
// survives being written; any other text is refused, and never fails the record around it.
func FuzzAmount(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzAmount.txt", "")
	f.Fuzz(func(t *testing.T, text string) {
		var field Amount
		if err := field.UnmarshalJSON([]byte(text)); err != nil {
			t.Errorf("%q fails its record: %v", text, err)
		}
		a, err := ParseAmount(text)
		if err != nil {
			if a != (Amount{}) {
				t.Errorf("%q is refused (%v) and yet %s", text, err, a)
			}
			return
		}
		if again, err := ParseAmount(a.String()); err != nil || again != a {
			t.Errorf("%q is written %s and read back as %s, %v", text, a, again, err)
		}
		var back Amount
		if data, err := json.Marshal(a); err != nil || json.Unmarshal(data, &back) != nil || back != a {
			t.Errorf("%q through JSON is %s, %s, %v", text, data, back, err)
		}
		// With an exponent beyond this one the rational number would take all memory.
		if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found && len(exponent) > 4 || !json.Valid([]byte(text)) {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		got, written := new(big.Rat).SetString(a.String())
		if ok && (!written || want.Cmp(got) != 0) {
			t.Errorf("%q is %s, want %s", text, a, want.FloatString(20))
		}
	})
}
