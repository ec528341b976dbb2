package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// span is what the exporter writes of one, as far as these tests look.
type span struct {
	Name        string
	SpanContext struct{ TraceID, SpanID string }
	Parent      struct{ SpanID string }
	Attributes  []struct {
		Key   string
		Value struct{ Value any }
	}
	Events []struct{ Name string }
	Status struct{ Code, Description string }
}

func (s span) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return fmt.Sprint(a.Value.Value)
		}
	}
	return ""
}

// spans reads the lines that are spans, in the order in which they ended.
func spans(t *testing.T, out string) (all []span) {
	t.Helper()
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var s span
		if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if s.Name != "" { // metrics have none
			all = append(all, s)
		}
	}
}

// serve starts a server that the environment names.
func serve(t *testing.T) *mockserver.Server {
	t.Helper()
	server := mockserver.New()
	t.Cleanup(server.Close)
	t.Setenv(shipping.EnvBaseURL, server.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	return server
}

func TestACallIsASpanAndItsAttemptsAreItsChildren(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-json"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	all := spans(t, out.String())
	calls, children := map[string]span{}, map[string][]string{} // by operation; statuses by the span's id
	for _, s := range all {
		if s.SpanContext.TraceID != all[0].SpanContext.TraceID {
			t.Errorf("%s is in another trace", s.Name)
		}
		if s.attribute("shipping.operation") != "" {
			calls[s.Name] = s
		}
		children[s.Parent.SpanID] = append(children[s.Parent.SpanID], s.attribute("http.response.status_code"))
	}
	for operation, want := range map[string]struct{ attempts, failure string }{
		shipping.OpListRates:        {"[503 200]", ""},
		shipping.OpListTransactions: {"[200]", ""},
		shipping.OpGetRequest:       {"[404]", "not_found"},
	} {
		call := calls[operation]
		attempts := children[call.SpanContext.SpanID]
		if fmt.Sprint(attempts) != want.attempts || call.attribute("shipping.attempts") != fmt.Sprint(len(attempts)) {
			t.Errorf("%s: attempts %v, want %s; the span: %+v", operation, attempts, want.attempts, call)
		}
		if call.attribute("error.type") != want.failure || (call.Status.Code == "Error") != (want.failure != "") {
			t.Errorf("%s: want the failure %q in %+v", operation, want.failure, call)
		}
	}
	if events := calls[shipping.OpListRates].Events; len(events) != 1 || events[0].Name != "repeat" {
		t.Errorf("the wait before the repeat left %+v", events)
	}
	for _, metric := range []string{"shipping.call.duration", "http.client.request.duration"} {
		if !strings.Contains(out.String(), `"Name":"`+metric+`"`) {
			t.Errorf("no %s in\n%s", metric, &out)
		}
	}
}

// The output is a table that fits on a screen, not lines of JSON of several kilobytes.
func TestTheTableFitsOnAScreen(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if len(line) > 110 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	if len(lines) > 24 {
		t.Errorf("%d lines", len(lines))
	}
	for _, want := range []string{
		`nightly job .*\n  rates.list .* 2 attempts .*/rates\n    HTTP GET .* 503 *\n    HTTP GET .* 200 *\n  transactions.list`,
		`\n  regulatory.get .* not_found .*\n    HTTP GET .* 404 *\n`,
		`http.client.request.duration +GET 200 .* 2 *\nhttp.client.request.duration +GET 404`,
		`shipping.call.duration +rates.list .* 1 *\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
}

func TestNoKeyNoQueryAndNoBodyIsTold(t *testing.T) {
	for name, injected := range map[string]fault.Fault{
		"all is well":            {},
		"the key is refused":     fault.Status(http.StatusUnauthorized, nil),
		"connections break":      fault.Drop(),
		"the answer is not ours": fault.HTML(http.StatusOK),
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t)
			if !injected.IsZero() {
				if err := server.Inject(fault.Rule{Operation: shipping.OpListTransactions, Fault: injected}); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			err := run(t.Context(), []string{"-json", "-wallet", server.Wallets()[0]}, &out)
			if (err == nil) != injected.IsZero() {
				t.Errorf("the run: %v", err)
			}
			if len(spans(t, out.String())) < 4 {
				t.Errorf("too few spans in\n%s", &out)
			}
			half := server.SecretKey[:len(server.SecretKey)/2]
			for _, secret := range []string{half, "Bearer", "Authorization", server.Wallets()[0], "?"} {
				if strings.Contains(out.String(), secret) {
					t.Errorf("%q stands in\n%s", secret, &out)
				}
			}
		})
	}
}

func TestAnInterruptedRunStillTellsWhatItMeasured(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}))
	defer service.Close()
	t.Setenv(shipping.EnvBaseURL, service.URL)
	t.Setenv(shipping.EnvSecretKey, "sk_test_1")
	var out bytes.Buffer
	if err := run(ctx, []string{"-json"}, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("the run: %v", err)
	}
	if all := spans(t, out.String()); len(all) != 3 || all[1].attribute("error.type") != "canceled" {
		t.Errorf("the spans: %+v", all)
	}
	if !strings.Contains(out.String(), "shipping.call.duration") {
		t.Errorf("no metrics in\n%s", &out)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	serve(t)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "-wallet") {
		t.Errorf("help: %v\n%s", err, &out)
	}
	t.Setenv(shipping.EnvSecretKey, "")
	if err := run(t.Context(), nil, &out); err == nil || !strings.Contains(err.Error(), shipping.EnvSecretKey) {
		t.Errorf("without a key: %v", err)
	}
}
