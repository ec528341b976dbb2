package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func TestAdminRequests_TellsWhatHappenedToEach(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	var ids []string
	for range 3 {
		ids = append(ids, post(t, srv, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).text(t, "request_id"))
	}
	post(t, srv, "/v1/regulatory-documents/purchase", `{"request_id":"`+ids[0]+`","document_types":["CUSTOMS"]}`).want(t, http.StatusOK)
	post(t, srv, "/_mock/clock/advance", `{"duration":"1h"}`).want(t, http.StatusOK)

	var rows []struct {
		RequestID            string `json:"request_id"`
		Status               string
		Purchased, Generated int
	}
	get(t, srv, "/_mock/regulatory-requests?perPage=2").data(t, &rows)
	if len(rows) != 2 || rows[0].RequestID != ids[2] || rows[1].RequestID != ids[1] {
		t.Errorf("the newest two are %+v", rows)
	}
	get(t, srv, "/_mock/regulatory-requests?perPage=2&page=2").data(t, &rows)
	if len(rows) != 1 || rows[0].Status != "completed" || rows[0].Purchased != 1 || rows[0].Generated != 1 {
		t.Errorf("the oldest is %+v", rows)
	}
	get(t, srv, "/_mock/regulatory-requests?page=2147483647&perPage=2147483647").data(t, &rows)
	if len(rows) != 0 {
		t.Errorf("far behind the end are %+v", rows)
	}

	var told struct {
		Record  struct{ Status string }
		History []struct {
			Status         string
			DocumentType   string `json:"document_type"`
			DocumentStatus string `json:"document_status"`
		}
	}
	get(t, srv, "/_mock/regulatory-requests/"+ids[0]).want(t, http.StatusOK).data(t, &told)
	var lines []string
	for _, step := range told.History {
		lines = append(lines, strings.TrimSpace(step.Status+" "+step.DocumentType+" "+step.DocumentStatus))
	}
	want := []string{"draft", "purchasing", "processing", "CUSTOMS generating", "CUSTOMS generated", "completed"}
	if diff := cmp.Diff(want, lines); diff != "" || told.Record.Status != "completed" {
		t.Errorf("history of a request that is %s (-want +got):\n%s", told.Record.Status, diff)
	}
	get(t, srv, "/_mock/regulatory-requests/RD-NOBODY").refusal(t, http.StatusNotFound, "RD-NOBODY")
}

func TestAdminCalls_GivesAPageWhatItHasNotSeen(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for i := range 5 {
		get(t, srv, fmt.Sprintf("/v1/rates?perPage=1&page=%d", i+1))
	}
	ids := func(query string) []string {
		var calls []journal.Entry
		get(t, srv, "/_mock/journal"+query).want(t, http.StatusOK).data(t, &calls)
		out := []string{}
		for _, c := range calls {
			out = append(out, c.RequestID)
			if bodies := !strings.Contains(query, "bodies=false"); (c.ResponseBody != "") != bodies || c.ResponseBytes == 0 {
				t.Errorf("%s: %d bytes, and the body is %q", query, c.ResponseBytes, c.ResponseBody)
			}
		}
		return out
	}
	tests := []struct {
		query string
		want  []string
	}{
		{"?after=req-3", []string{"req-4", "req-5"}},
		{"?after=3&last=1", []string{"req-5"}},
		{"?last=2&bodies=false", []string{"req-4", "req-5"}},
		{"?last=2&contains=page%3D1", []string{"req-1"}},
		{"?after=req-5", []string{}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, ids(test.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.query, diff)
		}
	}
	for query, text := range map[string]string{"after=soon": "such as req-7", "last=0": "maximum number", "last=x": "maximum number", "aftr=1": `unknown parameter "aftr": did you mean "after"?`} {
		get(t, srv, "/_mock/journal?"+query).refusal(t, http.StatusBadRequest, text)
	}
}

func TestAdminMakeCall_CallsAsTheWorldsOwnClient(t *testing.T) {
	t.Parallel()
	srv := start(t)
	if _, err := srv.Open("lowfunds_made"); err != nil {
		t.Fatal(err)
	}
	type made struct {
		RequestID   string `json:"request_id"`
		Status      int
		Body, Error string
	}
	call := func(query, order string) (m made) {
		post(t, srv, "/_mock/requests"+query, order).want(t, http.StatusOK).data(t, &m)
		return m
	}
	if m := call("", `{"method":"GET","target":"/v1/rates?perPage=1"}`); m.Status != 200 || !json.Valid([]byte(m.Body)) || m.RequestID != "req-1" {
		t.Errorf("a list: %+v", m)
	}
	order := `{"method":"POST","target":"/v1/regulatory-documents/analyze","body":{"shipment_id":"SH-NOBODY"}}`
	if m := call("?world=lowfunds_made", order); m.Status != 404 || !strings.Contains(m.Body, "SH-NOBODY") {
		t.Errorf("a refusal: %+v", m)
	}
	if world, err := srv.Open("lowfunds_made"); err != nil || len(world.Journal()) != 1 || world.Journal()[0].RequestBody != `{"shipment_id":"SH-NOBODY"}` {
		t.Errorf("the world has %+v (%v)", world.Journal(), err)
	}
	if err := srv.Inject(fault.Rule{Nth: 1, Fault: fault.Drop()}); err != nil {
		t.Fatal(err)
	}
	if m := call("", `{"method":"POST","target":"/v1/webhooks/replay","body":{}}`); m.Status != 0 || !strings.Contains(m.Error, "no response") {
		t.Errorf("a dropped call: %+v", m)
	}
	for _, body := range []string{`{}`, `{"method":"GET","target":"v1/rates"}`, `{"method":"GET","target":"/_mock/worlds"}`,
		// The path that the server sees counts: an escaped one reached the control routes.
		`{"method":"GET","target":"/%5fmock/worlds"}`, `{"method":"GET","target":"/_mock"}`, `{"method":"DELETE","target":"/v1/../_mock/worlds/home"}`, `{"method":"GET","target":"/v1/%2e%2e/%5Fmock/worlds"}`,
		`{"method":"G T","target":"/v1/rates"}`, `{"method":"GET","target":"/%zz"}`} {
		post(t, srv, "/_mock/requests", body).want(t, http.StatusBadRequest)
	}
}

// The lists of webhooks and deliveries can be searched.
func TestAdmin_FindsWebhooksAndDeliveries(t *testing.T) {
	t.Parallel()
	srv := start(t)
	id := subscribeInbox(t, srv.World, "")
	emit(t, srv.World)
	n := awaitInbox(t, srv.World, 1)[0]
	for path, want := range map[string]float64{
		"webhooks?contains=INBOX.localhost": 1, "webhooks?contains=" + id: 1, "webhooks?contains=nothing+like+this": 0,
		"deliveries?contains=" + id: 1, "deliveries?contains=" + n.DeliveryID: 1, "deliveries?contains=nothing+like+this": 0,
	} {
		if got := get(t, srv, "/_mock/"+path).at(t, "pagination.total"); got != want {
			t.Errorf("%s: %v found, want %v", path, got, want)
		}
	}
}

// A fault rule is removed once.
func TestFaults_ARuleIsRemoved(t *testing.T) {
	t.Parallel()
	srv := start(t)
	if err := srv.Inject(fault.Rule{Operation: shipping.OpListRates, Fault: fault.Status(503, nil)}, fault.Rule{Name: "Slow", Operation: shipping.OpListCountries, Fault: fault.Empty()}); err != nil {
		t.Fatal(err)
	}
	get(t, srv, "/v1/rates").want(t, http.StatusServiceUnavailable)
	if err := srv.RemoveFault(1); err != nil || len(srv.Faults()) != 1 || srv.Faults()[0].Name != "Slow" {
		t.Errorf("the rules are %+v (%v)", srv.Faults(), err)
	}
	get(t, srv, "/v1/rates").want(t, http.StatusOK)
	if err := srv.RemoveFault(1); err == nil || !strings.Contains(err.Error(), "no such fault rule: 1") {
		t.Errorf("a rule was removed twice: %v", err)
	}
	do(t, srv, http.MethodDelete, "/_mock/faults/x", "").want(t, http.StatusNotFound)
}

func TestAdminWorlds_LeavesKeysOutForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, answer := range []answer{
		get(t, srv, "/_mock/worlds?keys=false"),
		post(t, srv, "/_mock/worlds?keys=false", `{"scenario":"empty","name":"quiet"}`),
		post(t, srv, "/_mock/worlds/empty_quiet/reset?keys=false", ""),
	} {
		if text := string(answer.want(t, http.StatusOK).body); strings.Contains(text, "sk_") || strings.Contains(text, "secret_key") {
			t.Errorf("a key in %s", text)
		}
	}
}

func TestAdminClock_NamesWhatWaits(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	id := post(t, srv, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).text(t, "request_id")
	post(t, srv, "/v1/regulatory-documents/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`).want(t, http.StatusOK)
	var clock struct {
		Now     time.Time
		Clock   string
		Pending []journal.Fired
	}
	get(t, srv, "/_mock/clock").want(t, http.StatusOK).data(t, &clock)
	if clock.Clock != "virtual" || !clock.Now.Equal(srv.Now()) || len(clock.Pending) != 1 || !strings.Contains(clock.Pending[0].Label, id) {
		t.Errorf("the clock is %+v", clock)
	}
}

func TestAdminConsignments_NamesWhatCanBeAnalyzed(t *testing.T) {
	t.Parallel()
	srv := start(t)
	var goods struct {
		Shipments []struct {
			ShipmentID          string `json:"shipment_id"`
			Origin, Destination string
			Items               []string
		}
		Invoices []string
	}
	get(t, srv, "/_mock/consignments").want(t, http.StatusOK).data(t, &goods)
	if diff := cmp.Diff(srv.Invoices(), goods.Invoices); diff != "" {
		t.Errorf("invoices (-want +got):\n%s", diff)
	}
	for i, id := range srv.Shipments() {
		if got := goods.Shipments[i]; got.ShipmentID != id || len(got.Origin) != 2 || len(got.Destination) != 2 || len(got.Items) == 0 {
			t.Errorf("shipment %d is %+v, want %s", i, got, id)
		}
	}
}

func TestAdminLedger_OfOneWallet(t *testing.T) {
	t.Parallel()
	srv := start(t)
	wallet := srv.Wallets()[1]
	var view struct {
		Wallets []struct{ Reference string }
		Entries []struct{ Wallet string }
	}
	get(t, srv, "/_mock/ledger?perPage=1000&wallet="+wallet).want(t, http.StatusOK).data(t, &view)
	if len(view.Wallets) != 1 || view.Wallets[0].Reference != wallet {
		t.Errorf("the wallets are %v, want only %s", view.Wallets, wallet)
	}
	if len(view.Entries) == 0 {
		t.Error("no entries")
	}
	for _, e := range view.Entries {
		if e.Wallet != wallet {
			t.Errorf("an entry of %s", e.Wallet)
		}
	}
	get(t, srv, "/_mock/ledger?wallet=1").refusal(t, http.StatusNotFound, `the world has no wallet "1": use one of `+srv.Wallets()[0])
	get(t, srv, "/_mock/ledger?wallet="+wallet+"0").refusal(t, http.StatusNotFound, `did you mean "`+wallet+`"?`)
}

// A fork has its parent's requests under the same ids, so the address of a PDF must name the world.
func TestConsole_TheFormOfAForkIsItsOwn(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithoutListener())
	id := analyzeShipment(t, srv, srv.Shipments()[0]).ID
	fork, err := srv.Fork("what-if")
	if err != nil {
		t.Fatal(err)
	}
	ofFork := []string{"Authorization", "Bearer " + fork.SecretKey}
	do(t, srv, http.MethodPost, "/v1/regulatory-documents/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`, ofFork...).want(t, http.StatusOK)
	if _, err := fork.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	const document = "/documents/CUSTOMS/pdf"
	admin, service := "/_mock/regulatory-requests/"+id+document, "/v1/regulatory-documents/request/"+id+document
	for path, sent := range map[string][]string{admin + "?world=" + fork.Name(): {"Authorization", ""}, admin: ofFork, service: ofFork} {
		if got := do(t, srv, http.MethodGet, path, "", sent...).want(t, http.StatusOK); got.header.Get("Content-Type") != "application/pdf" {
			t.Errorf("%s is %s", path, got.header.Get("Content-Type"))
		}
	}
	do(t, srv, http.MethodGet, admin, "", "Authorization", "").refusal(t, http.StatusNotFound, "CUSTOMS")
	if calls := fork.Requests(shipping.OpDocumentPDF); calls != 1 {
		t.Errorf("looking at a form counts as a call of the service: %d calls", calls)
	}
}
