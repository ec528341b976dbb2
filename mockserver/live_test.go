package mockserver_test

import (
	"net/http"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

// Everything that a page shows has a mark in the summary that differs when it changes, also if a second change undid
// the first.
func TestLive_Changes(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	marks := func() map[string]uint32 {
		var summary struct{ Marks map[string]uint32 }
		get(t, srv, "/_mock/live").want(t, http.StatusOK).data(t, &summary)
		return summary.Marks
	}
	began := marks()
	for _, change := range []struct{ mark, method, path, body string }{
		{"regulatory_requests", "POST", regulatoryPath + "/analyze", analyzeFirst(srv.World)},
		{"ledger", "PATCH", "/_mock/ledger", `{"fund":[{"wallet":"` + srv.Wallets()[0] + `","amount":12.50}]}`},
		{"ledger", "PATCH", "/_mock/ledger", `{"exchange_rates":{"NGN":1600}}`},
		{"webhooks", "POST", "/_mock/webhooks", `{"url":"http://127.0.0.1:9/"}`},
		{"deliveries", "POST", "/_mock/events", `{"event":"shipment.created"}`},
		{"inbox", "POST", "/_mock/inbox", `{}`},
		{"faults", "POST", "/_mock/faults", `{"rules":[{"nth":1000,"fault":{"kind":"drop"}}]}`},
		{"worlds", "POST", "/_mock/worlds", `{"scenario":"empty","name":"x"}`},
	} {
		before := marks()
		do(t, srv, change.method, change.path, change.body).want(t, http.StatusOK)
		if marks()[change.mark] == before[change.mark] {
			t.Errorf("the mark %s is the same after %s %s", change.mark, change.method, change.path)
		}
	}
	before := marks()
	srv.ClearFaults()
	if after := marks(); after["faults"] == before["faults"] || after["faults"] == began["faults"] {
		t.Error("the mark of the faults is the same after they were cleared")
	}
	srv.Reset()
	after := marks()
	for _, part := range []string{"ledger", "regulatory_requests", "deliveries", "inbox", "webhooks"} {
		if after[part] == before[part] {
			t.Errorf("the mark %s is the same after a reset", part)
		}
	}
}
