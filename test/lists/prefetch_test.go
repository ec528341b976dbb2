package lists_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

const latency = 20 * time.Millisecond // of the service, a page

// slowly makes each response take the latency.
func slowly(rows int) *list {
	s := newList(rows)
	s.latency = func(int, int) time.Duration { return latency }
	return s
}

// TestPrefetch_TheWindowOpensWithTheSecondPage: a loop that ends at the first page costs two requests, however long it
// takes; a loop that goes on has as many under way as the window allows. A window that opened at once would send 21
// requests to a loop that needs one page.
func TestPrefetch_TheWindowOpensWithTheSecondPage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		window, pages, most int // how many pages the consumer takes, and how many are requested by then
	}{
		{"the first page", defaultWindow, 1, 2},
		{"the second page", defaultWindow, 2, 1 + defaultWindow},
		{"the second page, the default window", 0, 2, 1 + defaultWindow},
		{"the second page, a short window", 3, 2, 4},
		{"the first page, a window of one", 1, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, taken := slowly(60*pageSize), 0
				for _, err := range s.client(t).Transactions.Pages(t.Context(),
					options(shipping.Walk{Window: test.window})) {
					shippingtest.NoError(t, err)
					shippingtest.NoError(t, pass(t.Context(), 5*latency))
					if taken++; taken == test.pages {
						break
					}
				}
				shippingtest.Diff(t, "requests", test.most, len(s.asked))
			})
		})
	}
}

// TestPrefetch_EachPageIsRequestedOnce, twenty pages at a time: the second group begins when the first page has come.
// Rows that arrive cost the pages in flight.
func TestPrefetch_EachPageIsRequestedOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ rows, arrivals, requests, trips int }{
		{20 * pageSize, 0, 20, 2},
		{20*pageSize + 1, 0, 21, 2},
		{60 * pageSize, 3, 61 + defaultWindow + 3, 9},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, began := slowly(test.rows), time.Now()
			rows := s.rows
			s.before = func(int) {
				if len(s.asked) > 20 && s.newest == len(rows) {
					s.arrive(test.arrivals)
				}
			}
			delivered, err := s.walk(t, shipping.Walk{})
			took := time.Since(began)
			if err != nil || !slices.Equal(delivered, rows) || took > time.Duration(test.trips)*latency {
				t.Fatalf("%v after %s and %v", err, took, delivered)
			}
			if len(s.asked) > test.requests || s.most > defaultWindow {
				t.Errorf("%d requests, %d at once: %v", len(s.asked), s.most, s.asked)
			}
		})
	}
}

// TestPrefetch_NothingIsLeftBehind ends walks in every way, at every page, while others are under way. A walk that does
// not cancel them, or not wait for them, leaves goroutines, requests and open bodies.
func TestPrefetch_NothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	ends := map[string]func(s *list, cancel context.CancelCauseFunc) (more bool){
		"break":  func(*list, context.CancelCauseFunc) bool { return false },
		"panic":  func(*list, context.CancelCauseFunc) bool { panic(stop) },
		"exit":   func(*list, context.CancelCauseFunc) bool { runtime.Goexit(); return false },
		"cancel": func(_ *list, cancel context.CancelCauseFunc) bool { cancel(stop); return true },
		"failure": func(s *list, _ context.CancelCauseFunc) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.status = func(int, int) int { return 500 }
			return true
		},
		"the end": func(*list, context.CancelCauseFunc) bool { return true },
	}
	for name, end := range ends {
		for at := range 25 {
			synctest.Test(t, func(t *testing.T) {
				s := slowly(20 * pageSize)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				began := time.Now()
				var body sync.WaitGroup
				body.Go(func() {
					defer func() { _ = recover() }()
					page := 0
					for _, err := range s.client(t).Transactions.Pages(ctx, options(shipping.Walk{})) {
						if page++; page == at+1 {
							began = time.Now()
						}
						if err != nil || page == at+1 && !end(s, cancel) {
							return
						}
					}
				})
				body.Wait()
				if took := time.Since(began); at < 20 && took > 0 &&
					slices.Contains([]string{"break", "panic", "exit", "cancel"}, name) {
					t.Errorf("%s at page %d took %s more", name, at+1, took)
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.inFlight != 0 || s.open != 0 {
					t.Errorf("%s at page %d left %d requests and %d open bodies", name, at+1, s.inFlight, s.open)
				}
			})
		}
	}
}

// TestPrefetch_AFailureAheadIsForgivenWhenItsTurnComes: it may be over by then. A walk that kept the error of a page
// would end although the service responds again.
func TestPrefetch_AFailureAheadIsForgivenWhenItsTurnComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := slowly(20 * pageSize)
		s.status = func(page, n int) int {
			if page > 1 && n == 1 {
				return 500
			}
			return 0
		}
		delivered, err := s.walk(t, shipping.Walk{})
		if err != nil || !slices.Equal(delivered, s.rows) {
			t.Fatalf("delivered %v and %v", delivered, err)
		}
	})
}

// A panic or runtime.Goexit, such as t.FailNow, in user code that runs while a page is fetched ahead ends the goroutine
// that ranges: a panic with its value. On a goroutine of the client it would end the process.
func TestPrefetch_ACallbackThatEndsReachesTheCaller(t *testing.T) {
	failure := errors.New("the callback failed")
	for name, end := range map[string]struct {
		interrupt func()
		value     any // of the panic
	}{"panic": {func() { panic(failure) }, failure}, "exit": {runtime.Goexit, nil}} {
		for _, window := range []int{1, defaultWindow} {
			t.Run(fmt.Sprintf("%s, window %d", name, window), func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				s := newList(20 * pageSize)
				s.latency = func(page, _ int) time.Duration {
					if page == 3 {
						end.interrupt()
					}
					return 0
				}
				var caller sync.WaitGroup
				caller.Go(func() {
					defer func() {
						if value := recover(); value != end.value {
							t.Errorf("recovered %v, want %v", value, end.value)
						}
					}()
					_, err := s.walk(t, shipping.Walk{Window: window})
					t.Errorf("the walk ended with %v", err)
				})
				caller.Wait()
				if s.inFlight != 0 || len(s.asked) > 2+window {
					t.Errorf("%d requests in flight, pages asked for: %v", s.inFlight, s.asked)
				}
			})
		}
	}
}

// Page 2 panics when the other pages are under way and the caller handles page 1. The panic is not lost if the caller
// then leaves the loop, and those pages are cancelled. A walk that only repeated the panic of the page whose turn it is
// would lose it.
func TestPrefetch_APanicAheadIsNotLostByABreak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := slowly(20 * pageSize)
		failure := errors.New("the transport failed")
		s.latency = func(page, _ int) time.Duration {
			if page == 2 {
				panic(failure)
			}
			return time.Duration(page) * time.Second
		}
		defer func() {
			if value := recover(); value != failure {
				t.Errorf("recovered %v, want the value of the transport's panic", value)
			}
			shippingtest.Diff(t, "requests in flight", 0, s.inFlight)
		}()
		for _, err := range s.client(t).Transactions.Pages(t.Context(), options(shipping.Walk{})) {
			shippingtest.NoError(t, err)
			synctest.Wait()
			break
		}
		t.Error("the loop ended without a panic")
	})
}
