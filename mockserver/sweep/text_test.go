package sweep_test

import (
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver/sweep"
)

func TestReport_Summary(t *testing.T) {
	t.Parallel()
	requests := []sweep.Request{{Operation: "rates.list"}, {Operation: sweep.Notification}}
	for n, want := range map[int]string{
		1: "\n1 request and 1 notification without faults; 1 run with faults, 0 failing",
		2: "\n2 requests and 2 notifications without faults; 2 runs with faults, 0 failing",
	} {
		report := sweep.Report{Results: make([]sweep.Result, n)}
		for range n {
			report.Requests = append(report.Requests, requests...)
		}
		var text strings.Builder
		if err := report.WriteText(&text); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("%v: %s, want %s", err, &text, want)
		}
	}
}
