package decimal_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shipping-go/shipping/internal/decimal"
	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.00", "0"}, {"19.99", "19.99"}, {"1.50", "1.5"}, {"-3", "-3"}, {"007", "7"},
		{"1e3", "1000"}, {"1.5E+2", "150"}, {"25e-2", "0.25"}, {"0.30000000000000004", "0.30000000000000004"},
		{" 7 ", "7"}, {"+7", "7"}, {"1,234.50", "1234.5"}, {"12,345,678", "12345678"}, {"123,456", "123456"},
		{"999999999999999999", "999999999999999999"}, {"0.000000000000000001", "0.000000000000000001"},
		{"1000000000000000000e-18", "1"}, {"0e999999999999", "0"}, {strings.Repeat("0", 399) + "1", "1"},
	} {
		n, err := decimal.Parse(tc.in)
		if got := text(n); got != tc.want || err != nil {
			t.Errorf("Parse(%q) = %s, %v; want %s", tc.in, got, err, tc.want)
		}
	}
	refused := map[error][]string{
		decimal.ErrSyntax: {"", " ", "abc", "1.", ".5", ".", "--1", "1,23", "1,2345", ",123", "1e", "1e+", "0x10", "NaN",
			"Inf", "1 2",
			"1.2.3", "1_000", "٣", strings.Repeat("0", 401)},
		decimal.ErrRange: {"1e18", "1000000000000000000", "1e999999999999", "1e-999999999999", "1e-19",
			"0.1234567890123456789"},
	}
	for want, texts := range refused {
		for _, in := range texts {
			if n, err := decimal.Parse(in); !errors.Is(err, want) || n != (decimal.Number{}) {
				t.Errorf("Parse(%q) = %s, %v; want %v", in, text(n), err, want)
			}
		}
	}
}

// ParsePlain reads digits with or without a point, up to 18 characters, and leaves everything else to Parse.
func TestParsePlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]decimal.Number{
		"0": {}, "7": {Units: 7}, "1890": {Units: 1890}, "19.99": {Units: 1999, Scale: 2}, "0.09": {Units: 9, Scale: 2},
		"1.50": {Units: 15, Scale: 1}, "0.0": {},
		"999999999999999999": {Units: 999_999_999_999_999_999},
		"1.2345678901234567": {Units: 12_345_678_901_234_567, Scale: 16},
	} {
		if got, ok := decimal.ParsePlain([]byte(in)); !ok || got != want {
			t.Errorf("%q is %#v, %t, want %#v", in, got, ok, want)
		}
	}
	for _, in := range []string{"", ".", ".5", "5.", "1.2.3", "-1", "1e3", "1,000", " 1", "1/2", "1:2",
		"0000000000000000001"} {
		if got, ok := decimal.ParsePlain([]byte(in)); ok {
			t.Errorf("%q is %#v", in, got)
		}
	}
}

// The results that random numbers seldom reach: the largest number and the next one, equal numbers, and a product of
// more than 64 bits that has few digits once its zeros are dropped.
func TestArithmetic_AtItsLimits(t *testing.T) {
	t.Parallel()
	const refused = "refused"
	for _, test := range []struct{ op, a, b, want string }{
		{"add", "999999999999999998", "1", "999999999999999999"}, {"add", "999999999999999999", "1", refused},
		{"add", "-999999999999999999", "-1", refused}, {"add", "5", "0", "5"}, {"add", "0", "-5", "-5"},
		{"add", "-5", "5", "0"},
		{"add", "1", "0.000000000000000001", refused}, {"add", "9", "0.000000000000000001", refused},
		{"add", "-9", "-0.5", "-9.5"},
		{"add", "9.00000000000000001", "0.3", "9.30000000000000001"},
		{"mul", "1000000000", "100000000", "100000000000000000"}, {"mul", "1000000000", "1000000000", refused},
		{"mul", "0.000000001", "0.000000001", "0.000000000000000001"}, {"mul", "0.0000000001", "0.000000001", refused},
		{"mul", "-0.576460752303423488", "29802322387.6953125", "-17179869184"}, {"mul", "0", "-5", "0"},
		{"cmp", "1.5", "1.5", "0"}, {"cmp", "0", "0", "0"}, {"cmp", "-2", "-2", "0"}, {"cmp", "-2", "-1.5", "-1"},
		{"cmp", "2", "1.5", "1"}, {"cmp", "-1", "0", "-1"},
	} {
		a, errA := decimal.Parse(test.a)
		b, errB := decimal.Parse(test.b)
		shippingtest.NoError(t, errors.Join(errA, errB))
		var result decimal.Number
		ok, got := true, refused
		switch test.op {
		case "add":
			result, ok = a.Add(b)
		case "mul":
			result, ok = a.Mul(b)
		case "cmp":
			result.Units = int64(a.Cmp(b))
		}
		if ok {
			got = text(result)
		}
		shippingtest.Diff(t, fmt.Sprintf("%s(%s, %s)", test.op, test.a, test.b), test.want, got)
	}
}

func text(n decimal.Number) string { return string(n.Append(nil, n.Scale)) }

// limit is the smallest whole number with too many digits.
var limit = new(big.Rat).SetInt64(1_000_000_000_000_000_000)

// The arithmetic is compared with math/big.Rat: the exact result, or a refusal if the exact result has more
// than 18 digits.
func TestArithmeticAgainstRationals(t *testing.T) {
	t.Parallel()
	sub := func(a, b decimal.Number) (decimal.Number, bool) {
		return a.Add(decimal.Number{Units: -b.Units, Scale: b.Scale})
	}
	ops := []struct {
		name  string
		ours  func(a, b decimal.Number) (decimal.Number, bool)
		exact func(z, a, b *big.Rat) *big.Rat
	}{
		{"add", decimal.Number.Add, (*big.Rat).Add},
		{"sub", sub, (*big.Rat).Sub},
		{"mul", decimal.Number.Mul, (*big.Rat).Mul},
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		ra, rb := rat(t, text(a)), rat(t, text(b))
		if got, want := a.Cmp(b), ra.Cmp(rb); got != want {
			t.Fatalf("Cmp(%s, %s) = %d, want %d", text(a), text(b), got, want)
		}
		for _, op := range ops {
			want := op.exact(new(big.Rat), ra, rb)
			got, ok := op.ours(a, b)
			switch decimals, finite := want.FloatPrec(); {
			case ok && rat(t, text(got)).Cmp(want) != 0:
				t.Fatalf("%s(%s, %s) = %s, want %s", op.name, text(a), text(b), text(got), want)
			case !ok && finite && decimals <= 18 && fits(want, decimals):
				t.Fatalf("%s(%s, %s) is refused, want %s", op.name, text(a), text(b), want)
			}
		}
		if back, err := decimal.Parse(text(a)); err != nil || back != a {
			t.Fatalf("%s is read back as %s, %v", text(a), text(back), err)
		}
	})
}

// So is the rounding: big.Rat rounds halves away from zero too.
func TestRoundingAgainstRationals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, decimals := draw(t, "a"), draw(t, "b"), uint8(rapid.IntRange(0, 18).Draw(t, "decimals"))
		exact := rat(t, text(a))
		product := new(big.Rat).Mul(exact, rat(t, text(b)))
		switch got, ok := a.MulRound(b, decimals); {
		case ok && string(got.Append(nil, decimals)) != fixed(product, int(decimals)):
			t.Fatalf("%s × %s with %d decimals is %s, want %s", text(a), text(b), decimals, text(got), product)
		case !ok && fits(rat(t, fixed(product, int(decimals))), int(decimals)):
			t.Fatalf("%s × %s with %d decimals is refused", text(a), text(b), decimals)
		}
		rounded := a.Round(decimals)
		if got, want := string(rounded.Append(nil, decimals)), fixed(exact, int(decimals)); got != want {
			t.Fatalf("%s with %d decimals is %s, want %s", text(a), decimals, got, want)
		}
		if back, err := decimal.Parse(text(rounded)); err != nil || back != rounded {
			t.Fatalf("%s rounded to %d decimals is %#v, which is not normalized", text(a), decimals, rounded)
		}
		hundredfold := new(big.Rat).Mul(exact, big.NewRat(100, 1))
		switch units, ok := a.Round(2).At(2); {
		case ok && fmt.Sprint(units) != fixed(hundredfold, 0):
			t.Fatalf("%s has %d hundredths, want %s", text(a), units, fixed(hundredfold, 0))
		case !ok && hundredfold.Abs(hundredfold).Cmp(limit) < 0:
			t.Fatalf("the hundredths of %s are refused", text(a))
		}
	})
}

func draw(t *rapid.T, label string) decimal.Number {
	units := rapid.Int64Range(-999_999_999_999_999_999, 999_999_999_999_999_999).Draw(t, label)
	n, ok := decimal.New(units, uint8(rapid.IntRange(0, 18).Draw(t, label+" scale")))
	if !ok {
		t.Fatal("18 digits are refused")
	}
	return n
}

func rat(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%s is not a number", text)
	}
	return r
}

// fixed writes r with that many decimals.
func fixed(r *big.Rat, decimals int) string {
	text := r.FloatString(decimals)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-") // zero has no sign
	}
	return text
}

// fits reports whether r has at most 18 digits if it is written with that many decimals.
func fits(r *big.Rat, decimals int) bool {
	shift := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
	return shift.Abs(shift.Mul(shift, r)).Cmp(limit) < 0
}
