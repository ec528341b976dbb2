package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// The demonstration has it all: a lost response, so that a notification comes twice, and two that come in
// the wrong order.
func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv(shipping.EnvSecretKey, "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"older than the known state", "accepted before, ignored", "7 notifications: 4 news, 2 late, 1 repeated, 0 other, 0 lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// receiving is the program at work.
type receiving struct {
	url  string
	end  context.CancelFunc
	done chan error
	out  *bytes.Buffer // to be read when it is done
	log  *announcement
}

// announcement is the log; it passes on the address as soon as it is written.
type announcement struct {
	mu   sync.Mutex
	text bytes.Buffer
	url  chan string
}

func (a *announcement) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if url := regexp.MustCompile(`http://\S+[a-z]`).Find(p); url != nil && bytes.HasPrefix(p, []byte("Listening")) {
		a.url <- string(url)
	}
	return a.text.Write(p)
}

func (a *announcement) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.text.String()
}

// listening starts the program with keys from the environment.
func listening(t *testing.T, key, other string, args ...string) *receiving {
	t.Helper()
	t.Setenv(shipping.EnvSecretKey, key)
	t.Setenv(envPreviousKey, other)
	r := &receiving{done: make(chan error, 1), out: &bytes.Buffer{}, log: &announcement{url: make(chan string, 1)}}
	var ctx context.Context
	ctx, r.end = context.WithCancel(t.Context())
	go func() { r.done <- run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...), r.out, r.log) }()
	select {
	case r.url = <-r.log.url:
	case err := <-r.done:
		t.Fatalf("it does not listen: %v", err)
	}
	return r
}

// stopped ends the program as Ctrl-C does, and returns its output.
func (r *receiving) stopped(t *testing.T) string {
	t.Helper()
	r.end()
	if err := <-r.done; err != nil {
		t.Errorf("it did not end cleanly: %v", err)
	}
	return r.out.String()
}

// replayed has the server send its oldest deliveries to the program, and waits until they have ended.
func replayed(t *testing.T, server *mockserver.Server, url string, n int) []notify.Delivery {
	t.Helper()
	missed := server.Deliveries()
	id, err := server.AddWebhook(notify.Webhook{Name: "Receiver", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	var ended []notify.Delivery
	for _, delivery := range missed[len(missed)-n:] {
		result, err := server.Client(t).Webhooks.Replay(t.Context(), &shipping.ReplayRequest{DeliveryID: delivery.ID, WebhookID: id})
		if err != nil {
			t.Fatal(err)
		}
		d, err := server.WaitDelivery(t.Context(), result.DeliveryID)
		if err != nil {
			t.Fatal(err)
		}
		ended = append(ended, d)
	}
	return ended
}

func TestBothKeysAreAcceptedDuringARotation(t *testing.T) {
	for name, keys := range map[string]func(string) (string, string){
		"the present key":  func(key string) (string, string) { return key, "" },
		"the previous key": func(key string) (string, string) { return "sk_test_new", key },
	} {
		t.Run(name, func(t *testing.T) {
			server := mockserver.New()
			defer server.Close()
			key, other := keys(server.SecretKey)
			r := listening(t, key, other, "-json")
			for _, delivery := range replayed(t, server, r.url, 5) {
				if delivery.State != "delivered" {
					t.Errorf("%s is %s: %s", delivery.ID, delivery.State, delivery.Reason)
				}
			}
			lines := 0
			for decoder := json.NewDecoder(strings.NewReader(r.stopped(t))); ; lines++ {
				var l line
				if err := decoder.Decode(&l); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if l.Verdict == "lost" || l.ShipmentID == "" || l.ID == "" {
					t.Errorf("a line: %+v", l)
				}
			}
			if lines != 5 {
				t.Errorf("%d lines", lines)
			}
		})
	}
}

func TestAForgedNotificationIsRefusedAndLogged(t *testing.T) {
	r := listening(t, "sk_test_ours", "")
	body := `{"event":"shipment.delivered","data":{"shipment_id":"SH-1","status":"delivered"}}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(webhook.DefaultSignatureHeader, webhook.Sign("sk_test_theirs", []byte(body)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	out := r.stopped(t)
	if response.StatusCode != http.StatusUnauthorized || !strings.Contains(out, "0 notifications") || !strings.Contains(r.log.String(), "notification refused") {
		t.Errorf("%s, %s, log: %s", response.Status, out, r.log)
	}
	if strings.Contains(r.log.String(), "sk_test") {
		t.Errorf("a key is in the log: %s", r.log)
	}
}

func TestWhatIsNoShipmentIsPrintedToo(t *testing.T) {
	r := listening(t, "sk_test_ours", "")
	for range 2 { // the second is the same delivery again
		body := `{"event":"transaction.success","data":{"amount":136.0}}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(webhook.DefaultSignatureHeader, webhook.Sign("sk_test_ours", []byte(body)))
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Error(response.Status)
		}
	}
	if out := r.stopped(t); !strings.Contains(out, "2 notifications: 0 news, 0 late, 1 repeated, 1 other, 0 lost") {
		t.Errorf("it said\n%s", out)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	t.Setenv(shipping.EnvSecretKey, "sk_test_ours")
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &help, io.Discard); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), envPreviousKey) {
		t.Errorf("help: %v\n%s", err, &help)
	}
	t.Setenv(envPreviousKey, "sk_test_former\n")
	if err := run(t.Context(), nil, &help, io.Discard); err == nil || !strings.Contains(err.Error(), "trim it") {
		t.Errorf("a key as read from a file: %v", err)
	}
	t.Setenv(envPreviousKey, "")
	if err := run(t.Context(), []string{"-addr", "127.0.0.1:http-but-no-port"}, &help, io.Discard); err == nil || !strings.Contains(err.Error(), "-addr") {
		t.Errorf("no such address: %v", err)
	}
}

// A service that sends no identifiers in headers, and decides otherwise in everything but the signature, is received too.
func TestAServiceThatChoosesOtherwise(t *testing.T) {
	server := mockserver.New(mockserver.WithAssumptions(assumption.Contrary), mockserver.WithAssumptions(func(a *assumption.Set) { a.SHA256Signature = false }))
	defer server.Close()
	r := listening(t, server.SecretKey, "", "-json")
	for _, delivery := range replayed(t, server, r.url, 5) {
		if delivery.State != "delivered" {
			t.Errorf("%s is %s: %s", delivery.ID, delivery.State, delivery.Reason)
		}
	}
	if out := r.stopped(t); strings.Count(out, "\n") != 5 {
		t.Errorf("not 5 notifications:\n%s", out)
	}
}
