package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
)

func serve(t *testing.T, options ...mockserver.Option) *mockserver.Server {
	t.Helper()
	server := mockserver.New(append(options, mockserver.WithDialect(&dialect.Dialect{Time: dialect.Time{Generation: -1}}))...)
	t.Cleanup(server.Close)
	t.Setenv("SHIPPING_BASE_URL", server.URL)
	t.Setenv("SHIPPING_SECRET_KEY", server.SecretKey)
	return server
}

func listed(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shipments.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("SHIPPING_BASE_URL", "")
	t.Setenv("SHIPPING_SECRET_KEY", "")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-budget", "10000000 NGN"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"13 completed", "30 PDFs and report.csv"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	pdfs, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "compliance-*", "*.pdf"))
	if len(pdfs) != 30 {
		t.Errorf("%d PDFs", len(pdfs))
	}
}

// The program fails if an item did not complete, so that its exit code shows it. A service that decides otherwise where the
// specification leaves it open sells the same documents.
func TestItFailsIfItemsDoNotComplete(t *testing.T) {
	for name, tc := range map[string]struct {
		items   []string // besides two shipments of the service
		budget  string
		options []mockserver.Option
		message string // empty: exit 0
	}{
		"all complete":                     {nil, "1000000 NGN", nil, ""},
		"a service that chooses otherwise": {nil, "1000000 NGN", []mockserver.Option{mockserver.WithDialect(dialect.Contrary())}, ""},
		"one is not there":                 {[]string{"SH-NOSUCH"}, "1000000 NGN", nil, "1 of 3 items did not complete"},
		"none is in budget":                {nil, "0.01 NGN", nil, "no item completed: the budget has no room"},
	} {
		t.Run(name, func(t *testing.T) {
			server, folder := serve(t, tc.options...), t.TempDir()
			in := listed(t, append(tc.items, server.Shipments()[:2]...)...)
			var out bytes.Buffer
			err := run(t.Context(), []string{"-in", in, "-out", folder, "-budget", tc.budget, "-settle", "1s"}, &out)
			if (err != nil) != (tc.message != "") || err != nil && !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v, want %q\n%s", err, tc.message, &out)
			}
			pdfs, _ := filepath.Glob(filepath.Join(folder, "*.pdf"))
			if report, _ := os.ReadFile(filepath.Join(folder, "report.csv")); len(report) == 0 || (len(pdfs) == 0) != strings.HasPrefix(tc.message, "no item") {
				t.Errorf("%d PDFs, report:\n%s", len(pdfs), report)
			}
		})
	}
}

// Without a budget nothing is bought, and a later run with one continues from the same drafts.
func TestWithoutABudgetNothingIsBought(t *testing.T) {
	server := serve(t)
	args := []string{"-in", listed(t, server.Shipments()[:2]...), "-out", t.TempDir()}
	var out bytes.Buffer
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	if server.Requests(shipping.OpPurchase) != 0 || !strings.Contains(out.String(), "Nothing was bought") || strings.Count(out.String(), "would cost") != 2 {
		t.Errorf("%d purchases:\n%s", server.Requests(shipping.OpPurchase), &out)
	}
	if err := run(t.Context(), append(args, "-budget", "1000000 NGN"), &out); err != nil {
		t.Fatal(err)
	}
	if server.Requests(shipping.OpAnalyze) != 2 || server.Requests(shipping.OpPurchase) != 2 {
		t.Errorf("%d drafts and %d purchases of 2 shipments", server.Requests(shipping.OpAnalyze), server.Requests(shipping.OpPurchase))
	}
}

func TestBadListsAreExplained(t *testing.T) {
	t.Parallel()
	for content, message := range map[string]string{
		"":                       "write a shipment (SH-…) or the URL",
		"shipment_id\nSH-1\n":    `line 1: write one shipment (SH-…) or the URL of one invoice (https://…); it is "shipment_id"`,
		"SH-1\n\nINV-1\nINV-2\n": "line 4",
	} {
		if _, err := readItems(listed(t, content)); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v", content, err)
		}
	}
	items, err := readItems(listed(t, "\ufeff SH-1 \r", "\r", "https://x.example/a.pdf\r"))
	if err != nil || fmt.Sprint(items) != "[{ {SH-1 }} { { https://x.example/a.pdf}}]" {
		t.Errorf("a list as editors write it: %v, %v", items, err)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	server := serve(t)
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "buys nothing") {
		t.Errorf("help: %v\n%s", err, &help)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, tc := range map[string]struct {
		ctx     context.Context
		args    []string
		message string
	}{
		"a service but no list": {t.Context(), nil, "-in shipments.txt"},
		"no currency":           {t.Context(), []string{"-budget", "500"}, `such as "150.00 NGN"`},
		"interrupted":           {ended, []string{"-in", listed(t, server.Shipments()[0]), "-out", t.TempDir()}, "run the same command again"},
	} {
		if err := run(tc.ctx, tc.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
