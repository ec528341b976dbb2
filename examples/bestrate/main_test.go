package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

func serve(t *testing.T, options ...mockserver.Option) *mockserver.Server {
	t.Helper()
	server := mockserver.New(options...)
	t.Cleanup(server.Close)
	t.Setenv(shipping.EnvBaseURL, server.URL)
	t.Setenv(shipping.EnvSecretKey, server.SecretKey)
	return server
}

func TestDemonstrationNeedsNoSetUp(t *testing.T) {
	t.Setenv(shipping.EnvBaseURL, "")
	var out bytes.Buffer
	if err := run(t.Context(), nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"to choose from", "cheapest", "fastest", "NGN"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// chosen returns the program's output with -json.
func chosen(t *testing.T, args ...string) choice {
	t.Helper()
	var out bytes.Buffer
	var c choice
	if err := run(t.Context(), append(args, "-json"), &out); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &c); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return c
}

// Whatever is asked for, no rate that may be chosen beats the chosen ones.
func TestNoRateBeatsTheChosenOnes(t *testing.T) {
	server := serve(t)
	var all []*shipping.Rate
	for rate, err := range server.Client(t).Rates.All(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rate)
	}
	for name, tc := range map[string]struct {
		args  []string
		takes func(*shipping.Rate) bool
	}{
		"everything": {nil, func(*shipping.Rate) bool { return true }},
		"deadline":   {[]string{"-within", "3d"}, func(r *shipping.Rate) bool { return r.DeliveryDuration() <= 72*time.Hour }},
		"insured":    {[]string{"-insured"}, func(r *shipping.Rate) bool { return r.IncludesInsurance }},
		"unused":     {[]string{"-unused"}, func(r *shipping.Rate) bool { return !r.Used }},
		"carriers":   {[]string{"-carriers", "ups,aramex"}, func(r *shipping.Rate) bool { return r.CarrierSlug == "ups" || r.CarrierSlug == "aramex" }},
	} {
		c := chosen(t, append(tc.args, "-currency", "NGN", "-parcel", "all")...)
		if !tc.takes(c.Cheapest) || !tc.takes(c.Fastest) || c.Front[0].RateID != c.Cheapest.RateID {
			t.Errorf("%s: chosen against the filter: %+v", name, c)
		}
		for _, rate := range all {
			if rate.Currency != "NGN" || !tc.takes(rate) {
				continue
			}
			if rate.Amount.Cmp(c.Cheapest.Amount) < 0 || rate.DeliveryETA < c.Fastest.DeliveryETA {
				t.Errorf("%s: %s is better", name, rate.RateID)
			}
		}
	}
}

func TestOnlyOneParcelsRatesAreCompared(t *testing.T) {
	server := serve(t)
	page, err := server.Client(t).Rates.List(t.Context(), &shipping.RateListOptions{PerPage: 1})
	if err != nil {
		t.Fatal(err)
	}
	newest := page.Items[0].Parcel
	if c := chosen(t, "-currency", "NGN"); c.Parcel != newest || c.Compared >= 250 {
		t.Errorf("compared %d rates of %s, the newest is of %s", c.Compared, c.Parcel, newest)
	}
}

func TestItSaysWhatToDo(t *testing.T) {
	serve(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"mixed currencies": {[]string{"-parcel", "all"}, "with -currency"},
		"nothing left":     {[]string{"-currency", "XXX"}, "relax -within"},
		"no such parcel":   {[]string{"-parcel", "PC-0"}, "none of 0 rates"},
		"odd time":         {[]string{"-within", "soon"}, "3d or 36h"},
		"no time at all":   {[]string{"-within", "99999999999d"}, "3d or 36h"},
	} {
		if err := run(t.Context(), tc.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var help bytes.Buffer
	if err := run(t.Context(), []string{"-h"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-within time") {
		t.Errorf("help: %v\n%s", err, &help)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := run(ended, nil, &help); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// A service that decides otherwise where the specification leaves it open has the same best rates.
func TestAServiceThatChoosesOtherwise(t *testing.T) {
	serve(t)
	want := chosen(t, "-currency", "NGN", "-parcel", "all")
	serve(t, mockserver.WithAssumptions(mockserver.Contrary))
	if got := chosen(t, "-currency", "NGN", "-parcel", "all"); got.Compared != want.Compared || got.Cheapest == nil || got.Cheapest.RateID != want.Cheapest.RateID {
		t.Errorf("%+v, want %+v", got, want)
	}
}
