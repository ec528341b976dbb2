package mockserver_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
)

// An assumption can be changed while a world is in use, over HTTP and in Go, and Reset undoes the change.
func TestAssumptions_ChangeAtRuntime(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	change := func(body string) answer { return do(t, srv, http.MethodPatch, "/_mock/assumptions", body) }
	perPage := func(want float64) {
		t.Helper()
		if got := get(t, srv, "/v1/rates?perPage=50").want(t, http.StatusOK); got.at(t, "data.pagination.perPage") != want {
			t.Errorf("perPage is %v, want %v", got.at(t, "data.pagination.perPage"), want)
		}
	}
	perPage(50)
	change(`{"assumptions":{"PerPageCap":2,"FundsStatus":402}}`).want(t, http.StatusOK)
	perPage(2)
	var uncapped []any
	if get(t, srv, "/_mock/webhooks?perPage=50").data(t, &uncapped); len(uncapped) != 50 {
		t.Errorf("a list of the control surface is capped to %d", len(uncapped))
	}
	change(`{"assumptions":{"PerPageCap":null}}`).want(t, http.StatusOK)
	perPage(50)
	get(t, srv, "/v1/transactions").want(t, http.StatusBadRequest)
	change(`{"preset":"contrary","assumptions":{"PerPageCap":7}}`).want(t, http.StatusOK)
	perPage(7)
	get(t, srv, "/v1/transactions").want(t, http.StatusUnprocessableEntity)
	fork, err := srv.Fork("other")
	if err != nil {
		t.Fatal(err)
	}
	if got := as(t, srv, fork.SecretKey, "GET", "/v1/rates?perPage=50", ""); got.at(t, "data.pagination.perPage") != 7.0 {
		t.Errorf("the fork has %s", got.body)
	}
	change(`{"preset":"default"}`).want(t, http.StatusOK)
	perPage(50)

	if err := srv.SetAssumptions(func(a *assumption.Set) { a.PerPageCap, a.DeliveryTimeout = 3, time.Second }); err != nil {
		t.Fatal(err)
	}
	perPage(3)
	changed := 0
	for _, row := range srv.Assumptions() {
		if row.Changed {
			changed++
		}
	}
	if changed != 2 {
		t.Errorf("%d assumptions are changed, want 2", changed)
	}
	srv.Reset()
	perPage(50)
}

// Settings of documents and of deliveries are those of the moment.
func TestAssumptions_ReachDocumentsAndDeliveries(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	if err := srv.SetAssumptions(func(a *assumption.Set) {
		a.Purchasing, a.SHA256Signature, a.DeliveryAttempts = time.Hour, true, 1
	}); err != nil {
		t.Fatal(err)
	}
	draft := post(t, srv, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).text(t, "request_id")
	post(t, srv, "/v1/regulatory-documents/purchase", `{"request_id":"`+draft+`","document_types":["CUSTOMS"]}`).want(t, http.StatusOK)
	if got := get(t, srv, "/v1/regulatory-documents/request/"+draft).text(t, "status"); got != "purchasing" {
		t.Errorf("the request is %s", got)
	}
	subscribeInbox(t, srv.World, "?status=503")
	emit(t, srv.World)
	n := awaitInbox(t, srv.World, 1)[0]
	if n.Header.Get("X-Signature") == "" || !n.Valid {
		t.Errorf("received %v, valid: %t", n.Header, n.Valid)
	}
	if d, err := srv.WaitDelivery(t.Context(), n.DeliveryID); err != nil || len(d.Attempts) != 1 || d.State != "failed" {
		t.Errorf("the delivery is %s after %+v (%v)", d.State, d.Attempts, err)
	}
}

func TestAssumptions_RefuseChanges(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for body, want := range map[string]struct {
		status  int
		message string
	}{
		`{}`:                                          {400, `send {"assumptions"`},
		`{"preset":"contrarian"}`:                     {400, `unknown preset "contrarian"`},
		`{"assumptions":{"PerPgeCap":2}}`:             {400, `did you mean "PerPageCap"`},
		`{"assumptions":{"PerPgeCap":null}}`:          {400, `did you mean "PerPageCap"`},
		`{"assumptions":{"PerPageCap":"two"}}`:        {400, "a whole number"},
		`{"assumptions":{"MaxBody":2}}`:               {400, "applies to the whole server"},
		`{"assumptions":{"ObjectBreakdown":true}}`:    {409, "applies when a world opens"},
		`{"assumptions":{"DeliveryAccept":"anyone"}}`: {400, "a whole number"},
	} {
		do(t, srv, http.MethodPatch, "/_mock/assumptions", body).refusal(t, want.status, want.message)
	}
	for name, edit := range map[string]func(*assumption.Set){
		"OpenOperations": func(a *assumption.Set) {
			a.OpenOperations = append(a.OpenOperations, shipping.OpListCountries)
		},
		"ObjectBreakdown": func(a *assumption.Set) { a.ObjectBreakdown = true },
	} {
		if err := srv.SetAssumptions(edit); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, row := range srv.Assumptions() {
		if row.Changed {
			t.Errorf("%s is changed", row.Field)
		}
	}
}

// A state file has the changes of every world, also of the home world, which is open when the file is read.
func TestAssumptions_AreSaved(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	first := start(t, mockserver.WithoutListener())
	do(t, first, http.MethodPatch, "/_mock/assumptions", `{"preset":"contrary","assumptions":{"PerPageCap":7}}`).want(t, http.StatusOK)
	if err := first.SaveState(path); err != nil {
		t.Fatal(err)
	}
	second := start(t, mockserver.WithoutListener())
	if err := second.LoadState(path); err != nil {
		t.Fatal(err)
	}
	if got := get(t, second, "/v1/rates?perPage=50"); got.at(t, "data.pagination.perPage") != 7.0 {
		t.Errorf("after a restart: %s", got.body)
	}
}

// Requests are served while an assumption changes.
func TestAssumptions_ChangeUnderLoad(t *testing.T) {
	t.Parallel()
	srv := start(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50 {
			get(t, srv, "/v1/rates?perPage=5")
		}
	}()
	for i := range 50 {
		if err := srv.SetAssumptions(func(a *assumption.Set) { a.PerPageCap = 1 + i%3 }); err != nil {
			t.Error(err)
		}
	}
	<-done
}
