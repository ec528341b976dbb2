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
	for text, mark := range map[string]string{
		"POST {docs}/analyze " + analyzeFirst(srv.World):                                      "regulatory_requests",
		`PATCH /_mock/ledger {"fund":[{"wallet":"` + srv.Wallets()[0] + `","amount":12.50}]}`: "ledger",
		`PATCH /_mock/ledger {"exchange_rates":{"NGN":1600}}`:                                 "ledger",
		`POST /_mock/webhooks {"url":"http://127.0.0.1:9/"}`:                                  "webhooks",
		`POST /_mock/events {"event":"shipment.created"}`:                                     "deliveries",
		`POST /_mock/inbox {}`: "inbox",
		`POST /_mock/faults {"rules":[{"nth":1000,"fault":{"kind":"drop"}}]}`: "faults",
		`POST /_mock/worlds {"scenario":"empty","name":"x"}`:                  "worlds",
	} {
		before := marks()
		send(t, srv, text).want(t, http.StatusOK)
		if marks()[mark] == before[mark] {
			t.Errorf("the mark %s is the same after %s", mark, text)
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
