package transport

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	tests := []struct {
		name     string
		deadline time.Duration // 0: none
		stop     time.Duration // 0: never
		want     error
		after    time.Duration
	}{
		{name: "to its end", after: time.Minute},
		{name: "with a later deadline", deadline: time.Hour, after: time.Minute},
		{name: "beyond the deadline", deadline: time.Minute, want: context.DeadlineExceeded},
		{name: "cancelled", stop: time.Second, want: stopped, after: time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if test.deadline > 0 {
					var stop context.CancelFunc
					ctx, stop = context.WithTimeout(ctx, test.deadline)
					defer stop()
				}
				if test.stop > 0 {
					time.AfterFunc(test.stop, func() { cancel(stopped) })
				}
				started := time.Now()
				err := Sleep(ctx, time.Minute)
				if !errors.Is(err, test.want) || time.Since(started) != test.after {
					t.Errorf("%v after %s, want %v after %s", err, time.Since(started), test.want, test.after)
				}
			})
		})
	}
}
