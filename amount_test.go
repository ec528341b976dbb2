package shipping_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestAmount_AbsentZeroAndUnreadable(t *testing.T) {
	var v struct{ Absent, Null, Zero, Empty, Text, Wide, Object, List, True, Quoted shipping.Amount }
	shippingtest.NoError(t, json.Unmarshal([]byte(
		`{"Null":null,"Zero":0,"Empty":"","Text":"free","Wide":1e30,"Object":{},"List":[],"True":true,"Quoted":"3,500.25"}`),
		&v))
	one := shippingtest.Amount(t, "1")
	for name, a := range map[string]shipping.Amount{"absent": v.Absent, "null": v.Null, "empty": v.Empty} {
		sum, err := a.Add(one)
		if a.Known() || err != nil || sum != one {
			t.Errorf("%s: known %v, plus 1 = %v, %v", name, a.Known(), sum, err)
		}
	}
	if !v.Zero.Known() || v.Quoted.String() != "3500.25" {
		t.Errorf("zero known %v, quoted %v", v.Zero.Known(), v.Quoted)
	}
	for name, a := range map[string]shipping.Amount{"text": v.Text, "too wide": v.Wide, "object": v.Object,
		"list": v.List, "true": v.True} {
		if _, err := a.Add(one); a.Known() || !errors.Is(err, shipping.ErrAmountUnreadable) || a.Cmp(one) != 1 ||
			one.Cmp(a) != -1 {
			t.Errorf("%s: %v must be unreadable and never the cheapest (%v)", name, a, err)
		}
		if _, err := json.Marshal(a); err == nil {
			t.Errorf("%s: marshalled", name)
		}
	}
}

// readAmount reads an amount as a record has it: an empty text is missing, and "free" is unreadable.
func readAmount(t *testing.T, text string) (a shipping.Amount) {
	t.Helper()
	shippingtest.NoError(t, a.UnmarshalJSON([]byte(`"`+text+`"`)))
	return a
}

// "Under a price" listed rates without a price, because Cmp counts a missing amount as 0.
func TestAmount_AtMost(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, limit string
		want     bool
	}{
		{"9.99", "10", true}, {"10", "10", true}, {"10.01", "10", false}, {"0", "10", true}, {"0", "0", true},
		{"-1", "0", true}, {"", "10", false}, {"10", "", false}, {"", "", false},
		{"free", "10", false}, {"10", "free", false}, {"free", "free", false},
	} {
		shippingtest.Diff(t, tc.a+" at most "+tc.limit, tc.want, readAmount(t, tc.a).AtMost(readAmount(t, tc.limit)))
	}
}

// Package internal/decimal computes the digits, and tests them. An Amount can also be missing or unreadable.
func TestAmountArithmetic(t *testing.T) {
	const most = "999999999999999999"
	add, sub, mul := shipping.Amount.Add, shipping.Amount.Sub, shipping.Amount.Mul
	for name, tc := range map[string]struct {
		do         func(a, b shipping.Amount) (shipping.Amount, error)
		a, b, want string
		err        error
		says       string
	}{
		"add":       {add, "0.1", "0.2", "0.3", nil, ""},
		"subtract":  {sub, "0.3", "0.5", "-0.2", nil, ""},
		"multiply":  {mul, "19.99", "-0.5", "-9.995", nil, ""},
		"not given": {add, "", "", "0", nil, ""},
		"overflow":  {add, most, "1", "0", shipping.ErrAmountOverflow, "the result of Add or Sub: use smaller amounts"},
		"product overflow": {mul, most, most, "0", shipping.ErrAmountOverflow,
			"the result of Mul: use smaller amounts, or round them first, or call MulRound"},
		"unreadable left":  {mul, "free", "", "0", shipping.ErrAmountUnreadable, "the receiver, such as a in a.Add(b)"},
		"unreadable right": {sub, "", "free", "0", shipping.ErrAmountUnreadable, "the argument, such as b in a.Add(b)"},
	} {
		got, err := tc.do(readAmount(t, tc.a), readAmount(t, tc.b))
		if got.String() != tc.want || !errors.Is(err, tc.err) || got.Known() != (err == nil) ||
			!strings.Contains(fmt.Sprint(err), tc.says) {
			t.Errorf("%s: %s, %v; want %s, %v", name, got, err, tc.want, tc.err)
		}
	}
	if flat, err := readAmount(t, most).Flat(); flat != 0 || !errors.Is(err, shipping.ErrAmountOverflow) {
		t.Errorf("flat: %d, %v", flat, err)
	}
	for _, text := range []string{"free", ""} {
		if a := readAmount(t, text); a.Round(2) != a {
			t.Errorf("rounding makes a number of %q", text)
		}
	}
}

func TestNewAmount(t *testing.T) {
	for _, decimals := range []int{-1, 19, 274} {
		want := fmt.Sprintf("shipping: NewAmount takes 0 to 18 decimals, and got %d", decimals)
		if a, err := shipping.NewAmount(1999, decimals); !errors.Is(err, shipping.ErrAmountOverflow) || err.Error() != want {
			t.Errorf("%d decimals: %s, %v", decimals, a, err)
		}
	}
	fourDecimals := shippingtest.Must(shipping.NewAmount(199900, 4))(t)
	shippingtest.Diff(t, "four decimals", shippingtest.Amount(t, "19.99"), fourDecimals)
}

// A column of a database holds the exact amount, and NULL if none was given.
func TestAmount_IsAColumn(t *testing.T) {
	var _ sql.Scanner = new(shipping.Amount)
	for text, want := range map[string]driver.Value{
		"19.99": "19.99", "-0.000000000000000001": "-0.000000000000000001", "1e3": "1000", "0": "0",
	} {
		amount := shippingtest.Amount(t, text)
		var back shipping.Amount
		if got, err := amount.Value(); err != nil || got != want || back.Scan(got) != nil || back != amount {
			t.Errorf("%s: %v, %v, and back %s", text, got, err, back)
		}
	}
	shippingtest.Diff(t, "not given", nil, shippingtest.Must((shipping.Amount{}).Value())(t))
	if got, err := readAmount(t, "free").Value(); got != nil || !errors.Is(err, shipping.ErrAmountUnreadable) {
		t.Errorf("unreadable: %v, %v", got, err)
	}
	for _, tc := range []struct {
		column any
		want   string
		known  bool
	}{
		{nil, "0", false}, {"", "0", false}, {[]byte{}, "0", false}, {int64(-7), "-7", true}, {[]byte("1.50"), "1.5", true},
		{" 2 ", "2", true},
	} {
		got := shippingtest.Amount(t, "5")
		if err := got.Scan(tc.column); err != nil || got.String() != tc.want || got.Known() != tc.known {
			t.Errorf("%#v: %s, %t, %v", tc.column, got, got.Known(), err)
		}
	}
	for column, want := range map[any]string{
		19.99: "a column of type float64: use a numeric or text column", true: "bool", "NaN": `"NaN"`, "1e19": "18 digits: \"1e19\": write",
	} {
		got := shippingtest.Amount(t, "5")
		if err := got.Scan(column); err == nil || !strings.Contains(err.Error(), want) || got.String() != "5" {
			t.Errorf("%#v: %s, %v", column, got, err)
		}
	}
}

// FuzzAmount: a text that is read as money is its JSON number, to the last digit, and
// survives being written; any other text is refused, and never fails the record around it.
func FuzzAmount(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzAmount.txt", "")
	f.Fuzz(func(t *testing.T, text string) {
		var field shipping.Amount
		if err := field.UnmarshalJSON([]byte(text)); err != nil {
			t.Errorf("%q fails its record: %v", text, err)
		}
		a, err := shipping.ParseAmount(text)
		if err != nil {
			if a != (shipping.Amount{}) {
				t.Errorf("%q is refused (%v) and yet %s", text, err, a)
			}
			return
		}
		if again, err := shipping.ParseAmount(a.String()); err != nil || again != a {
			t.Errorf("%q is written %s and read back as %s, %v", text, a, again, err)
		}
		var back shipping.Amount
		if data, err := json.Marshal(a); err != nil || json.Unmarshal(data, &back) != nil || back != a {
			t.Errorf("%q through JSON is %s, %s, %v", text, data, back, err)
		}
		// With an exponent beyond this one the rational number would take all memory.
		if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found && len(exponent) > 4 ||
			!json.Valid([]byte(text)) {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		got, written := new(big.Rat).SetString(a.String())
		if ok && (!written || want.Cmp(got) != 0) {
			t.Errorf("%q is %s, want %s", text, a, want.FloatString(20))
		}
	})
}

// A conversion at an exchange rate with many decimals was refused although its rounded product fits.
func TestAmount_MulRound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b, want string
		decimals   int
	}{
		{"12345678.91", "1552.317845", "19164417680.63", 2},
		{"0.05", "0.1", "0.01", 2},
		{"-0.05", "0.1", "-0.01", 2},
		{"0.049", "0.1", "0", 2},
		{"3", "4", "12", 2},
		{"1.5", "1.5", "2.25", 18},
		{"999999999999999999", "0.999999999999999999", "999999999999999998", 0},
		{"999999999999999999", "10", "", 2},
		{"999999999999999999", "999999999999999999", "", 2},
	} {
		got, err := shippingtest.Amount(t, test.a).MulRound(shippingtest.Amount(t, test.b), test.decimals)
		if (err != nil) != (test.want == "") || err != nil && !errors.Is(err, shipping.ErrAmountOverflow) || err == nil &&
			got != shippingtest.Amount(t, test.want) {
			t.Errorf("%s × %s: %s, %v; want %s", test.a, test.b, got, err, test.want)
		}
	}
	shippingtest.WantError(t, "unreadable", shippingtest.Err(readAmount(t, `"free"`).MulRound(shipping.Amount{}, 2)),
		shipping.ErrAmountUnreadable)
}

// The parts of a split add up to the amount.
func TestAmount_Split(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		amount, want string
		n, decimals  int
	}{
		{"100", "33.34 33.33 33.33", 3, 2},
		{"0.05", "0.02 0.02 0.01", 3, 2},
		{"-100", "-33.34 -33.33 -33.33", 3, 2},
		{"0", "0 0", 2, 2},
		{"7", "3 2 2", 3, 0},
		{"0.005", "", 3, 2},
		{"1", "", 0, 2},
		{"999999999999999999", "", 2, 2},
	} {
		parts, err := shippingtest.Amount(t, test.amount).Split(test.n, test.decimals)
		if got := strings.Trim(fmt.Sprint(parts), "[]"); got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s: %s, %v; want %s", test.amount, got, err, test.want)
		}
	}
	shippingtest.WantError(t, "unreadable", shippingtest.Err(readAmount(t, `"free"`).Split(2, 2)),
		shipping.ErrAmountUnreadable)
}
