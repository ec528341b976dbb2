package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func serve(t *testing.T, options ...mockserver.Option) *mockserver.Server {
	t.Helper()
	server := mockserver.New(options...)
	t.Cleanup(server.Close)
	t.Setenv(shipping.EnvBaseURL, server.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	return server
}

func list(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "missed.csv")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	report := filepath.Join(t.TempDir(), "report.jsonl")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-report", report}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"28 queued", "1 failed", "WD-NOSUCHDELIVERY00", "28 arrived at the shop, signed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if n := strings.Count(read(t, report), "\n"); n != 29 {
		t.Errorf("%d lines in the report", n)
	}
}

func TestADryRunSendsNothing(t *testing.T) {
	server := serve(t)
	in := list(t, "delivery_id,shipment_id,event", server.Deliveries()[0].ID+",,", ",SH-1,")
	var out bytes.Buffer
	err := run(t.Context(), []string{"-in", in, "-dry-run"}, &out)
	if err == nil || !strings.Contains(err.Error(), "1 of the list are invalid") || !strings.Contains(out.String(), "Event is empty") {
		t.Errorf("%v\n%s", err, &out)
	}
	if server.Requests(shipping.OpReplayWebhook) != 0 {
		t.Errorf("%d replays", server.Requests(shipping.OpReplayWebhook))
	}
	if _, err := os.Stat(in + ".report.jsonl"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dry run wrote a report: %v", err)
	}
}

// A run is interrupted, leaves a line cut off, and goes on: each notification is queued once.
func TestAnInterruptedRunGoesOn(t *testing.T) {
	server := serve(t)
	lines := []string{"\ufeffDelivery_ID, webhook_id"}
	for _, delivery := range server.Deliveries()[:12] {
		lines = append(lines, fmt.Sprintf(" %s ,%s", delivery.ID, delivery.WebhookID))
	}
	in := list(t, lines...)
	ctx, interrupt := context.WithCancel(t.Context())
	err := run(ctx, []string{"-in", in, "-concurrency", "1"}, &watcher{word: "of 12", then: interrupt})
	if err == nil || !strings.Contains(err.Error(), "run the same command again") {
		t.Fatalf("interrupted: %v", err)
	}
	report := in + ".report.jsonl"
	queued := strings.Count(read(t, report), `"state":"queued"`)
	if queued == 0 || queued == 12 {
		t.Fatalf("%d queued before the interruption", queued)
	}
	if err := os.WriteFile(report, []byte(read(t, report)+`{"key":"WD-CUT`), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-in", in}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if want := fmt.Sprintf("%5d queued\n%5d skipped", 12-queued, queued); !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
	if n := strings.Count(read(t, report), `"state":"queued"`); n != 12 {
		t.Errorf("%d queued by the report", n)
	}
}

// watcher calls a function when a text is written.
type watcher struct {
	word string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.word)) {
		w.then()
	}
	return len(p), nil
}

func TestWhatFailsIsTriedAgain(t *testing.T) {
	server := serve(t)
	deliveries := server.Deliveries()
	in := list(t, "delivery_id", deliveries[0].ID, deliveries[1].ID)
	if err := server.Inject(fault.Rule{Operation: shipping.OpReplayWebhook, Nth: 1, Fault: fault.Status(http.StatusBadGateway, nil)}); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"-in", in}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "0 failed and 1 got no response") {
		t.Errorf("a lost response: %v", err)
	}
	if err := run(t.Context(), []string{"-in", in}, &bytes.Buffer{}); err != nil {
		t.Errorf("the second run: %v", err)
	}
	if n := server.Requests(shipping.OpReplayWebhook); n != 3 {
		t.Errorf("%d replays, want 3", n)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	serve(t)
	if err := run(t.Context(), nil, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "-in missed.csv") {
		t.Errorf("a service but no list: %v", err)
	}
	t.Setenv(shipping.EnvSecretKey, "sk_test_wrong")
	in := list(t, "delivery_id", "WD-1", "WD-2")
	if err := run(t.Context(), []string{"-in", in, "-concurrency", "1"}, &bytes.Buffer{}); !errors.Is(err, shipping.ErrUnauthorized) {
		t.Errorf("a wrong key: %v", err)
	}
	for content, says := range map[string]string{
		"":                           "delivery_id, or shipment_id and event",
		"shipment_id,kind\nSH-1,x\n": `it is "shipment_id,kind"`,
		"delivery_id\n\"WD-1\n":      "extraneous or missing",
	} {
		path := filepath.Join(t.TempDir(), "list.csv")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), []string{"-in", path}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", content, err)
		}
	}
	report := filepath.Join(t.TempDir(), "report.jsonl")
	if err := os.WriteFile(report, []byte("{\"key\":\nrubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-in", in, "-report", report}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a damaged report: %v", err)
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-dry-run") {
		t.Errorf("help: %v\n%s", err, &help)
	}
}

// A service that decides otherwise where the specification leaves it open replays the same list.
func TestAServiceThatChoosesOtherwise(t *testing.T) {
	server := serve(t, mockserver.WithAssumptions(assumption.Contrary))
	in := list(t, "delivery_id", server.Deliveries()[0].ID, server.Deliveries()[1].ID, "WD-NOSUCH")
	var out bytes.Buffer
	err := run(t.Context(), []string{"-in", in}, &out)
	for _, want := range []string{"2 queued", "1 failed"} {
		if err == nil || !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s\n%v", want, &out, err)
		}
	}
}
