package mockserver_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// pulse is the state of a world in the stream.
type pulse struct {
	World, Clock string
	Calls        int `json:"journal_entries"`
	Entries      int `json:"ledger_entries"`
	Requests     int `json:"regulatory_requests"`
	Pending      int
	Now          time.Time
	Marks        struct {
		Ledger, Deliveries, Webhooks, Faults, Worlds uint32
		Requests                                     uint32 `json:"regulatory_requests"`
	}
}

// Everything that a page shows differs in the summary when it changes.
func TestLive_SaysWhichThingHasChanged(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	read := func() (p pulse) {
		get(t, srv, "/_mock/live").want(t, http.StatusOK).data(t, &p)
		return p
	}
	before := read()
	if before.World != "home" || before.Clock != "virtual" || before.Entries == 0 {
		t.Errorf("the first summary is %+v", before)
	}
	steps := []struct {
		name    string
		act     func()
		changed func(before, after pulse) bool
	}{
		{"a call", func() { get(t, srv, "/v1/rates?perPage=1") }, func(a, b pulse) bool { return b.Calls == a.Calls+1 }},
		{"an analysis", func() {
			post(t, srv, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).want(t, http.StatusOK)
		}, func(a, b pulse) bool { return b.Requests == 1 && b.Marks.Requests != a.Marks.Requests }},
		{"a fault rule", func() { inject(t, srv, fault.Rule{Nth: 1000, Fault: fault.Drop()}) }, func(a, b pulse) bool { return b.Marks.Faults != a.Marks.Faults }},
		{"a removed fault rule", func() { do(t, srv, http.MethodDelete, "/_mock/faults/1", "").want(t, 200) }, func(a, b pulse) bool { return b.Marks.Faults != a.Marks.Faults }},
		{"money", func() { fund(t, srv.World) }, func(a, b pulse) bool { return b.Entries == a.Entries+1 && b.Marks.Ledger != a.Marks.Ledger }},
		{"a webhook", func() { post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:9/"}`).want(t, 200) }, func(a, b pulse) bool { return b.Marks.Webhooks != a.Marks.Webhooks }},
		{"an event", func() { post(t, srv, "/_mock/events", `{"event":"shipment.created"}`).want(t, 200) }, func(a, b pulse) bool { return b.Marks.Deliveries != a.Marks.Deliveries }},
		{"a world", func() { post(t, srv, "/_mock/worlds", `{"scenario":"empty","name":"x"}`).want(t, 200) }, func(a, b pulse) bool { return b.Marks.Worlds != a.Marks.Worlds }},
		{"time", func() { post(t, srv, "/_mock/clock/advance", `{"duration":"1h"}`).want(t, 200) }, func(a, b pulse) bool { return b.Now.Sub(a.Now) == time.Hour }},
		{"a reset", srv.Reset, func(a, b pulse) bool { return b.Calls == 0 && b.Requests == 0 }},
	}
	for _, step := range steps {
		step.act()
		after := read()
		if !step.changed(before, after) {
			t.Errorf("%s: %+v, before %+v", step.name, after, before)
		}
		before = after
	}
}

func fund(t *testing.T, w *mockserver.World) {
	t.Helper()
	if err := w.Fund(w.Wallets()[0], amount(t, "12.50")); err != nil {
		t.Fatal(err)
	}
}

// A page that has read a world between two changes reads it again, even if the second change undid the first.
func TestLive_MarksDifferAfterAChangeThatWasUndone(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	marks := func() map[string]int {
		var summary struct {
			Marks map[string]int `json:"marks"`
		}
		get(t, srv, "/_mock/live").want(t, http.StatusOK).data(t, &summary)
		return summary.Marks
	}
	before := marks()
	do(t, srv, http.MethodPatch, "/_mock/assumptions", `{"assumptions":{"LastPageNull":true}}`).want(t, http.StatusOK)
	do(t, srv, http.MethodPatch, "/_mock/assumptions", `{"assumptions":{"LastPageNull":null}}`).want(t, http.StatusOK)
	if after := marks(); after["assumptions"] == before["assumptions"] {
		t.Error("the mark of the assumptions is the same after two changes")
	}
	before = marks()
	srv.Reset()
	after := marks()
	for _, part := range []string{"assumptions", "ledger", "regulatory_requests", "deliveries", "inbox", "webhooks"} {
		if after[part] == before[part] {
			t.Errorf("the mark %s is the same after a reset", part)
		}
	}
}
