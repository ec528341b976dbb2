package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// failures are the ways in which a callback can end without returning.
func failures() map[string]func() {
	return map[string]func(){
		"a panic":                func() { panic("a nil map") },
		"a panic with an error":  func() { panic(errors.New("a nil map")) },
		"http.ErrAbortHandler":   func() { panic(http.ErrAbortHandler) },
		"a nil pointer":          func() { var n *webhook.Notification; n.Attempt++ },
		"a panic within a panic": func() { defer func() { panic("second") }(); panic("first") },
	}
}

// With workers, a handler that panics has failed. Its panic must not end the process: 200 was sent and the id is stored.
func TestReceiver_AHandlerThatPanicsHasFailed(t *testing.T) {
	for name, fail := range failures() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var attempts []int
				var lost []error
				receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
					attempts = append(attempts, n.Attempt)
					if n.ID == "bad" {
						fail()
					}
					return nil
				}, webhook.WithWorkers(1, 10), webhook.WithRetries(2, time.Second), webhook.WithLost(func(n *webhook.Notification, err error) {
					if n.ID != "bad" {
						t.Errorf("%s is lost", n.ID)
					}
					lost = append(lost, err)
				}))
				for _, id := range []string{"bad", "good"} {
					if answer := postSigned(receiver, body, webhook.DefaultIDHeader, id); answer.Code != 200 {
						t.Errorf("%s: %d", id, answer.Code)
					}
				}
				if err := receiver.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(attempts) != "[1 2 3 1]" || len(lost) != 1 {
					t.Fatalf("attempts %v, lost %v", attempts, lost)
				}
				var panicked *webhook.PanicError
				if !errors.As(lost[0], &panicked) || len(panicked.Stack) == 0 {
					t.Fatalf("lost with %v", lost[0])
				}
			})
		})
	}
}

// The error contains the value of the panic and the stack of the handler, once.
func TestPanicError_NamesTheValueAndShowsTheStackOnce(t *testing.T) {
	t.Parallel()
	cause := errors.New("a nil map")
	lost := make(chan error, 1)
	receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { panicsForTheTest(cause); return nil },
		queued(), webhook.WithRetries(1, 0), webhook.WithLost(func(_ *webhook.Notification, err error) { lost <- err }))
	postSigned(receiver, body)
	err := <-lost
	if !errors.Is(err, cause) {
		t.Errorf("the error does not wrap the panic's value: %v", err)
	}
	for form, text := range map[string]string{"Error": err.Error(), "%v": fmt.Sprintf("%v", err), "%+v": fmt.Sprintf("%+v", err), "slog": logged(err)} {
		if !strings.Contains(text, "the handler panicked: a nil map") || strings.Count(text, "panicsForTheTest(") != 1 {
			t.Errorf("%s shows the stack %d times: %s", form, strings.Count(text, "panicsForTheTest("), text)
		}
	}
}

//go:noinline
func panicsForTheTest(err error) { panic(err) }

func logged(err error) string {
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Error("lost", "error", err)
	return out.String()
}

// Without workers, a panic is a failure, too: the response is 503, the claim is released, and the log contains the panic.
func TestReceiver_AHandlerThatPanicsLeavesNoClaim(t *testing.T) {
	t.Parallel()
	for name, fail := range failures() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			var log bytes.Buffer
			receiver := newReceiver(t, func(context.Context, *webhook.Notification) error {
				if calls++; calls == 1 {
					fail()
				}
				return nil
			}, webhook.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
				webhook.WithLost(func(*webhook.Notification, error) { t.Error("lost, though it was not accepted") }))
			send := func() *httptest.ResponseRecorder { return postSigned(receiver, body) }
			if answer := send(); answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" || strings.Contains(answer.Body.String(), "goroutine") {
				t.Errorf("%d %v %s", answer.Code, answer.Header(), answer.Body)
			}
			if strings.Count(log.String(), "level=ERROR") != 1 || strings.Count(log.String(), "receiver_panic_test.go") == 0 {
				t.Errorf("the log holds %s", &log)
			}
			if answer := send(); answer.Code != http.StatusOK || calls != 2 {
				t.Errorf("sent again: %d, %d calls", answer.Code, calls)
			}
		})
	}
}

// A panic in any other callback ends neither the process nor a worker, and Close returns.
func TestReceiver_OtherCallbacksThatPanicHaveFailed(t *testing.T) {
	refuse := func(context.Context, *webhook.Notification) error { return errors.New("not today") }
	accept := func(context.Context, *webhook.Notification) error { return nil }
	for name, fail := range failures() {
		failsIn := func(method string) webhook.Option {
			return webhook.WithStore(hookedStore{webhook.NewMemoryStore(webhook.StoreOptions{}), func(_ context.Context, called string) error {
				if called == method {
					fail()
				}
				return nil
			}})
		}
		for _, tc := range []struct {
			name   string
			status int
			handle webhook.Handler
			opts   []webhook.Option
		}{
			{"Claim", 503, accept, []webhook.Option{failsIn("Claim")}},
			{"Accept", 200, accept, []webhook.Option{failsIn("Accept")}},
			{"Release", 503, refuse, []webhook.Option{failsIn("Release")}},
			{"WithLost", 200, refuse, []webhook.Option{
				webhook.WithWorkers(1, 10), webhook.WithRetries(0, 0), webhook.WithLost(func(*webhook.Notification, error) { fail() }),
			}},
			{"WithSignature", 503, accept, []webhook.Option{webhook.WithSignature("X-Signature", func(string, []byte) string { fail(); return "" })}},
			{"WithLogger", 503, refuse, []webhook.Option{webhook.WithLogger(slog.New(failingLog{fail}))}},
			{"WithLogger, queue", 200, refuse, []webhook.Option{
				webhook.WithWorkers(1, 10), webhook.WithRetries(0, 0), webhook.WithLogger(slog.New(failingLog{fail})),
			}},
		} {
			t.Run(tc.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					receiver := newReceiver(t, tc.handle, tc.opts...)
					for n := range 2 {
						answer := postSigned(receiver, body, "X-Signature", "00", webhook.DefaultIDHeader, fmt.Sprint(n))
						if answer.Code != tc.status {
							t.Errorf("%d, want %d", answer.Code, tc.status)
						}
					}
					if err := receiver.Close(t.Context()); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// failingLog is a log handler that fails.
type failingLog struct{ fail func() }

func (l failingLog) Enabled(context.Context, slog.Level) bool { return true }

func (l failingLog) Handle(context.Context, slog.Record) error { l.fail(); return nil }

func (l failingLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l failingLog) WithGroup(string) slog.Handler { return l }

// A lost notification is logged as an error, with its id and not its content, unless WithLost received it.
func TestReceiver_ALostNotificationIsLogged(t *testing.T) {
	for name, test := range map[string]struct {
		lost func(*webhook.Notification, error)
		want int // lines
	}{
		"no WithLost": {nil, 1},
		"reported":    {func(*webhook.Notification, error) {}, 0},
		"not reached": {func(*webhook.Notification, error) { panic("a nil map") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				logger := slog.New(slog.NewJSONHandler(&log, nil))
				opts := []webhook.Option{queued(), webhook.WithRetries(3, time.Second), webhook.WithLogger(logger)}
				if test.lost != nil {
					opts = append(opts, webhook.WithLost(test.lost))
				}
				receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { panic("not today") }, opts...)
				postSigned(receiver, body, webhook.DefaultIDHeader, "WD-1")
				if err := receiver.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				text := log.String()
				if strings.Count(text, "\n") != test.want || strings.Contains(text, "SH-1") {
					t.Errorf("logged %s, want %d lines", text, test.want)
				}
				for _, want := range []string{`"level":"ERROR"`, "WD-1", "not today"} {
					if test.want > 0 && !strings.Contains(text, want) {
						t.Errorf("%s is missing: %s", want, text)
					}
				}
			})
		})
	}
}

// Close waits for handlers that run, and later deliveries are not handled.
func TestReceiver_CloseWaitsForHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		working, end := make(chan struct{}), make(chan struct{})
		handled := 0
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error {
			working <- struct{}{}
			<-end
			handled++
			return nil
		})
		first := make(chan int, 1)
		go func() { first <- postSigned(receiver, body).Code }()
		<-working
		closed := make(chan error, 1)
		go func() { closed <- receiver.Close(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("Close returned while a handler was at work: %v", err)
		default:
		}
		if answer := postSigned(receiver, body, webhook.DefaultIDHeader, "later"); answer.Code != http.StatusServiceUnavailable {
			t.Errorf("after Close: %d", answer.Code)
		}
		close(end)
		if err := <-closed; err != nil || handled != 1 || <-first != http.StatusOK {
			t.Errorf("%v, handled %d", err, handled)
		}
	})
}
