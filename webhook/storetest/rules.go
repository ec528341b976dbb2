package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

var rules = []rule{
	{"an id is claimed once", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.claim("a", "two", webhook.Pending)
		s.claim("b", "two", webhook.Claimed)
	}},
	{"a claim may be repeated", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.claim("a", "one", webhook.Claimed)
		s.claim("a", "two", webhook.Pending)
	}},
	{"an accepted id is remembered", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.accept("a", "one")
		s.claim("a", "two", webhook.Accepted)
		s.claim("a", "one", webhook.Accepted)
		s.claim("b", "two", webhook.Claimed)
	}},
	{"accepting may be repeated", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.accept("a", "one")
		s.accept("a", "one")
		s.accept("a", "two")
		s.claim("a", "two", webhook.Accepted)
	}},
	{"a released id can be claimed", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.release("one")
		s.release("one")
		s.claim("a", "two", webhook.Claimed)
		s.accept("a", "two")
		s.claim("a", "three", webhook.Accepted)
	}},
	{"an accepted id stays accepted when it is released", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.accept("a", "one")
		s.release("one")
		s.claim("a", "two", webhook.Accepted)
	}},
	{"another claim releases nothing", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.release("two")
		s.claim("a", "two", webhook.Pending)
	}},
	{"another claim accepts nothing", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.acceptLost("a", "two")
		s.claim("a", "three", webhook.Pending)
		s.release("one")
		s.claim("a", "three", webhook.Claimed)
	}},
	{"an id without a claim can be accepted", func(s store) { // its claim has ended
		s.accept("a", "one")
		s.claim("a", "two", webhook.Accepted)
	}},
	{"a claim without a text is a claim", func(s store) {
		s.claim("a", "", webhook.Claimed)
		s.claim("a", "one", webhook.Pending)
		s.release("")
		s.claim("a", "one", webhook.Claimed)
	}},
	{"a claim without a text is not that of an accepted id", func(s store) {
		s.accept("a", "one")
		s.release("")
		s.claim("a", "", webhook.Accepted)
		s.accept("a", "")
		s.claim("a", "", webhook.Accepted)
	}},
	{"an id without a claim can be released", func(s store) {
		s.release("one")
		s.claim("a", "two", webhook.Claimed)
	}},
	{"any text is an id", odd},
	{"of many claims at once one succeeds", atOnce},
	{"an id has one claim at a time, and is accepted once", oneClaim},
}

var leaseRules = []rule{
	{"an expired claim can be taken over, and its end changes nothing", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.claim("a", "two", webhook.Pending)
		s.taken("a", "two")
		s.acceptLost("a", "one")
		s.release("one")
		s.claim("a", "three", webhook.Pending)
		s.accept("a", "two")
		s.claim("a", "three", webhook.Accepted)
	}},
	{"an expired claim without a successor can still be accepted", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.claim("b", "one", webhook.Claimed) // later, so that a's claim ends first
		s.taken("b", "two")
		s.accept("a", "one")
		s.claim("a", "two", webhook.Accepted)
	}},
	{"an accepted id outlasts its claim", func(s store) {
		s.claim("a", "one", webhook.Claimed)
		s.accept("a", "one")
		s.claim("b", "one", webhook.Claimed)
		s.taken("b", "two")
		s.claim("a", "two", webhook.Accepted)
	}},
}

// odd distinguishes ids that a header can carry, however long, unusual or similar.
func odd(s store) {
	ids := []string{
		"", " ", "a", "A", "a ", "a:b", "a/b", "{a}b", "{a}c", "%s", "a'; --", `"\`, "a\x00b", "a\x00c", "\xff", "\xfe",
		"ł", "l",
		strings.Repeat("x", 10_000), strings.Repeat("x", 10_000) + "y",
	}
	for _, id := range ids {
		s.claim(id, "one", webhook.Claimed)
	}
	for _, id := range ids {
		s.claim(id, "two", webhook.Pending)
		s.accept(id, "one")
		s.claim(id, "two", webhook.Accepted)
	}
}

// atOnce makes many claims of a few ids at the same moment.
func atOnce(s store) {
	const ids, claims = 10, 16
	for n := range ids {
		id := fmt.Sprint("id ", n)
		var claimed atomic.Int32
		together(claims, func(by string) {
			switch got, err := s.Claim(s.t.Context(), id, by); {
			case err == nil && got == webhook.Claimed:
				claimed.Add(1)
			case err != nil || got != webhook.Pending:
				s.t.Errorf("Claim(%q, %q) is %s, %v; want Claimed or Pending", id, by, stateName(got), err)
			}
		})
		if n := claimed.Load(); n != 1 {
			s.t.Errorf("of %d claims of %q at once %d succeeded, want 1", claims, id, n)
		}
	}
}

// oneClaim claims an id from many goroutines, which fail a few times and then succeed.
func oneClaim(s store) {
	const failures = 20
	var holders, handled atomic.Int32
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute) // in case the store never releases
	defer cancel()
	take := func(by string) (done bool, err error) {
		switch got, err := s.Claim(ctx, "a", by); {
		case err != nil || got != webhook.Claimed:
			return got == webhook.Accepted, err
		}
		if holders.Add(1) != 1 {
			return false, fmt.Errorf("%q is given the id while another has it", by)
		}
		fails := handled.Add(1) <= failures
		holders.Add(-1)
		if fails {
			return false, s.Release(ctx, "a", by)
		}
		return false, s.Accept(ctx, "a", by)
	}
	together(8, func(by string) {
		for turn := 0; ctx.Err() == nil; turn++ { // each turn is a delivery with its own claim
			done, err := take(fmt.Sprint(by, ", turn ", turn))
			if err != nil {
				s.t.Errorf("%s: %v", by, err)
				cancel()
			}
			if done {
				return
			}
		}
	})
	if n := handled.Load(); n != failures+1 {
		s.t.Errorf("handled %d times, want %d: %d that fail and one that does not", n, failures+1, failures)
	}
}

// together runs do several times at once, each with a name.
func together(times int, do func(by string)) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for n := range times {
		all.Go(func() {
			<-begin
			do(fmt.Sprint("claim ", n))
		})
	}
	close(begin)
	all.Wait()
}
