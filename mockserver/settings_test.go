package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver"
)

// Every assumption that is not a function can be set by its name, with a text as its value.
func TestWithAssumption_SetsEach(t *testing.T) {
	t.Parallel()
	values := map[reflect.Type]string{
		reflect.TypeFor[bool](): "true", reflect.TypeFor[int](): "7", reflect.TypeFor[int64](): "70000", reflect.TypeFor[float64](): "1.5",
		reflect.TypeFor[time.Duration](): "90s", reflect.TypeFor[[]string](): "rates.list,countries.list",
	}
	statuses := map[string]string{"RuleFailureStatus": "422", "FundsStatus": "402", "AnalyzeStatus": "201", "PurchaseStatus": "202"}
	fields := reflect.TypeFor[mockserver.Assumptions]()
	var settable []string
	for field := range fields.Fields() {
		value, known := values[field.Type]
		if !known {
			continue
		}
		if status, ok := statuses[field.Name]; ok {
			value = status
		}
		settable = append(settable, field.Name)
		srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumption(field.Name, value))
		row := slices.IndexFunc(srv.Assumptions(), func(row mockserver.Assumption) bool { return row.Field == field.Name })
		if !srv.Assumptions()[row].Changed {
			t.Errorf("%s=%s changed nothing", field.Name, value)
		}
		srv.Close()
	}
	if diff := cmp.Diff(settable, mockserver.AssumptionNames()); diff != "" {
		t.Error(diff)
	}
	for name, value := range map[string]string{"PerPageCap": "many", "LastPageNull": "perhaps", "Purchasing": "5", "PerPgeCap": "1", "DeliveryAccept": "2xx"} {
		srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithAssumption(name, value))
		if err := srv.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
		srv.Close()
	}
}

// Values out of range were accepted: a status of 99, a negative cap, and a number that is not one, for which
// GET /_mock/assumptions failed from then on, also after a restart. Every way to set an assumption checks its range.
func TestAssumptions_AreChecked(t *testing.T) {
	t.Parallel()
	inRange := start(t, mockserver.WithoutListener())
	saved := filepath.Join(t.TempDir(), "saved.json")
	if _, err := inRange.Open("default_ci"); err != nil {
		t.Fatal(err)
	}
	post(t, inRange, "/_mock/worlds", `{"name":"other","assumptions":{"PerPageCap":77}}`).want(t, http.StatusOK)
	if err := inRange.SaveState(saved); err != nil {
		t.Fatal(err)
	}
	state, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ field, value, want string }{
		{"RuleFailureStatus", "99", "RuleFailureStatus is 99: it must be from 400 to 599, or 0 for the default"},
		{"RuleFailureStatus", "600", "from 400 to 599"},
		{"FundsStatus", "500", "from 400 to 499"},
		{"AnalyzeStatus", "300", "from 200 to 299"},
		{"PurchaseStatus", "99", "from 200 to 299"},
		{"PerPageCap", "-1", "from 1 to 1000000"},
		{"Purchasing", "-1s", "Purchasing is -1s: it must be from 1ns to 8760h0m0s"},
		{"UnknownState", "-1ns", "UnknownState is -1ns"},
		{"EvidenceAfter", "10000h", "to 8760h0m0s"},
		{"GenerationScale", "NaN", "GenerationScale is NaN: it must be from -1000000 to 1000000"},
		{"GenerationScale", "+Inf", "GenerationScale is +Inf"},
		{"GenerationScale", "1e7", "to 1000000"},
		{"DeliveryAttempts", "-1", "from 1 to 1000"},
		{"DeliveryBackoff", "-1s", "DeliveryBackoff is -1s"},
		{"DeliveryTimeout", "-1s", "DeliveryTimeout is -1s"},
		{"MaxBody", "-1", "from 1 to 1073741824"},
	} {
		t.Run(test.field+"="+test.value, func(t *testing.T) {
			t.Parallel()
			srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithAssumption(test.field, test.value))
			defer srv.Close()
			if err := srv.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the option: %v", err)
			}
			if test.field == "MaxBody" { // the whole server has it
				return
			}
			own := start(t, mockserver.WithoutListener())
			change := fmt.Sprintf(`{"assumptions":{%q:%q}}`, test.field, test.value)
			do(t, own, http.MethodPatch, "/_mock/assumptions", change).refusal(t, http.StatusBadRequest, test.want)
			post(t, own, "/_mock/worlds", `{"name":"ci",`+change[1:]).refusal(t, http.StatusBadRequest, test.want)
			get(t, own, "/_mock/assumptions").want(t, http.StatusOK)
			path := filepath.Join(t.TempDir(), "state.json")
			damaged := strings.Replace(string(state), `"PerPageCap":77`, fmt.Sprintf("%q:%q", test.field, test.value), 1)
			if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil || damaged == string(state) {
				t.Fatal(err)
			}
			if err := own.LoadState(path); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the state file: %v", err)
			}
		})
	}
	if err := inRange.SetAssumptions(func(a *mockserver.Assumptions) { a.PerPageCap = -2 }); err == nil || !strings.Contains(err.Error(), "PerPageCap is -2") {
		t.Errorf("SetAssumptions: %v", err)
	}
	for _, row := range inRange.Assumptions() {
		if row.Changed {
			t.Errorf("%s is changed", row.Field)
		}
	}
}

// A scenario whose terms contradict each other was accepted, and its last term applied. A deposit of nothing was
// accepted too.
func TestScenario_ContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	for scenario, want := range map[string]string{
		"cap2-cap3": "capN twice", "virtual-real": "time is virtual or real", "seed1-empty-seed2": "seedN twice", "instant-instant": "instant twice",
		"empty-lowfunds": "contradicts itself",
	} {
		post(t, srv, "/_mock/worlds", `{"scenario":"`+scenario+`","name":"x"}`).refusal(t, http.StatusBadRequest, want)
	}
	post(t, srv, "/_mock/worlds", `{"scenario":"cap2-virtual-instant-lowfunds","name":"x"}`).want(t, http.StatusOK)
	for _, amount := range []string{"0", "0.00", "-1"} {
		do(t, srv, http.MethodPatch, "/_mock/ledger", `{"fund":[{"wallet":"`+srv.Wallets()[0]+`","amount":`+amount+`}]}`).refusal(t, http.StatusBadRequest, "must be above zero")
	}
}

// A world can be opened over HTTP with its own assumptions, and shows them.
func TestAdmin_OpensAWorldWithAssumptions(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), mockserver.WithAssumptions(mockserver.Strict))
	key := post(t, srv, "/_mock/worlds", `{"scenario":"default","name":"ci","assumptions":{"PerPageCap":2,"LastPageNull":true,"ObjectBreakdown":true,"Purchasing":"5s"}}`).want(t, 200).text(t, "secret_key")
	var page struct {
		Rates []struct{ Breakdown map[string]json.Number }
	}
	as(t, srv, key, "GET", "/v1/rates?perPage=10", "").want(t, 200).data(t, &page)
	if len(page.Rates) != 2 || len(page.Rates[0].Breakdown) == 0 {
		t.Errorf("%+v", page)
	}
	var rows []struct {
		Field   string
		Changed bool
		Value   any
	}
	get(t, srv, "/_mock/assumptions?world=default_ci").data(t, &rows)
	shown := map[string]any{}
	for _, row := range rows {
		if row.Changed {
			shown[row.Field] = row.Value
		}
	}
	want := map[string]any{
		"PerPageCap": 2.0, "LastPageNull": true, "ObjectBreakdown": true, "Purchasing": "5s", "RefuseUnknownFields": true,
		"RefuseUnknownParameters": true, "RefuseWrongParameters": true, "RequireContentType": true, "CheckResponses": true,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Error(diff)
	}
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(get(t, srv, "/_mock/openapi.json?world=default_ci").body, &document); err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(document.Components.Schemas["TransactionPagination"]); !strings.Contains(string(text), `"null"`) {
		t.Errorf("the document of the world has %s", text)
	}
	for body, status := range map[string]int{
		`{"name":"default_ci","assumptions":{"PerPageCap":3}}`:     http.StatusConflict,
		`{"name":"home","assumptions":{"PerPageCap":3}}`:           http.StatusConflict,
		`{"name":"default_x","assumptions":{"PerPgeCap":3}}`:       http.StatusBadRequest,
		`{"name":"default_x","assumptions":{"PerPageCap":"lots"}}`: http.StatusBadRequest,
		`{"name":"default_x","assumptions":{"OneWorld":true}}`:     http.StatusBadRequest,
		`{"name":"default_x","assumptions":{"MaxBody":1}}`:         http.StatusBadRequest,
		`{"name":"default_x","assumptions":{"DeliverAnywhere":1}}`: http.StatusBadRequest,
		`{"name":"default_x","assumptions":{"PerPageCap":[1]}}`:    http.StatusBadRequest,
	} {
		post(t, srv, "/_mock/worlds", body).refusal(t, status, "")
	}
	if worlds := srv.Worlds(); len(worlds) != 2 {
		t.Errorf("%d worlds are open", len(worlds))
	}
}

// Over HTTP, wallets can be funded and exchange rates can be set: all that a request contains, or nothing.
func TestAdmin_FundsAndSetsExchangeRates(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	wallet := srv.Wallets()[0]
	before, _ := srv.Balance(wallet)
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	fund := func(order string) string {
		return `{"fund":[{"wallet":"` + wallet + `","amount":1},` + order + `],"exchange_rates":{"NGN":1}}`
	}
	for body, want := range map[string]string{
		`{}`:                                 "GET /_mock/ledger lists the wallets",
		fund(`{"wallet":"` + wallet + `"}`):  "must be above zero",
		fund(`{"wallet":"VA-1","amount":1}`): "VA-1",
		fund(`{"wallet":"` + wallet + `","amount":-1}`):                                  "must be above zero",
		`{"fund":[{"wallet":"` + wallet + `","amount":1}],"exchange_rates":{"NGN":0}}`:   "must be above zero",
		`{"fund":[{"wallet":"` + wallet + `","amount":1}],"exchange_rates":{"naira":1}}`: "no wallet holds that currency",
	} {
		do(t, srv, http.MethodPatch, "/_mock/ledger", body).refusal(t, 400, want)
	}
	if same, _ := srv.Balance(wallet); same.Cmp(before) != 0 {
		t.Errorf("refused deposits changed %s to %s", before, same)
	}
	if same := analyzeShipment(t, srv, srv.Shipments()[0]); !reflect.DeepEqual(same.AvailableDocuments, draft.AvailableDocuments) {
		t.Errorf("refused exchange rates changed the prices %v to %v", draft.AvailableDocuments, same.AvailableDocuments)
	}

	var ledger struct {
		ExchangeRates map[string]json.Number `json:"exchange_rates"`
	}
	do(t, srv, http.MethodPatch, "/_mock/ledger", fund(`{"wallet":"`+wallet+`","amount":11.50}`)).want(t, 200).data(t, &ledger)
	want, err := before.Add(amount(t, "12.50"))
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := srv.Balance(wallet); after.Cmp(want) != 0 {
		t.Errorf("%s, then %s", before, after)
	}
	if ledger.ExchangeRates["NGN"] != "1" {
		t.Errorf("%+v", ledger)
	}
	if cheaper := analyzeShipment(t, srv, srv.Shipments()[0]); reflect.DeepEqual(cheaper.AvailableDocuments, draft.AvailableDocuments) {
		t.Error("the prices are the same")
	}
}
