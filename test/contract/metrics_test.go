package contract

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// scrape reads the metrics with Prometheus's own parser.
func scrape(t *testing.T, srv *mockserver.Server) map[string]*dto.MetricFamily {
	t.Helper()
	resp, err := (&http.Client{Transport: srv.Transport()}).Get(srv.URL + "/_mock/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	decoder := expfmt.NewDecoder(resp.Body, expfmt.ResponseFormat(resp.Header))
	families := map[string]*dto.MetricFamily{}
	for {
		var family dto.MetricFamily
		switch err := decoder.Decode(&family); {
		case errors.Is(err, io.EOF):
			return families
		case err != nil:
			t.Fatal(err)
		}
		families[family.GetName()] = &family
	}
}

// Prometheus reads the metrics of the server: the types, the labels, whole histograms.
func TestMetrics_AreReadByPrometheus(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	if err := srv.Inject(fault.Rule{Operation: shipping.OpListRates, Nth: 2, Fault: fault.Status(http.StatusBadGateway, nil)}); err != nil {
		t.Fatal(err)
	}
	client := srv.Client(t)
	for range 2 { // the second is struck, and repeated
		if _, err := client.Rates.List(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	families := scrape(t, srv)
	types := map[string]dto.MetricType{
		"mockserver_requests_total": dto.MetricType_COUNTER, "mockserver_faults_total": dto.MetricType_COUNTER,
		"mockserver_request_seconds": dto.MetricType_HISTOGRAM, "mockserver_worlds": dto.MetricType_GAUGE,
		"mockserver_deliveries": dto.MetricType_GAUGE, "go_goroutines": dto.MetricType_GAUGE,
	}
	for name, kind := range types {
		if family := families[name]; family == nil || family.GetType() != kind || family.GetHelp() == "" {
			t.Errorf("%s is %v, want a %s with help", name, family, kind)
		}
	}
	for name, family := range families {
		if !model.LegacyValidation.IsValidMetricName(name) {
			t.Errorf("%q is not a name that every Prometheus accepts", name)
		}
		if counts := family.GetType() == dto.MetricType_COUNTER; counts != strings.HasSuffix(name, "_total") {
			t.Errorf("%s: a counter is called _total, and nothing else is", name)
		}
	}
	requests := map[string]float64{}
	for _, m := range families["mockserver_requests_total"].GetMetric() {
		requests[label(m, "operation")+" "+label(m, "status")] = m.GetCounter().GetValue()
	}
	if requests[shipping.OpListRates+" 200"] != 2 || requests[shipping.OpListRates+" 502"] != 1 {
		t.Errorf("requests: %v", requests)
	}
	for _, m := range families["mockserver_request_seconds"].GetMetric() {
		h := m.GetHistogram()
		if label(m, "operation") == shipping.OpListRates && (h.GetSampleCount() != 3 || h.GetSampleSum() <= 0) {
			t.Errorf("%s: %v", shipping.OpListRates, h)
		}
		buckets := h.GetBucket()
		if last := buckets[len(buckets)-1]; last.GetCumulativeCount() != h.GetSampleCount() || !slices.IsSortedFunc(buckets, func(a, b *dto.Bucket) int {
			return int(a.GetCumulativeCount()) - int(b.GetCumulativeCount())
		}) {
			t.Errorf("%s: the buckets do not add up: %v", label(m, "operation"), buckets)
		}
	}
}

func label(m *dto.Metric, name string) string {
	i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == name })
	if i < 0 {
		return ""
	}
	return m.GetLabel()[i].GetValue()
}
