package mockserver_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// sample is a line of the text format of Prometheus: a name, labels in braces, a number.
func sample() *regexp.Regexp {
	return regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="[^"\\\n]*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="[^"\\\n]*")*\})? (\S+)$`)
}

// scrape reads the metrics and fails the test unless every line has the form that Prometheus asks for, each
// series stands there once, and each family has been announced.
func scrape(t *testing.T, srv *mockserver.Server) map[string]float64 {
	t.Helper()
	page := do(t, srv, http.MethodGet, "/_mock/metrics", "", "Authorization", "").want(t, http.StatusOK)
	if kind := page.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", kind)
	}
	form, values, families := sample(), map[string]float64{}, map[string]bool{}
	for line := range strings.Lines(string(page.body)) {
		line = strings.TrimSuffix(line, "\n")
		if rest, is := strings.CutPrefix(line, "# TYPE "); is {
			name, _, _ := strings.Cut(rest, " ")
			families[name] = true
			continue
		}
		if strings.HasPrefix(line, "# HELP ") {
			continue
		}
		parts := form.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("no line of metrics: %q", line)
		}
		family := parts[1]
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			if base := strings.TrimSuffix(family, suffix); families[base] {
				family = base
			}
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		series := parts[1] + parts[2]
		if _, twice := values[series]; err != nil || twice || !families[family] {
			t.Errorf("%q: twice %t, announced %t, %v", line, twice, families[family], err)
		}
		values[series] = value
	}
	return values
}

func TestMetrics_CountWhatTheServerDoes(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	if err := srv.Inject(fault.Rule{Operation: shipping.OpListRates, Nth: 3, Fault: fault.Status(418, nil)}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		get(t, srv, "/v1/rates")
	}
	get(t, srv, "/v1/transactions")
	get(t, srv, "/v1/nothing")
	if _, err := srv.Open("default_metrics"); err != nil {
		t.Fatal(err)
	}
	got := scrape(t, srv)
	for series, want := range map[string]float64{
		`mockserver_requests_total{operation="rates.list",status="200"}`:        2,
		`mockserver_requests_total{operation="rates.list",status="other"}`:      1,
		`mockserver_requests_total{operation="transactions.list",status="400"}`: 1,
		`mockserver_requests_total{operation="none",status="404"}`:              1,
		`mockserver_request_seconds_count{operation="rates.list"}`:              3,
		`mockserver_request_seconds_bucket{operation="rates.list",le="+Inf"}`:   3,
		`mockserver_faults_total{kind="status"}`:                                1,
		`mockserver_worlds`:                                                     2,
		`mockserver_journal_entries`:                                            5,
	} {
		if value, known := got[series]; !known || value != want {
			t.Errorf("%s is %v, want %v", series, value, want)
		}
	}
	for _, series := range []string{"mockserver_ledger_transactions", `mockserver_deliveries{outcome="delivered"}`, "go_goroutines", "go_memstats_heap_alloc_bytes", "go_gc_heap_live_bytes"} {
		if got[series] <= 0 {
			t.Errorf("%s is %v", series, got[series])
		}
	}
	for series := range got {
		if strings.Contains(series, "sk_") || strings.Contains(series, "default_metrics") {
			t.Errorf("a key or a world is a label: %s", series)
		}
	}
}
