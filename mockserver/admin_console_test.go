package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestAdminWorlds_NameWhatCanBeAnalyzed(t *testing.T) {
	t.Parallel()
	srv := start(t)
	var goods struct {
		Consignments []struct {
			ShipmentID          string `json:"shipment_id"`
			Origin, Destination string
			Items               []string
		}
		Invoices []string
	}
	get(t, srv, "/_mock/worlds/home").want(t, http.StatusOK).data(t, &goods)
	if diff := cmp.Diff(srv.Invoices(), goods.Invoices); diff != "" {
		t.Errorf("invoices (-want +got):\n%s", diff)
	}
	for i, id := range srv.Shipments() {
		if got := goods.Consignments[i]; got.ShipmentID != id || len(got.Origin) != 2 || len(got.Destination) != 2 || len(got.Items) == 0 {
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
