package shipping_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
)

func attemptsOf(err error) []shipping.Attempt {
	if failure, ok := errors.AsType[*shipping.Error](err); ok {
		return failure.Attempts
	}
	return nil
}

func TestRetry_WhichStatusesOfAReadRepeat(t *testing.T) {
	t.Parallel()
	repeats := map[int]bool{408: true, 425: true, 429: true}
	for status := 500; status < 600; status++ {
		repeats[status] = status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported
	}
	for status := 300; status < 600; status++ {
		service := answering(refusal(status, "no"))
		_, _ = connect(t, service, quick).Rates.List(t.Context(), nil)
		want := 1
		if repeats[status] {
			want = 4
		}
		if got := service.count(""); got != want {
			t.Errorf("%d: %d requests, want %d", status, got, want)
		}
	}
}

func TestRetry_WhichFailuresOfWhichOperationRepeat(t *testing.T) {
	t.Parallel()
	read := *refused
	read.Op = "read"
	for name, test := range map[string]struct {
		answer       canned
		safe, unsent int // requests of an operation that repeats when safe, or when unsent
	}{
		"connection refused":           {canned{err: refused}, 4, 4},
		"connection reset":             {canned{err: &read}, 4, 1},
		"connection closed":            {canned{err: io.EOF}, 4, 1},
		"503":                          {refusal(503, "busy"), 4, 1},
		"429":                          {refusal(429, "slow down"), 4, 1},
		"400":                          {refusal(400, "no"), 1, 1},
		"200 without envelope":         {canned{status: 200, body: "<html>"}, 1, 1},
		"200 with status false":        {refusal(200, "no"), 1, 1},
		"a body that breaks off":       {canned{status: 200, body: `{"st`, err: nil}, 1, 1},
		"no answer within the attempt": {canned{after: time.Hour, status: 200}, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, call := range calls() {
				synctest.Test(t, func(t *testing.T) {
					service := answering(test.answer)
					err := call.do(t.Context(), connectPlain(t, service, shipping.WithProvisionalRoutes(), quick))
					if err == nil && call.operation != shipping.OpDocumentPDF {
						t.Errorf("%s succeeded", call.operation)
					}
					want, got := test.safe, service.count("")
					switch operation := operationNamed(call.operation); {
					case operation.Retry == shipping.RetryUnsent:
						want = test.unsent
					case operation.Retry == shipping.RetryNever:
						want, got = 1, service.count(http.MethodPost)
					}
					if got != want {
						t.Errorf("%s: %d requests, want %d", call.operation, got, want)
					}
				})
			}
		})
	}
}

// operationNamed is the operation's line in the table; Do posts something that is in no table.
func operationNamed(name string) shipping.Operation {
	for _, operation := range shipping.Operations() {
		if operation.Name == name {
			return operation
		}
	}
	return shipping.Operation{Name: name, Retry: shipping.RetryUnsent}
}

func TestRetry_TheBodyIsSentAgainWhole(t *testing.T) {
	t.Parallel()
	service := answering(canned{err: refused}, canned{err: refused}, ok(`{"delivery_id":"WD-1"}`))
	if _, err := connectPlain(t, service, quick).Webhooks.Replay(t.Context(), &shipping.ReplayRequest{DeliveryID: "WD-1"}); err != nil {
		t.Fatal(err)
	}
	for _, got := range service.requests()[2:] {
		if got.Body != `{"delivery_id":"WD-1"}` {
			t.Errorf("body %q", got.Body)
		}
	}
}

func TestRetry_MaxAttempts(t *testing.T) {
	t.Parallel()
	for set, want := range map[int]int{0: 4, 1: 1, 2: 2, 7: 7} {
		service := answering(refusal(503, "busy"))
		client := connect(t, service, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: set, MinWait: 1, MaxWait: 1}))
		_, err := client.Rates.List(t.Context(), nil)
		if got := len(attemptsOf(err)); got != want || service.count("") != want {
			t.Errorf("MaxAttempts %d: %d attempts told, %d sent, want %d", set, got, service.count(""), want)
		}
	}
}

func TestRetry_FullJitterWithinItsBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		policy := shipping.RetryPolicy{MaxAttempts: 6, MinWait: 100 * time.Millisecond, MaxWait: 500 * time.Millisecond, ExtraLoad: -1}
		ceilings := []time.Duration{100, 200, 400, 500, 500}
		longest := make([]time.Duration, len(ceilings))
		shortest := []time.Duration{time.Hour, time.Hour, time.Hour, time.Hour, time.Hour}
		service := answering(refusal(503, "busy"))
		client := connect(t, service, shipping.WithRetryPolicy(policy))
		for range 200 {
			_, err := client.Rates.List(t.Context(), nil)
			for i, attempt := range attemptsOf(err)[:5] {
				longest[i], shortest[i] = max(longest[i], attempt.Wait), min(shortest[i], attempt.Wait)
			}
		}
		for i, ceiling := range ceilings {
			ceiling *= time.Millisecond
			if longest[i] > ceiling || longest[i] < ceiling*8/10 || shortest[i] > ceiling*2/10 {
				t.Errorf("wait %d went from %s to %s, want all of 0 to %s", i+1, shortest[i], longest[i], ceiling)
			}
		}
	})
}

func TestRetry_TheWaitThatIsToldIsTheOneThatHappened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := answering(refusal(503, "busy"))
		_, err := connect(t, service).Rates.List(t.Context(), nil)
		got, attempts := service.requests(), attemptsOf(err)
		for i, attempt := range attempts[:len(attempts)-1] {
			if between := got[i+1].At.Sub(got[i].At); between != attempt.Wait {
				t.Errorf("wait %d was %s and is told as %s", i+1, between, attempt.Wait)
			}
		}
		if last := attempts[len(attempts)-1]; last.Wait != 0 {
			t.Errorf("a wait of %s is told after the last attempt", last.Wait)
		}
	})
}

func TestRetry_ADeadlineTooNearReturnsAtOnceWithTheServicesError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := answering(refusal(503, "busy").with("Retry-After", "30"))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		started := time.Now()
		_, err := connect(t, service).Rates.List(ctx, nil)
		if took := time.Since(started); took != 0 {
			t.Errorf("it took %s to learn that there is no time", took)
		}
		wantError(t, "rates", err, shipping.ErrServer)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the deadline has not passed, yet the error says so")
		}
		const want = "shipping: rates.list: 503 Service Unavailable: busy [not retried: the deadline would pass first]"
		if err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

func TestRetry_AContextThatEndsWhileWaitingKeepsTheServicesError(t *testing.T) {
	t.Parallel()
	stop := errors.New("shutting down")
	for name, test := range map[string]struct {
		bound func(context.Context) (context.Context, context.CancelFunc)
		want  error
	}{
		"deadline shortened by the parent": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			// The deadline is out of sight of the client, as that of a server's request can be.
			return context.WithTimeout(hiddenDeadline{ctx}, time.Minute)
		}, context.DeadlineExceeded},
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(10*time.Second, cancel)
			return ctx, cancel
		}, context.Canceled},
		"cancelled with a cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(10*time.Second, func() { cancel(stop) })
			return ctx, func() { cancel(nil) }
		}, stop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := answering(refusal(503, "busy").with("Retry-After", "50"))
				ctx, cancel := test.bound(t.Context())
				defer cancel()
				_, err := connect(t, service).Rates.List(hiddenDeadline{ctx}, nil)
				wantError(t, "rates", err, test.want, shipping.ErrServer)
				failure, _ := errors.AsType[*shipping.Error](err)
				if failure == nil || failure.StatusCode != 503 || failure.Message != "busy" || failure.RetryAfter != 50*time.Second {
					t.Errorf("the service's answer is lost: %+v", failure)
				}
			})
		})
	}
}

// hiddenDeadline is a context that ends when its parent does and does not tell when.
type hiddenDeadline struct{ context.Context }

func (hiddenDeadline) Deadline() (time.Time, bool) { return time.Time{}, false }

func TestRetry_TheBudgetBoundsTheExtraLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := answering(refusal(503, "busy"))
		client := connect(t, service)
		const many = 2000
		var last error
		for range many {
			_, last = client.Rates.List(t.Context(), nil)
		}
		extra := service.count("") - many
		if extra > many/10+10 || extra < many/10-10 {
			t.Errorf("%d calls to a failing service made %d repeats, want about a tenth and no more than that and the burst", many, extra)
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
		service := answering(refusal(503, "busy"))
		client := connect(t, service, shipping.WithRetryPolicy(test.policy))
		for range 100 {
			_, _ = client.Rates.List(t.Context(), nil)
		}
		if extra := service.count("") - 100; extra < test.want-1 || extra > test.want+1 {
			t.Errorf("%s: %d repeats, want %d", name, extra, test.want)
		}
	}
}

func TestRetry_AfterA429EveryCallWaitsForTheSamePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &service{script: func(n int, _ received) canned {
			if n == 1 {
				return refusal(429, "slow down").with("Retry-After", "30")
			}
			return ok(`[]`)
		}}
		client := connect(t, service)
		started := time.Now()
		if _, err := client.Countries.List(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		second := connect(t, service) // another client does not pause
		first429 := answering(refusal(429, "slow down").with("Retry-After", "30"), ok(`[]`))
		paused := connect(t, first429)
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
		for i, got := range first429.requests()[1:] {
			if since := got.At.Sub(first429.requests()[0].At); since < 30*time.Second || since > 31*time.Second {
				t.Errorf("request %d followed %s after the 429, want 30 s and a little", i+2, since)
			}
		}
		if waited := service.requests()[1].At.Sub(started); waited < 30*time.Second {
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
		service := answering(refusal(429, "slow down").with("Retry-After", "30"), ok(`[]`))
		client := connect(t, service)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := client.Countries.List(ctx)
		wantError(t, "first call", err, shipping.ErrRateLimited)
		started := time.Now()
		_, err = client.Countries.List(ctx)
		wantError(t, "second call", err, shipping.ErrRateLimited)
		if time.Since(started) != 0 || service.count("") != 1 {
			t.Errorf("the second call took %s and %d requests were sent", time.Since(started), service.count(""))
		}
		// C9: the error reports how long the pause still lasts.
		if got := errorIn(t, err).RetryAfter; got != 30*time.Second {
			t.Errorf("RetryAfter is %s, want the rest of the pause", got)
		}
		const want = "not sent: an earlier call got a 429, and the pause of 30"
		if failure, _ := errors.AsType[*shipping.Error](err); failure == nil || failure.StatusCode != 0 ||
			len(failure.Cause.Error()) < len(want) || failure.Cause.Error()[:len(want)] != want {
			t.Errorf("got %v", err)
		}
	})
}

func TestRetry_APurchaseIsHeldBackByThePauseAndNotCharged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := answering(refusal(429, "slow down").with("Retry-After", "30"), ok(`{}`))
		client := connect(t, service)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _ = client.Countries.List(ctx)
		_, err := client.Regulatory.Purchase(ctx, "RD-1", shipping.DocumentFDA)
		purchase, _ := errors.AsType[*shipping.PurchaseError](err)
		if purchase == nil || purchase.Outcome != shipping.OutcomeNotCharged || service.count(http.MethodPost) != 0 {
			t.Errorf("outcome of a purchase that was never sent: %v", err)
		}
		wantError(t, "purchase", err, shipping.ErrRateLimited)
	})
}

func TestLimiter_EveryAttemptWaitsForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		passed := 0
		pace := limiter(func(context.Context) error {
			passed++
			<-time.After(time.Second)
			return nil
		})
		service := answering(refusal(503, "busy"), refusal(503, "busy"), ok(`[]`))
		if _, err := connect(t, service, quick, shipping.WithLimiter(pace)).Countries.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if passed != 3 {
			t.Errorf("the limiter was asked %d times for 3 attempts", passed)
		}
	})
}

func TestLimiter_TimeAtTheLimiterIsNotTimeOfTheAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pace := limiter(func(context.Context) error { <-time.After(time.Hour); return nil })
		client := connect(t, answering(ok(`[]`)), shipping.WithLimiter(pace), shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: time.Second}))
		if _, err := client.Countries.List(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRetry_AnAttemptHasATimeOfItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := answering(canned{after: time.Hour, status: 200}, ok(`[]`))
		started := time.Now()
		client := connect(t, service, quick, shipping.WithHTTPClient(&http.Client{Transport: service, Timeout: 7 * time.Second}))
		if _, err := client.Countries.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started).Round(time.Second); took != 7*time.Second {
			t.Errorf("the attempt ended after %s, want the HTTP client's Timeout of 7 s", took)
		}
		_, err := connect(t, answering(canned{after: time.Hour, status: 200}), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1})).Countries.List(t.Context())
		wantError(t, "an attempt of 30 s", err, shipping.ErrConnection)
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the end of an attempt looks like the end of the caller's context")
		}
	})
}

func TestRetry_AttemptsWithoutABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := ok(`[]`)
		slow.after = 24 * time.Hour
		client := connect(t, answering(slow), shipping.WithRetryPolicy(shipping.RetryPolicy{AttemptTimeout: -1}))
		if _, err := client.Countries.List(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
