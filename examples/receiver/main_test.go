package main

import (
	"bytes"
	"fmt"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"io"
	"strings"
	"testing"
)

// The demonstration has it all: a lost response, so that a notification comes twice, and notifications that come in
// the wrong order.
func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv("SHIPPING_SECRET_KEY", "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for want, lines := range map[string]int{
		"  SH-": 6, "late: older than the known state": 2, "\n6 notifications, each handled once. The server sent 7 " +
			"requests": 1,
	} {
		if got := strings.Count(out.String(), want); got != lines {
			t.Errorf("%q: %d times, want %d, in\n%s", want, got, lines, &out)
		}
	}
}

// Options without effect were ignored: a receiver with -budget bought nothing, and one without a key ran the
// demonstration.
func TestOptionsWithoutEffect(t *testing.T) {
	for _, test := range []struct {
		key, options, want string
	}{
		{"", "-addr 127.0.0.1:0", "SHIPPING_SECRET_KEY is not set"},
		{"sk_1", "-budget 1", "-budget does nothing without -buy"},
		{"sk_1", "-buy shop", "-buy needs -budget"},
	} {
		t.Setenv("SHIPPING_SECRET_KEY", test.key)
		err := run(t.Context(), strings.Fields(test.options), io.Discard, io.Discard)
		shippingtest.Contains(t, fmt.Sprintf("%q", test.options), err, test.want)
	}
}
