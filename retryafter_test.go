package shipping_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestRetryAfter_InAllItsForms(t *testing.T) {
	t.Parallel()
	const jitter = 250 * time.Millisecond
	// The bubble's clock starts at midnight UTC, 1 January 2000, and the dates below are told from there.
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(d time.Duration) string { return epoch.Add(d).Format(http.TimeFormat) }
	for name, test := range map[string]struct {
		value, date string
		asked       time.Duration // what Error.RetryAfter says
		least, most time.Duration // the wait before the repeat
	}{
		"absent":                       {"", "", 0, 0, jitter},
		"seconds":                      {"7", "", 7 * time.Second, 7 * time.Second, 7*time.Second + jitter},
		"seconds amid spaces":          {"  7\t", "", 7 * time.Second, 7 * time.Second, 7*time.Second + jitter},
		"a fraction":                   {"1.5", "", 1500 * time.Millisecond, 1500 * time.Millisecond, 1500*time.Millisecond + jitter},
		"zero":                         {"0", "", 0, 0, jitter},
		"negative":                     {"-5", "", 0, 0, jitter},
		"longer than is obeyed":        {"3600", "", time.Hour, time.Minute, time.Minute + jitter},
		"more than an int64":           {"99999999999999999999999", "", 365 * 24 * time.Hour, time.Minute, time.Minute + jitter},
		"more than a float64":          {"1e999", "", 0, 0, jitter},
		"infinite":                     {"Inf", "", 0, 0, jitter},
		"no number":                    {"NaN", "", 0, 0, jitter},
		"hexadecimal":                  {"0x10", "", 0, 0, jitter},
		"text":                         {"soon", "", 0, 0, jitter},
		"seconds with a unit":          {"7s", "", 0, 0, jitter},
		"a list":                       {"7, 8", "", 0, 0, jitter},
		"date of RFC 1123":             {in(40 * time.Second), "", 40 * time.Second, 40 * time.Second, 40*time.Second + jitter},
		"date of RFC 850":              {"Saturday, 01-Jan-00 00:00:40 GMT", "", 40 * time.Second, 40 * time.Second, 40*time.Second + jitter},
		"date of asctime":              {"Sat Jan  1 00:00:40 2000", "", 40 * time.Second, 40 * time.Second, 40*time.Second + jitter},
		"date in the past":             {in(-time.Hour), "", 0, 0, jitter},
		"date of a clock ahead":        {in(time.Hour + 20*time.Second), in(time.Hour), 20 * time.Second, 20 * time.Second, 20*time.Second + jitter},
		"date of a clock behind":       {in(-time.Hour + 20*time.Second), in(-time.Hour), 20 * time.Second, 20 * time.Second, 20*time.Second + jitter},
		"date beside a rubbish Date":   {in(20 * time.Second), "today", 20 * time.Second, 20 * time.Second, 20*time.Second + jitter},
		"date in a thousand years":     {"Fri, 31 Dec 2999 23:59:59 GMT", "", 365 * 24 * time.Hour, time.Minute, time.Minute + jitter},
		"date without a day that fits": {"Fri, 99 Dec 1999 23:59:59 GMT", "", 0, 0, jitter},
	} {
		for _, status := range []int{503, 429} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					answer := shippingtest.Refusal(status, "busy")
					if test.value != "" {
						answer = answer.HeaderSet(http.Header{"Retry-After": {test.value}})
					}
					if test.date != "" {
						answer = answer.HeaderSet(http.Header{"Date": {test.date}})
					}
					once := shipping.RetryPolicy{MaxAttempts: 1}
					_, err := shippingtest.NewClient(t, shippingtest.NewService(answer), shipping.WithRetryPolicy(once)).Rates.List(t.Context(), nil)
					if failure, _ := errors.AsType[*shipping.Error](err); failure == nil || failure.RetryAfter != test.asked {
						t.Errorf("RetryAfter is not %s: %+v", test.asked, failure)
					}
					service := shippingtest.NewService(answer, shippingtest.OK(`{}`))
					if _, err := shippingtest.NewClient(t, service).Rates.List(t.Context(), nil); err != nil {
						t.Fatal(err)
					}
					most := test.most
					if status == http.StatusTooManyRequests && test.asked == 0 {
						most = jitter + jitter/2 // the pause that a 429 without a number brings
					}
					got := service.Requests()
					if wait := got[1].At.Sub(got[0].At); wait < test.least || wait > most {
						t.Errorf("the repeat of a %d followed after %s, want %s to %s", status, wait, test.least, most)
					}
				})
			})
		}
	}
}

func TestRetryAfter_HowLongItIsObeyedCanBeSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"Retry-After": {"3600"}}), shippingtest.OK(`{}`))
		client := shippingtest.NewClient(t, service, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxRetryAfter: 2 * time.Hour}))
		if _, err := client.Rates.List(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		got := service.Requests()
		if wait := got[1].At.Sub(got[0].At); wait < time.Hour || wait > time.Hour+time.Second {
			t.Errorf("the repeat followed after %s, want an hour", wait)
		}
	})
}
