package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// serve is a reference server whose answers are changed on the way.
func serve(t *testing.T, change ...string) *mockserver.Server {
	t.Helper()
	server := mockserver.New()
	t.Cleanup(server.Close)
	changes := strings.NewReplacer(change...)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding") // the body to change must be readable
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		body := changes.Replace(answer.Body.String())
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(answer.Code)
		_, _ = w.Write([]byte(body)) // a caller that is gone needs no response
	}))
	t.Cleanup(front.Close)
	t.Setenv(shipping.EnvBaseURL, front.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	return server
}

func TestTheReferenceServerIsAsDocumented(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-pages", "5"}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"rates.list            250 records, as documented", "countries.list        250", "regulatory.analyze    1 record"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestWhatDiffersIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		change  []string
		message string
		fails   bool
	}{
		"a field too many": {[]string{`"rate_id":`, `"domain":"x","rate_id":`}, "unknown data.rates[].domain: string (100 times)", false},
		"a field missing":  {[]string{`"carrier_slug":`, `"carrier":`}, "missing data.rates[].carrier_slug (100 times)", true},
		"of another type":  {[]string{`"latitude":"`, `"latitude":["x"],"was":"`}, "type data[].latitude", true},
		"of an assumption": {[]string{`"document_type":`, `"kind":`}, "missing data.available_documents[].document_type", false},
		// The client accepts a draft inside data.request, so the program does not fail.
		"a draft in data.request": {[]string{`"data":{"request_id":`, `"data":{"request":{"request_id":`, `Z"}}`, `Z"}}}`}, "regulatory.analyze    1 record, as documented", false},
		"a draft without ids":     {[]string{`"request_id":`, `"id":`}, "missing data.request_id", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, tc.change...)
			var out bytes.Buffer
			err := run(t.Context(), []string{"-shipment", server.Shipments()[0], "-wallet", server.Wallets()[0]}, &out)
			if (err != nil) != tc.fails || !strings.Contains(out.String(), tc.message) {
				t.Errorf("%v, want %q in\n%s", err, tc.message, &out)
			}
			if tc.fails && !strings.Contains(err.Error(), "falls short") {
				t.Errorf("the error: %v", err)
			}
			if server.Requests(shipping.OpPurchase) != 0 {
				t.Error("it bought something")
			}
		})
	}
}

func TestJSONForANightlyJob(t *testing.T) {
	serve(t, `"rate_id":`, `"domain":"x","rate_id":`)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-json", "-pages", "2"}, &out); err != nil {
		t.Fatal(err)
	}
	var results []result
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		t.Fatal(err)
	}
	want := result{Operation: shipping.OpListRates, Records: 200, Findings: []finding{{"data.rates[].domain", shipping.DriftUnknown, "string", 200, false}}}
	if d := cmp.Diff(want, results[0]); d != "" {
		t.Errorf("rates (-want +got):\n%s", d)
	}
	if results[3].Skipped == "" || results[4].Skipped == "" {
		t.Errorf("an operation without its flag is not skipped: %+v", results[3:])
	}
}

func TestOneFailureDoesNotHideTheOthers(t *testing.T) {
	server := serve(t)
	if err := server.Inject(fault.Rule{Operation: shipping.OpListCountries, Fault: fault.Status(http.StatusForbidden, nil)}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(t.Context(), nil, &out)
	if err == nil || !strings.Contains(err.Error(), "operations that failed: 1") || !strings.Contains(out.String(), "webhooks.list         100 records, as documented") {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	serve(t)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &out); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out.String(), "-invoice") {
		t.Errorf("help: %v\n%s", err, &out)
	}
	if err := run(t.Context(), []string{"-pages", "0"}, &out); err == nil || !strings.Contains(err.Error(), "-pages") {
		t.Errorf("no pages: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := run(ended, nil, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A service that decides otherwise where the specification leaves it open is as documented, and the report shows what
// differs from the assumptions.
func TestAServiceThatChoosesOtherwise(t *testing.T) {
	server := mockserver.New(mockserver.WithAssumptions(mockserver.Contrary))
	defer server.Close()
	t.Setenv(shipping.EnvBaseURL, server.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	var out bytes.Buffer
	err := run(t.Context(), []string{"-pages", "5", "-wallet", server.Wallets()[0], "-shipment", server.Shipments()[0]}, &out)
	for _, want := range []string{"rates.list            250 records, as documented", "transactions.list     211 records, as documented", "assumed, the specification does not show it"} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, no %q in\n%s", err, want, &out)
		}
	}
}
