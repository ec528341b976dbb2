package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

var rules = []rule{
	{"an id is claimed once", []step{
		claim("a", "one", webhook.Claimed),
		claim("a", "two", webhook.Pending),
		claim("b", "two", webhook.Claimed),
	}},
	{"a claim may be repeated", []step{
		claim("a", "one", webhook.Claimed),
		claim("a", "one", webhook.Claimed),
		claim("a", "two", webhook.Pending),
	}},
	{"an accepted id is remembered", []step{
		claim("a", "one", webhook.Claimed),
		accept("a", "one"),
		claim("a", "two", webhook.Accepted),
		claim("a", "one", webhook.Accepted),
		claim("b", "two", webhook.Claimed),
	}},
	{"accepting may be repeated", []step{
		claim("a", "one", webhook.Claimed),
		accept("a", "one"),
		accept("a", "one"),
		accept("a", "two"),
		claim("a", "two", webhook.Accepted),
	}},
	{"a released id can be claimed", []step{
		claim("a", "one", webhook.Claimed),
		release("one"),
		release("one"),
		claim("a", "two", webhook.Claimed),
		accept("a", "two"),
		claim("a", "three", webhook.Accepted),
	}},
	{"an accepted id stays accepted when it is released", []step{
		claim("a", "one", webhook.Claimed),
		accept("a", "one"),
		release("one"),
		claim("a", "two", webhook.Accepted),
	}},
	{"another claim releases nothing", []step{
		claim("a", "one", webhook.Claimed),
		release("two"),
		claim("a", "two", webhook.Pending),
	}},
	{"another claim accepts nothing", []step{
		claim("a", "one", webhook.Claimed),
		acceptLost("a", "two"),
		claim("a", "three", webhook.Pending),
		release("one"),
		claim("a", "three", webhook.Claimed),
	}},
	{"an id without a claim can be accepted", []step{ // its claim has ended
		accept("a", "one"),
		claim("a", "two", webhook.Accepted),
	}},
	{"a claim without a text is a claim", []step{
		claim("a", "", webhook.Claimed),
		claim("a", "one", webhook.Pending),
		release(""),
		claim("a", "one", webhook.Claimed),
	}},
	{"a claim without a text is not that of an accepted id", []step{
		accept("a", "one"),
		release(""),
		claim("a", "", webhook.Accepted),
		accept("a", ""),
		claim("a", "", webhook.Accepted),
	}},
	{"an id without a claim can be released", []step{
		release("one"),
		claim("a", "two", webhook.Claimed),
	}},
	{"any text is an id", odd()},
	{"of many claims at once one succeeds", []step{atOnce}},
	{"an id has one claim at a time, and is accepted once", []step{oneClaim}},
}

var leaseRules = []rule{
	{"an expired claim can be taken over, and its end changes nothing", []step{
		claim("a", "one", webhook.Claimed),
		claim("a", "two", webhook.Pending),
		taken("a", "two"),
		acceptLost("a", "one"),
		release("one"),
		claim("a", "three", webhook.Pending),
		accept("a", "two"),
		claim("a", "three", webhook.Accepted),
	}},
	{"an expired claim without a successor can still be accepted", []step{
		claim("a", "one", webhook.Claimed),
		claim("b", "one", webhook.Claimed), // later, so that a's claim ends first
		taken("b", "two"),
		accept("a", "one"),
		claim("a", "two", webhook.Accepted),
	}},
	{"an accepted id outlasts its claim", []step{
		claim("a", "one", webhook.Claimed),
		accept("a", "one"),
		claim("b", "one", webhook.Claimed),
		taken("b", "two"),
		claim("a", "two", webhook.Accepted),
	}},
}

// odd distinguishes ids that a header can carry, however long, unusual or similar.
func odd() (steps []step) {
	ids := []string{
		"", " ", "a", "A", "a ", "a:b", "a/b", "{a}b", "{a}c", "%s", "a'; --", `"\`, "a\x00b", "a\x00c", "\xff", "\xfe", "ł", "l",
		strings.Repeat("x", 10_000), strings.Repeat("x", 10_000) + "y",
	}
	for _, id := range ids {
		steps = append(steps, claim(id, "one", webhook.Claimed))
	}
	for _, id := range ids {
		steps = append(steps, claim(id, "two", webhook.Pending), accept(id, "one"), claim(id, "two", webhook.Accepted))
	}
	return steps
}

// atOnce has many claims at the same moment, over a few ids.
func atOnce(ctx context.Context, store webhook.Store) error {
	const ids, claims = 10, 16
	var wrong errorList
	for n := range ids {
		id := fmt.Sprint("id ", n)
		var claimed atomic.Int32
		together(claims, func(by string) {
			switch got, err := store.Claim(ctx, id, by); {
			case err != nil:
				wrong.add(wrap(err, "Claim", id, by))
			case got == webhook.Claimed:
				claimed.Add(1)
			case got != webhook.Pending:
				wrong.add(wrap(fmt.Errorf("is %s, want Claimed or Pending", stateName(got)), "Claim", id, by))
			}
		})
		if n := claimed.Load(); n != 1 {
			wrong.add(fmt.Errorf("of %d claims of %q at once %d succeeded, want 1", claims, id, n))
		}
	}
	return wrong.err()
}

// oneClaim claims an id from many goroutines, which fail a few times and then succeed.
func oneClaim(ctx context.Context, store webhook.Store) error {
	const failures = 20
	var wrong errorList
	var holders, handled atomic.Int32
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // for a store that never gives back
	defer cancel()
	take := func(by string) (bool, error) {
		switch got, err := store.Claim(ctx, "a", by); {
		case err != nil:
			return false, wrap(err, "Claim", "a", by)
		case got != webhook.Claimed:
			return got == webhook.Accepted, nil
		}
		if holders.Add(1) != 1 {
			return false, fmt.Errorf("%q is given the id while another has it", by)
		}
		fails := handled.Add(1) <= failures
		holders.Add(-1)
		if fails {
			return false, release(by)(ctx, store)
		}
		return false, accept("a", by)(ctx, store)
	}
	together(8, func(by string) {
		for turn := 0; ctx.Err() == nil; turn++ { // each turn is a delivery with its own claim
			done, err := take(fmt.Sprint(by, ", turn ", turn))
			if err != nil {
				wrong.add(err)
				cancel()
			}
			if done {
				return
			}
		}
	})
	if n := handled.Load(); n != failures+1 {
		wrong.add(fmt.Errorf("handled %d times, want %d: %d that fail and one that does not", n, failures+1, failures))
	}
	return wrong.err()
}

// together runs do as often at the same time, each with a name.
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

// errorList is what goroutines found wrong.
type errorList struct {
	mu   sync.Mutex
	list []error
}

func (l *errorList) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, err)
}

func (l *errorList) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.list...)
}
