package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/redact"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/webhook"
)

// With workers, a handler that panics has failed. Its panic must not end the process: 200 was sent and the id is
// stored. The error contains the value of the panic and the stack of the handler, once.
func TestPanicError_OfAHandlerInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("a nil map")
		var attempts []int
		var lost []error
		receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
			if attempts = append(attempts, n.Attempt); n.ID == "bad" {
				panicsForTheTest(cause)
			}
			return nil
		}, webhook.WithWorkers(1, 10), webhook.WithRetries(2, time.Second),
			webhook.WithLost(func(_ *webhook.Notification, err error) { lost = append(lost, err) }))
		for _, id := range []string{"bad", "good"} {
			shippingtest.Diff(t, id, 200, send(receiver, id).Code)
		}
		shippingtest.NoError(t, receiver.Close(t.Context()))
		if fmt.Sprint(attempts) != "[1 2 3 1]" || len(lost) != 1 || !errors.Is(lost[0], cause) {
			t.Fatalf("attempts %v, lost %v", attempts, lost)
		}
		for _, text := range []string{lost[0].Error(), fmt.Sprintf("%+v", lost[0])} {
			if !strings.Contains(text, "the handler panicked: a nil map") || strings.Count(text, "panicsForTheTest(") != 1 {
				t.Errorf("the error is %s", text)
			}
		}
	})
}

//go:noinline
func panicsForTheTest(err error) { panic(err) }

// A callback that panics, with whatever value, has failed: no claim is left, Close returns, and the log contains the
// stack.
func TestReceiver_CallbacksThatPanic(t *testing.T) {
	refuse := func(context.Context, *webhook.Notification) error { return errors.New("not today") }
	fail := func() { panic(http.ErrAbortHandler) }
	exit := func(context.Context, *webhook.Notification) error { runtime.Goexit(); return nil } // as t.FailNow does
	failsIn := func(method string) webhook.Option {
		before := func(_ context.Context, called string) error {
			if called == method {
				fail()
			}
			return nil
		}
		return webhook.WithStore(hookedStore{webhook.NewMemoryStore(webhook.StoreOptions{}), before})
	}
	workers, once := webhook.WithWorkers(1, 10), webhook.WithRetries(0, 0)
	logger := webhook.WithLogger(slog.New(slog.NewTextHandler(failingWriter{fail}, nil)))
	two := []string{"WD-1", "WD-2"}
	type row struct {
		status int
		errors int // in the log
		ids    []string
		handle webhook.Handler
		opts   []webhook.Option
	}
	shippingtest.EachInBubble(t, map[string]row{
		"handler": {503, 2, []string{"the same", "the same"}, // it is handled again
			func(context.Context, *webhook.Notification) error { fail(); return nil }, nil},
		// A claim was left, and a worker had ended: 200 for what nobody handled.
		"handler that calls Goexit": {503, 2, []string{"the same", "the same"}, exit, nil},
		"handler, queue":            {200, 2, two, exit, []webhook.Option{workers, once}},

		"Claim":   {503, 2, two, accept, []webhook.Option{failsIn("Claim")}},
		"Accept":  {200, 2, two, accept, []webhook.Option{failsIn("Accept")}},
		"Release": {503, 2, two, refuse, []webhook.Option{failsIn("Release")}},
		"WithLost": {200, 2, two, refuse, []webhook.Option{workers, once,
			webhook.WithLost(func(*webhook.Notification, error) { fail() })}},
		"WithVerifier": {503, 2, two, accept, []webhook.Option{webhook.WithKeys(),
			webhook.WithVerifier(func(http.Header, []byte) error { fail(); return nil })}},
		"WithLogger":        {503, 0, two, refuse, []webhook.Option{logger}},
		"WithLogger, queue": {200, 0, two, refuse, []webhook.Option{workers, once, logger}},
	}, func(t *testing.T, tc row) {
		var log bytes.Buffer
		own := webhook.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))
		receiver := newReceiver(t, tc.handle, append([]webhook.Option{own}, tc.opts...)...)
		for _, id := range tc.ids {
			answer := postSigned(receiver, body, "X-Signature", "00", webhook.DefaultIDHeader, id)
			if answer.Code != tc.status || strings.Contains(answer.Body.String(), "goroutine") ||
				(answer.Header().Get("Retry-After") == "") != (tc.status == http.StatusOK) {
				t.Errorf("%d %v, want %d: %s", answer.Code, answer.Header(), tc.status, answer.Body)
			}
		}
		shippingtest.NoError(t, receiver.Close(t.Context()))
		if logged := strings.Count(log.String(), "level=ERROR"); logged != tc.errors ||
			logged > 0 && !strings.Contains(log.String(), "handling_test.go") {
			t.Errorf("%d errors are logged: %s", logged, &log)
		}
	})
}

// failingWriter is the output of a log that fails.
type failingWriter struct{ fail func() }

func (w failingWriter) Write([]byte) (int, error) { w.fail(); return 0, nil }

// A lost notification is logged as an error, with its id and not its content, unless WithLost received it. An id that
// contains the key is replaced.
func TestReceiver_ALostNotificationIsLogged(t *testing.T) {
	type row struct {
		id, error string // as they are logged
		lost      func(*webhook.Notification, error)
		want      int // lines
	}
	nilMap := func(*webhook.Notification, error) { panic("a nil map") }
	shippingtest.EachInBubble(t, map[string]row{
		"no WithLost":          {"WD-1", "not today", nil, 1},
		"reported":             {"WD-1", "not today", func(*webhook.Notification, error) {}, 0},
		"not reached":          {"WD-1", "not today", nilMap, 1},
		"the key":              {redact.Mark, redact.Mark, nil, 1},
		"the key, not reached": {redact.Mark, redact.Mark, nilMap, 1},
	}, func(t *testing.T, test row) {
		var log bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&log, nil))
		opts := []webhook.Option{queued(), webhook.WithRetries(3, time.Second), webhook.WithLogger(logger)}
		if test.lost != nil {
			opts = append(opts, webhook.WithLost(test.lost))
		}
		fail := func(_ context.Context, n *webhook.Notification) error { panic("not today: " + n.ID) }
		receiver := newReceiver(t, fail, opts...)
		send(receiver, strings.Replace(test.id, redact.Mark, key, 1))
		shippingtest.NoError(t, receiver.Close(t.Context()))
		text := log.String()
		if strings.Count(text, "\n") != test.want || strings.Contains(text, "SH-1") || strings.Contains(text, key) {
			t.Errorf("logged %s, want %d lines", text, test.want)
		}
		for _, want := range []string{`"level":"ERROR"`, `"id":"` + test.id + `"`, test.error} {
			if test.want > 0 && !strings.Contains(text, want) {
				t.Errorf("%s is missing: %s", want, text)
			}
		}
	})
}

// defaultLog returns what the default logger writes in a test, which must not be parallel.
func defaultLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	logger, output := slog.Default(), log.Writer()
	var text bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() {
		slog.SetDefault(logger)
		log.SetOutput(output)
	})
	return &text
}

// A receiver with the wrong secret refused every delivery and wrote nothing, so that to its user no notification seemed
// to arrive. Without WithLogger it writes a warning at most once a minute, with what to check, and no key.
func TestReceiver_WithoutALoggerWarnsOfRefusals(t *testing.T) {
	const secret, event = "sk_test_8mK3vQ9rT2xW7yZ4bN6c", `{"event":"shipment.updated"}`
	fails := func(context.Context, string) error { return errors.New("the disk is full") }
	for name, test := range map[string]struct {
		body, key string // of the signature
		before    func(context.Context, string) error
		want      []string
	}{
		"another key": {"{}", "sk_test_other", nil,
			[]string{"level=WARN", "notification refused", "status=401", "WithKeys", "changes the body"}},
		"no signature": {"{}", "", nil,
			[]string{"level=WARN", "status=401", webhook.DefaultSignatureHeader, "WithDialect"}},
		"not a notification": {"{}", secret, nil, []string{"level=WARN", "status=400", "names no event"}},
		"a store that fails too": {event, secret, fails,
			[]string{"level=WARN", "notification not accepted", "the disk is full"}},
		// Deliveries that were accepted before are not a reason for a warning.
		"nothing": {event, secret, func(context.Context, string) error { return nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				written := defaultLog(t)
				receiver := newReceiver(t, accept, webhook.WithKeys(secret), webhook.WithLogger(nil),
					webhook.WithStore(hookedStore{webhook.NewMemoryStore(webhook.StoreOptions{}), test.before}))
				signature := ""
				if test.key != "" {
					signature = webhook.Sign(test.key, []byte(test.body))
				}
				lines := func(want int, when string) {
					t.Helper()
					if post(receiver, test.body, signature); strings.Count(written.String(), "\n") != min(want, want*len(test.want)) {
						t.Errorf("%s:\n%s", when, written)
					}
				}
				for range 3 {
					lines(1, "at once")
				}
				time.Sleep(time.Minute)
				lines(2, "after a minute")
				for _, want := range test.want {
					shippingtest.Contains(t, "the log", written.String(), want)
				}
				if strings.Contains(written.String(), "8mK3") {
					t.Errorf("the log contains the key:\n%s", written)
				}
			})
		})
	}
}

// The context of a handler ended when the sender hung up, in the middle of a purchase. A handler that fails after its
// sender has left is reported, and the notification can be handled when it is sent again.
func TestReceiver_ReportsWhatFailsAfterTheSenderHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost []error
		outcome := errors.New("not today")
		receiver := newReceiver(t, func(ctx context.Context, _ *webhook.Notification) error {
			time.Sleep(time.Second)
			return errors.Join(outcome, ctx.Err())
		}, webhook.WithLost(func(n *webhook.Notification, err error) { lost = append(lost, err) }))
		leaving := func(patience time.Duration) int {
			ctx, leave := context.WithTimeout(t.Context(), patience)
			defer leave()
			return postIn(ctx, receiver, body, webhook.Sign(key, []byte(body))).Code
		}
		if code := leaving(time.Minute); code != http.StatusServiceUnavailable || len(lost) != 0 {
			t.Errorf("a sender that waits: %d, lost %v", code, lost)
		}
		if leaving(time.Millisecond); len(lost) != 1 || !errors.Is(lost[0], outcome) {
			t.Errorf("a sender that has left: lost %v", lost)
		}
		outcome = nil
		if leaving(time.Millisecond); len(lost) != 1 || leaving(time.Minute) != http.StatusOK {
			t.Errorf("after a success: lost %v", lost)
		}
	})
}

// Without workers, at most 16 handlers run at a time. Other notifications get a 503, and are accepted later. Without
// the limit, a burst of notifications would start as many handlers at the same time.
func TestReceiver_HandlesSixteenAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { <-release; return nil })
		var handled atomic.Int32
		for n := range 16 {
			go func() {
				if send(receiver, fmt.Sprint(n)).Code == http.StatusOK {
					handled.Add(1)
				}
			}()
		}
		synctest.Wait()
		shippingtest.Diff(t, "one more", http.StatusServiceUnavailable, send(receiver, "one more").Code)
		close(release)
		synctest.Wait()
		if answer := send(receiver, "one more"); answer.Code != http.StatusOK || handled.Load() != 16 {
			t.Errorf("one more again: %d, of the others %d are handled", answer.Code, handled.Load())
		}
	})
}
