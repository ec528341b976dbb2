package shipping_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

func TestRetry_ADeadlineTooNearReturnsAtOnceWithTheServicesError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy").HeaderSet(http.Header{"Retry-After": {"30"}}))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		started := time.Now()
		_, err := shippingtest.NewClient(t, service).Rates.List(ctx, nil)
		if took := time.Since(started); took != 0 {
			t.Errorf("it took %s to detect that the time is too short", took)
		}
		shippingtest.WantError(t, "rates", err, shipping.ErrServer)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the deadline has not passed, but the error reports it")
		}
		const want = "shipping: rates.list: 503 Service Unavailable: busy [not retried: the deadline would pass first]"
		if err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestRetry_TheBudgetBoundsTheExtraLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"))
		client := shippingtest.NewClient(t, service)
		const many = 2000
		var last error
		for range many {
			_, last = client.Rates.List(t.Context(), nil)
		}
		extra := service.Count("") - many
		if extra > many/10+10 || extra < many/10-10 {
			t.Errorf("%d calls to a failing service made %d retries, want about a tenth, at most that and the burst", many, extra)
		}
		if failure, _ := errors.AsType[*shipping.Error](last); failure == nil || failure.NotRetried != "the retry budget is spent" && len(failure.Attempts) == 1 {
			t.Errorf("the last error does not report why it was not retried: %v", last)
		}
	})
}

func TestRetry_TheBudgetCanBeSwitchedOffOrChanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy shipping.RetryPolicy
		want   int // repeats of 100 calls, each with up to three
	}{
		"no bound":       {shipping.RetryPolicy{ExtraLoad: -1}, 300},
		"half":           {shipping.RetryPolicy{ExtraLoad: 0.5, Burst: 1}, 50},
		"a larger burst": {shipping.RetryPolicy{ExtraLoad: 1e-9, Burst: 25}, 25},
	} {
		test.policy.MinWait, test.policy.MaxWait = 1, 1
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"))
		client := shippingtest.NewClient(t, service, shipping.WithRetryPolicy(test.policy))
		for range 100 {
			_, _ = client.Rates.List(t.Context(), nil)
		}
		if extra := service.Count("") - 100; extra < test.want-1 || extra > test.want+1 {
			t.Errorf("%s: %d repeats, want %d", name, extra, test.want)
		}
	}
}

func TestRetry_AfterA429EveryCallWaitsForTheSamePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(shippingtest.Refusal(429, "slow down").HeaderSet(http.Header{"Retry-After": {"30"}}), shippingtest.OK(`[]`))
		client := shippingtest.NewClient(t, service)
		started := time.Now()
		if _, err := client.Countries.List(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		second := shippingtest.NewClient(t, service) // another client does not pause
		first429 := shippingtest.NewService(shippingtest.Refusal(429, "slow down").HeaderSet(http.Header{"Retry-After": {"30"}}), shippingtest.OK(`[]`))
		paused := shippingtest.NewClient(t, first429)
		all.Go(func() { _, _ = paused.Countries.List(t.Context()) })
		synctest.Wait()
		for range 20 {
			all.Go(func() {
				if _, err := paused.Countries.List(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i, got := range first429.Requests()[1:] {
			if since := got.At.Sub(first429.Requests()[0].At); since < 30*time.Second || since > 31*time.Second {
				t.Errorf("request %d followed %s after the 429, want 30 s and a little", i+2, since)
			}
		}
		if waited := service.Requests()[1].At.Sub(started); waited < 30*time.Second {
			t.Errorf("the repeat followed after %s", waited)
		}
		before := time.Now()
		if _, err := second.Countries.List(t.Context()); err != nil || time.Since(before) != 0 {
			t.Errorf("another client waited %s: %v", time.Since(before), err)
		}
	})
}

func TestRetry_APauseThatOutlastsTheDeadlineIsToldAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := shippingtest.NewService(shippingtest.Refusal(429, "slow down").HeaderSet(http.Header{"Retry-After": {"30"}}), shippingtest.OK(`[]`))
		client := shippingtest.NewClient(t, service)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := client.Countries.List(ctx)
		shippingtest.WantError(t, "first call", err, shipping.ErrRateLimited)
		started := time.Now()
		_, err = client.Countries.List(ctx)
		shippingtest.WantError(t, "second call", err, shipping.ErrRateLimited)
		if time.Since(started) != 0 || service.Count("") != 1 {
			t.Errorf("the second call took %s and %d requests were sent", time.Since(started), service.Count(""))
		}
		// RetryAfter is the rest of the pause, and not 0.
		if got := shippingtest.ErrorIn(t, err).RetryAfter; got != 30*time.Second {
			t.Errorf("RetryAfter is %s, want the rest of the pause", got)
		}
		const want = "not sent: an earlier call got a 429, and the pause of 30"
		if failure, _ := errors.AsType[*shipping.Error](err); failure == nil || failure.StatusCode != 0 ||
			len(failure.Cause.Error()) < len(want) || failure.Cause.Error()[:len(want)] != want {
			t.Errorf("got %v", err)
		}
	})
}

// Every attempt waits for the limiter, which does not count as time of the attempt.
func TestLimiter_EveryAttemptWaitsForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		passed := 0
		pace := shippingtest.Limiter(func(context.Context) error {
			passed++
			<-time.After(time.Hour)
			return nil
		})
		service := shippingtest.NewService(shippingtest.Refusal(503, "busy"), shippingtest.Refusal(503, "busy"), shippingtest.OK(`[]`))
		client := shippingtest.NewClient(t, service, shipping.WithLimiter(pace), shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: time.Second}))
		if _, err := client.Countries.List(t.Context()); err != nil || passed != 3 {
			t.Errorf("the limiter was asked %d times for 3 attempts: %v", passed, err)
		}
	})
}

func TestRetry_AttemptsWithoutABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := shippingtest.OK(`[]`).Delay(24 * time.Hour)
		client := shippingtest.NewClient(t, shippingtest.NewService(slow), shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: -1}))
		if _, err := client.Countries.List(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRetryAfter_InAllItsForms(t *testing.T) {
	t.Parallel()
	const jitter = 250 * time.Millisecond
	// The bubble's clock starts at midnight UTC, 1 January 2000, and the dates below count from there.
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(d time.Duration) string { return epoch.Add(d).Format(http.TimeFormat) }
	for name, test := range map[string]struct {
		value, date string
		asked       time.Duration // Error.RetryAfter
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
					service := shippingtest.NewService(answer, shippingtest.OK(`{"rates":[]}`))
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
