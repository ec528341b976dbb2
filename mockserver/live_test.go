package mockserver_test

import (
	"net/http"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// Everything that a page shows has a mark in the summary that differs when it changes, also if a second change undid the
// first.
func TestLive_Changes(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	type summary struct {
		World, Clock string
		Calls        int `json:"journal_entries"`
		Entries      int `json:"ledger_entries"`
		Marks        map[string]uint32
	}
	read := func() (p summary) {
		get(t, srv, "/_mock/live").want(t, http.StatusOK).data(t, &p)
		return p
	}
	before := read()
	if before.World != "home" || before.Clock != "virtual" || before.Entries == 0 {
		t.Errorf("the first summary is %+v", before)
	}
	for name, act := range map[string]func(){
		"regulatory_requests": func() { analyzeShipment(t, srv, srv.Shipments()[0]) },
		"faults":              func() { inject(t, srv, fault.Rule{Nth: 1000, Fault: fault.Drop()}); srv.ClearFaults() },
		"ledger": func() {
			if err := srv.Fund(srv.Wallets()[0], amount(t, "12.50")); err != nil {
				t.Fatal(err)
			}
		},
		"webhooks":   func() { post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:9/"}`).want(t, 200) },
		"deliveries": func() { post(t, srv, "/_mock/events", `{"event":"shipment.created"}`).want(t, 200) },
		"inbox":      func() { post(t, srv, "/_mock/inbox", `{}`).want(t, 200) },
		"worlds":     func() { post(t, srv, "/_mock/worlds", `{"scenario":"empty","name":"x"}`).want(t, 200) },
	} {
		before := read()
		act()
		if after := read(); after.Marks[name] == before.Marks[name] {
			t.Errorf("the mark %s is the same after a change", name)
		}
	}
	rates := read().Marks["ledger"] // which the mark of the ledger missed
	do(t, srv, http.MethodPatch, "/_mock/ledger", `{"exchange_rates":{"NGN":1600}}`).want(t, http.StatusOK)
	if read().Marks["ledger"] == rates {
		t.Error("the mark of the ledger is the same after a change of its exchange rates")
	}
	get(t, srv, "/v1/rates?perPage=1")
	if after := read(); after.Calls != before.Calls+2 {
		t.Errorf("%d calls after an analysis and a list, and %d before", after.Calls, before.Calls)
	}
	before = read()
	srv.Reset()
	after := read()
	for _, part := range []string{"ledger", "regulatory_requests", "deliveries", "inbox", "webhooks"} {
		if after.Marks[part] == before.Marks[part] {
			t.Errorf("the mark %s is the same after a reset", part)
		}
	}
}
