package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/test/vectors"
)

// TestMain lets the test binary be the client that a test grades: a wrong one, which believes the HTTP status.
func TestMain(m *testing.M) {
	if os.Getenv("GRADED") == "" {
		os.Exit(m.Run())
	}
	body := `{"request_id":"` + os.Getenv("SHIPPING_REQUEST_ID") + `","document_types":["` + os.Getenv("SHIPPING_DOCUMENT") + `"]}`
	resp, err := http.Post(os.Getenv("SHIPPING_BASE_URL")+"/v1/regulatory-documents/purchase", "application/json", strings.NewReader(body))
	report := vectors.Report{Outcome: "unknown"}
	if err == nil && resp.StatusCode == http.StatusOK {
		report.Outcome = "charged"
	}
	_ = json.NewEncoder(os.Stdout).Encode(report)
}

func TestGrade_RunsACommand(t *testing.T) {
	t.Setenv("GRADED", "1")
	for _, test := range []struct {
		args []string
		want int
		out  string
	}{
		{[]string{"-run", "100 first", os.Args[0]}, 0, "1 of 1 reports are right"},
		{[]string{"-run", "502 without a body, not charged", os.Args[0]}, 0, "1 of 1 reports are right"}, // its class is not graded
		{[]string{"-run", "502 without a body", os.Args[0]}, 1, `WRONG  502 without a body, charged: the outcome is "unknown"; want "charged"`},
		{[]string{"-run", "307 to the same place, not charged", os.Args[0]}, 1, "the purchase was sent"},
		{[]string{"-run", "no such case", os.Args[0]}, 1, "0 of 0"},
		{[]string{"-run", "100 first", "/no/such/command"}, 1, "not a report"},
		{[]string{}, 2, "usage"},
	} {
		var out strings.Builder
		if got := run(t.Context(), test.args, &out, &out); got != test.want || !strings.Contains(out.String(), test.out) {
			t.Errorf("%v: exit code %d, want %d: %s", fmt.Sprint(test.args), got, test.want, out.String())
		}
	}
}
