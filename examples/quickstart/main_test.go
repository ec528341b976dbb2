package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestQuickstartNeedsNoSetUp(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"250 countries", "250 rates", "Purchased the automated ones, once: CUSTOMS FDA", "5 of 5 documents, completed",
		"success  Regulatory documents for RD-", "signature valid: true",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
