package shipping

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"
)

// FuzzAmount: a text that is taken as money is the number that JSON says it is, to the last digit, and
// survives being written; any other text is refused, and never fails the record around it.
func FuzzAmount(f *testing.F) {
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

// FuzzRetryAfter: whatever a service asks for, the wait is within its bounds, and a number of seconds is
// that many.
func FuzzRetryAfter(f *testing.F) {
	f.Fuzz(func(t *testing.T, value, date string, seconds uint16) {
		now := time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC)
		policy, err := RetryPolicy{}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{"Retry-After": {value}, "Date": {date}}
		asked, there := retryAfter(header, now)
		if asked < 0 || asked > longestWait || !there && asked != 0 {
			t.Errorf("%q (Date %q) asks for %s, %v", value, date, asked, there)
		}
		if wait := policy.clamp(asked); wait <= 0 || wait > policy.MaxRetryAfter {
			t.Errorf("%q (Date %q) makes a wait of %s", value, date, wait)
		}
		header.Set("Retry-After", now.Add(time.Duration(seconds)*time.Second).Format(http.TimeFormat))
		header.Set("Date", now.Format(http.TimeFormat))
		if asked, there := retryAfter(header, time.Now()); !there || asked != time.Duration(seconds)*time.Second {
			t.Errorf("%d seconds from the answer's Date asks for %s, %v", seconds, asked, there)
		}
	})
}
