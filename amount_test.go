package shipping_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"pgregory.net/rapid"
)

func mustAmount(t testing.TB, text string) shipping.Amount {
	t.Helper()
	a, err := shipping.ParseAmount(text)
	if err != nil {
		t.Fatalf("ParseAmount(%q): %v", text, err)
	}
	return a
}

func TestParseAmount(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.00", "0"}, {"19.99", "19.99"}, {"1.50", "1.5"}, {"-3", "-3"},
		{"1e3", "1000"}, {"1.5E+2", "150"}, {"25e-2", "0.25"}, {"0.30000000000000004", "0.30000000000000004"},
		{" 7 ", "7"}, {"+7", "7"}, {"1,234.50", "1234.5"}, {"12,345,678", "12345678"},
		{"999999999999999999", "999999999999999999"}, {"0.000000000000000001", "0.000000000000000001"},
		{"1000000000000000000e-18", "1"}, {"0e999999999999", "0"},
	} {
		if got := mustAmount(t, tc.in).String(); got != tc.want {
			t.Errorf("ParseAmount(%q) = %s, want %s", tc.in, got, tc.want)
		}
	}
	for _, in := range []string{"", " ", "abc", "1.", ".5", "--1", "1,23", "1,2345", ",123", "1e", "1e+", "0x10", "NaN", "Inf", "1 2", "1.2.3", "1_000", "٣"} {
		if a, err := shipping.ParseAmount(in); !errors.Is(err, shipping.ErrAmountUnreadable) {
			t.Errorf("ParseAmount(%q) = %v, %v; want ErrAmountUnreadable", in, a, err)
		}
	}
	for _, in := range []string{"1e18", "1000000000000000000", "1e999999999999", "1e-19", "0.1234567890123456789"} {
		if a, err := shipping.ParseAmount(in); !errors.Is(err, shipping.ErrAmountOverflow) {
			t.Errorf("ParseAmount(%q) = %v, %v; want ErrAmountOverflow", in, a, err)
		}
	}
}

func TestAmountTellsAbsentZeroAndUnreadableApart(t *testing.T) {
	var v struct{ Absent, Null, Zero, Empty, Text, Wide, Quoted shipping.Amount }
	err := json.Unmarshal([]byte(`{"Null":null,"Zero":0,"Empty":"","Text":"free","Wide":1e30,"Quoted":"3,500.25"}`), &v)
	if err != nil {
		t.Fatal(err)
	}
	one := mustAmount(t, "1")
	for name, a := range map[string]shipping.Amount{"absent": v.Absent, "null": v.Null, "empty": v.Empty} {
		sum, err := a.Add(one)
		if a.Known() || err != nil || sum != one {
			t.Errorf("%s: known %v, plus 1 = %v, %v", name, a.Known(), sum, err)
		}
	}
	if !v.Zero.Known() || v.Quoted.String() != "3500.25" {
		t.Errorf("zero known %v, quoted %v", v.Zero.Known(), v.Quoted)
	}
	for name, a := range map[string]shipping.Amount{"text": v.Text, "too wide": v.Wide} {
		if _, err := a.Add(one); a.Known() || !errors.Is(err, shipping.ErrAmountUnreadable) || a.Cmp(one) != 1 || one.Cmp(a) != -1 {
			t.Errorf("%s: %v must be unreadable and never the cheapest (%v)", name, a, err)
		}
		if _, err := json.Marshal(a); err == nil {
			t.Errorf("%s: marshalled", name)
		}
	}
}

// Specification, "Transaction": flat_amount is the amount times 100.
func TestFlatAmountIsExact(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want int64
	}{{"0.29", 29}, {"19.99", 1999}, {"1000", 100000}, {"0.005", 1}, {"-0.005", -1}, {"0.0049", 0}, {"1.115", 112}} {
		if got, err := mustAmount(t, tc.in).Flat(); got != tc.want || err != nil {
			t.Errorf("%s flat = %d, %v; want %d", tc.in, got, err, tc.want)
		}
	}
	if _, err := mustAmount(t, "999999999999999999").Flat(); !errors.Is(err, shipping.ErrAmountOverflow) {
		t.Errorf("overflow went unnoticed: %v", err)
	}
}

func TestAmountStringFixed(t *testing.T) {
	for _, tc := range []struct {
		in   string
		to   int
		want string
	}{{"19.9", 2, "19.90"}, {"0.005", 2, "0.01"}, {"-1.005", 2, "-1.01"}, {"5", 0, "5"}, {"2.5", 0, "3"}, {"0.01", 3, "0.010"}, {"1", -4, "1"}} {
		if got := mustAmount(t, tc.in).StringFixed(tc.to); got != tc.want {
			t.Errorf("StringFixed(%s, %d) = %s, want %s", tc.in, tc.to, got, tc.want)
		}
	}
}

// The arithmetic is held against math/big.Rat: either the exact result, or an overflow error where
// the exact result has more than 18 digits.
func TestAmountArithmeticAgainstRationals(t *testing.T) {
	limit := new(big.Rat).SetInt64(1_000_000_000_000_000_000)
	ops := []struct {
		name  string
		ours  func(a, b shipping.Amount) (shipping.Amount, error)
		truth func(z, a, b *big.Rat) *big.Rat
	}{
		{"add", shipping.Amount.Add, (*big.Rat).Add},
		{"sub", shipping.Amount.Sub, (*big.Rat).Sub},
		{"mul", shipping.Amount.Mul, (*big.Rat).Mul},
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawAmount(t, "a"), drawAmount(t, "b")
		ra, rb := rat(t, a), rat(t, b)
		if got, want := a.Cmp(b), ra.Cmp(rb); got != want {
			t.Fatalf("Cmp(%s, %s) = %d, want %d", a, b, got, want)
		}
		for _, op := range ops {
			want := op.truth(new(big.Rat), ra, rb)
			got, err := op.ours(a, b)
			if err != nil {
				if exact, ok := want.FloatPrec(); ok && exact <= 18 && fits(want, exact, limit) {
					t.Fatalf("%s(%s, %s) = %v, want %s", op.name, a, b, err, want)
				}
				continue
			}
			if rat(t, got).Cmp(want) != 0 {
				t.Fatalf("%s(%s, %s) = %s, want %s", op.name, a, b, got, want)
			}
		}
		data, err := json.Marshal(a)
		var back shipping.Amount
		if err != nil || json.Unmarshal(data, &back) != nil || back != a {
			t.Fatalf("%s through JSON: %s, %v, %v", a, data, back, err)
		}
	})
}

// So is the rounding: big.Rat rounds halves away from zero too.
func TestAmountRoundingAgainstRationals(t *testing.T) {
	limit := new(big.Rat).SetInt64(1_000_000_000_000_000_000)
	fixed := func(r *big.Rat, decimals int) string {
		text := r.FloatString(decimals)
		if strings.Trim(text, "-0.") == "" {
			text = strings.TrimPrefix(text, "-") // there is no negative zero
		}
		return text
	}
	rapid.Check(t, func(t *rapid.T) {
		a, decimals := drawAmount(t, "a"), rapid.IntRange(0, 18).Draw(t, "decimals")
		exact := rat(t, a)
		if got, want := a.StringFixed(decimals), fixed(exact, decimals); got != want {
			t.Fatalf("StringFixed(%s, %d) = %s, want %s", a, decimals, got, want)
		}
		if got, want := a.Round(decimals).StringFixed(18), fixed(ratOf(t, fixed(exact, decimals)), 18); got != want {
			t.Fatalf("Round(%s, %d) = %s, want %s", a, decimals, got, want)
		}
		hundredfold := new(big.Rat).Mul(exact, big.NewRat(100, 1))
		switch flat, err := a.Flat(); {
		case err == nil && fmt.Sprint(flat) != fixed(hundredfold, 0):
			t.Fatalf("Flat(%s) = %d, want %s", a, flat, fixed(hundredfold, 0))
		case err != nil && hundredfold.Abs(hundredfold).Cmp(limit) < 0:
			t.Fatalf("Flat(%s): %v", a, err)
		}
	})
}

func drawAmount(t *rapid.T, label string) shipping.Amount {
	units := rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999).Draw(t, label)
	a, err := shipping.NewAmount(units, rapid.IntRange(0, 18).Draw(t, label+" decimals"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func rat(t *rapid.T, a shipping.Amount) *big.Rat { return ratOf(t, a.String()) }

func ratOf(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s is not a number", text)
	}
	return r
}

// fits reports whether r has at most 18 significant digits written with that many decimals, and
// whether the two numbers the sum is made of could be aligned within 63 bits.
func fits(r *big.Rat, decimals int, limit *big.Rat) bool {
	shifted := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)))
	return shifted.Abs(shifted).Cmp(limit) < 0
}
