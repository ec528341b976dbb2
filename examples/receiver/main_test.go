package main

import (
	"bytes"
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
