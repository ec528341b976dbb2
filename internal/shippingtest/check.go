package shippingtest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
)

// The heap of a test is small, and most of it is garbage. A quarter of the time of the tests was spent on its
// collection.
func init() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(512 << 20)
}

// Diff reports how got differs from want, field by field.
func Diff(t testing.TB, what string, want, got any) {
	t.Helper()
	exact := cmp.Comparer(func(a, b shipping.Amount) bool { return a == b })
	if d := cmp.Diff(want, got, exact); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// NoError ends the test if err is an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must returns a function that returns value, or ends the test if err is not nil, as in Must(srv.Open(key))(t).
func Must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		NoError(t, err)
		return value
	}
}

// Err returns the error of a call.
func Err[T any](_ T, err error) error { return err }

// Contains reports the parts that a text, or the message of an error, does not contain.
func Contains(t testing.TB, what string, text any, parts ...string) {
	t.Helper()
	whole := fmt.Sprintf("%s", text)
	for _, part := range parts {
		if !strings.Contains(whole, part) {
			t.Errorf("%s: %q is not in %s", what, part, whole)
		}
	}
}

// WantError reports the sentinels that err is not.
func WantError(t testing.TB, what string, err error, sentinels ...error) {
	t.Helper()
	for _, sentinel := range sentinels {
		if !errors.Is(err, sentinel) {
			t.Errorf("%s: error %v is not %q", what, err, sentinel)
		}
	}
}

// WantErrorWith reports that err is not the sentinel, and the parts that its message does not contain.
func WantErrorWith(t testing.TB, what string, err, sentinel error, parts ...string) {
	t.Helper()
	WantError(t, what, err, sentinel)
	Contains(t, what, err, parts...)
}

func ErrorIn(t testing.TB, err error) *shipping.Error {
	t.Helper()
	failure, ok := errors.AsType[*shipping.Error](err)
	if !ok {
		t.Fatalf("%v holds no *Error", err)
	}
	return failure
}

func Amount(t testing.TB, text string) shipping.Amount {
	t.Helper()
	return Must(shipping.ParseAmount(text))(t)
}

// EachRow runs check with each row of a table, as a parallel subtest.
func EachRow[Row any](t *testing.T, rows map[string]Row, check func(t *testing.T, row Row)) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, row)
		})
	}
}

// EachInBubble is EachRow with each subtest in a bubble of synctest.
func EachInBubble[Row any](t *testing.T, rows map[string]Row, check func(t *testing.T, row Row)) {
	t.Helper()
	EachRow(t, rows, func(t *testing.T, row Row) {
		synctest.Test(t, func(t *testing.T) { check(t, row) })
	})
}
