package transport

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/shipping-go/shipping/internal/randomtest" // the seed
)

// Whatever the policy and however often it failed, a wait is not negative, lies within its own bound and
// the policy's, and its bound doubles until it is the longest.
func TestRetry_BackoffStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	wait := rapid.OneOf(rapid.Int64Range(0, int64(time.Minute)), rapid.Int64()) // a usual one, or any
	rapid.Check(t, func(t *rapid.T) {
		policy := Policy{
			MinWait: max(0, time.Duration(wait.Draw(t, "MinWait"))), MaxWait: max(0, time.Duration(wait.Draw(t, "MaxWait"))),
			MaxRetryAfter: max(0, time.Duration(wait.Draw(t, "MaxRetryAfter"))),
		}.WithDefaults()
		attempt := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(1, math.MaxInt)).Draw(t, "attempt")
		bound := policy.MinWait
		for range min(attempt-1, 64) {
			bound = min(2*bound, policy.MaxWait)
		}
		bound = min(bound, policy.MaxWait)
		if got := policy.backoff(attempt); got < 0 || got > bound || bound > LongestWait {
			t.Fatalf("after attempt %d the wait is %s, want 0 to %s", attempt, got, bound)
		}
		asked := time.Duration(wait.Draw(t, "Retry-After"))
		header := http.Header{"Retry-After": {strconv.FormatInt(int64(asked/time.Second), 10)}}
		read, there := RetryAfter(header, time.Now())
		if want := min(max(asked.Truncate(time.Second), 0), LongestWait); !there || read != want {
			t.Fatalf("Retry-After %s is read as %s, %v, want %s", header.Get("Retry-After"), read, there, want)
		}
		if got := policy.clamp(read); got <= 0 || got > max(policy.MaxRetryAfter, policy.MinWait) {
			t.Fatalf("asked to wait %s, it waits %s; at most %s", read, got, policy.MaxRetryAfter)
		}
	})
}
