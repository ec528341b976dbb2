package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// exported returns what the program exports.
func exported(ctx context.Context) (spans tracetest.SpanStubs, metrics metricdata.ResourceMetrics, err error) {
	exporter := tracetest.NewInMemoryExporter()
	metrics, err = observed(ctx, exporter)
	return exporter.GetSpans(), metrics, err
}

func TestACallIsASpanAndItsAttemptsAreItsChildren(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	t.Setenv(shipping.EnvSecretKey, "")
	spans, _, err := exported(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	attempts := map[string][]string{} // statuses by the span's id
	for _, s := range spans {
		if s.SpanContext.TraceID() != spans[0].SpanContext.TraceID() {
			t.Errorf("%s is in another trace", s.Name)
		}
		parent := s.Parent.SpanID().String()
		attempts[parent] = append(attempts[parent], values(s.Attributes, "http.response.status_code"))
	}
	want := map[string][3]string{ // attempts, failure, events
		shipping.OpListRates:  {"[503 200]", "", "retry"},
		shipping.OpGetRequest: {"[404]", "not_found", ""},
	}
	for _, s := range spans {
		call, ok := want[s.Name]
		if !ok {
			continue
		}
		delete(want, s.Name)
		events := ""
		for _, event := range s.Events {
			events += event.Name
		}
		children := attempts[s.SpanContext.SpanID().String()]
		if got := [3]string{fmt.Sprint(children), values(s.Attributes, "error.type"), events}; got != call || values(s.Attributes, "shipping.attempts") != fmt.Sprint(len(children)) {
			t.Errorf("%s: %q, want %q; the span: %+v", s.Name, got, call, s)
		}
	}
	if len(want) != 0 {
		t.Errorf("no span of %v", want)
	}
}

func TestTheTableShowsThemOnAScreen(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	t.Setenv(shipping.EnvSecretKey, "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`nightly job .*\n  rates.list .* ok, 2 attempts .*/rates\n    HTTP GET .* 503 *\n    HTTP GET .* 200 *\n  regulatory.get .* not_found .*\n    HTTP GET .* 404 *\n`,
		`http.client.request.duration +GET 200 .* 1 *\nhttp.client.request.duration +GET 404`,
		`shipping.call.duration +rates.list .* 1 *\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
}

func TestNoKeyNoQueryAndNoBodyIsExported(t *testing.T) {
	for name, injected := range map[string]fault.Fault{
		"all is well":          {},
		"the key is refused":   fault.Status(http.StatusUnauthorized, nil),
		"a page of a gateway":  fault.HTML(http.StatusOK),
		"the connection ended": fault.Truncate(40),
	} {
		t.Run(name, func(t *testing.T) {
			server := mockserver.New()
			defer server.Close()
			t.Setenv(shipping.EnvBaseURL, server.URL)
			t.Setenv(shipping.EnvSecretKey, server.SecretKey)
			if !injected.IsZero() {
				if err := server.Inject(fault.Rule{Operation: shipping.OpListRates, Nth: 1, Fault: injected}); err != nil {
					t.Fatal(err)
				}
			}
			spans, metrics, _ := exported(t.Context()) // a failed run exports too
			if len(spans) < 3 || len(metrics.ScopeMetrics) == 0 {
				t.Errorf("%d spans, metrics %+v", len(spans), metrics)
			}
			all := fmt.Sprintf("%+v %+v", spans, metrics)
			for _, secret := range []string{server.SecretKey[:len(server.SecretKey)/2], "Bearer", "Authorization", "perPage"} {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in\n%s", secret, all)
				}
			}
		})
	}
}

func TestAnInterruptedRunStillExports(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interrupt()
		<-r.Context().Done()
	}))
	defer service.Close()
	t.Setenv(shipping.EnvBaseURL, service.URL)
	t.Setenv(shipping.EnvSecretKey, "sk_test_1")
	spans, metrics, err := exported(ctx)
	if !errors.Is(err, context.Canceled) || len(spans) != 3 || values(spans[1].Attributes, "error.type") != "canceled" || len(metrics.ScopeMetrics) == 0 {
		t.Errorf("%v, spans %+v, metrics %+v", err, spans, metrics)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "no flags") {
		t.Errorf("help: %v\n%s", err, &out)
	}
	t.Setenv(shipping.EnvBaseURL, "https://api.example")
	t.Setenv(shipping.EnvSecretKey, "")
	if err := run(t.Context(), nil, &out); err == nil || !strings.Contains(err.Error(), shipping.EnvSecretKey) {
		t.Errorf("without a key: %v", err)
	}
}
