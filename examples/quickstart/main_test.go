package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

func TestQuickstartNeedsNoSetUp(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, strings.NewReader(""), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"250 countries", "rates walked", "Purchased once:", "Completed: CUSTOMS, FDA",
		"Our receiver got it: shipment.created", "signature valid",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the story does not say %q:\n%s", want, &out)
		}
	}
	counts := regexp.MustCompile(`has (\d+) transactions(?s:.*) (\d+) transactions now`).FindStringSubmatch(out.String())
	if len(counts) != 3 {
		t.Fatalf("no count of transactions:\n%s", &out)
	}
	before, _ := strconv.Atoi(counts[1])
	if after, _ := strconv.Atoi(counts[2]); after != before+1 {
		t.Errorf("%d transactions before the purchase, %d after", before, after)
	}
}

func TestQuickstartAsksBeforeItSpendsElsewhere(t *testing.T) {
	for _, tc := range []struct {
		name, answer string
		args         []string
		purchases    int
		says         string
	}{
		{"no answer", "", nil, 0, "nothing was purchased"},
		{"no", "n\n", nil, 0, "nothing was purchased"},
		{"yes", "y\n", nil, 1, "Purchased once:"},
		{"told before", "", []string{"-yes"}, 1, "Purchased once:"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := mockserver.New(mockserver.WithAssumptions(func(a *mockserver.Assumptions) { a.GenerationScale = -1 }))
			defer server.Close()
			t.Setenv(shipping.EnvBaseURL, server.URL)
			t.Setenv(shipping.EnvSecretKey, server.SecretKey)
			args := append([]string{"-wallet", server.Wallets()[0], "-shipment", server.Shipments()[0]}, tc.args...)
			var out bytes.Buffer
			if err := run(t.Context(), args, strings.NewReader(tc.answer), &out); err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			if got := server.Calls(shipping.OpPurchase); got != tc.purchases || !strings.Contains(out.String(), tc.says) {
				t.Errorf("%d purchases, want %d, and %q in:\n%s", got, tc.purchases, tc.says, &out)
			}
			if !strings.Contains(out.String(), "skipped: name one with -invoice") {
				t.Errorf("what was not named is not skipped:\n%s", &out)
			}
		})
	}
}

func TestQuickstartEndsCleanly(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	ended, end := context.WithCancel(t.Context())
	end()
	if err := run(ended, nil, strings.NewReader(""), &bytes.Buffer{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, strings.NewReader(""), &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-shipment") {
		t.Errorf("help: %v\n%s", err, &help)
	}
	t.Setenv(shipping.EnvBaseURL, "https://api.example")
	t.Setenv(shipping.EnvSecretKey, "")
	if err := run(t.Context(), nil, strings.NewReader(""), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), shipping.EnvSecretKey) {
		t.Errorf("without a key: %v", err)
	}
}
