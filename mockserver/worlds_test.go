package mockserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/goods"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// as sends a request with a key of the caller's.
func as(t *testing.T, srv *mockserver.Server, key, method, path, body string) answer {
	t.Helper()
	return do(t, srv, method, path, body, "Authorization", "Bearer "+key)
}

// purchaseFirst analyzes the first shipment of a world and purchases a document. It returns the id of the request.
func purchaseFirst(t *testing.T, srv *mockserver.Server, w *mockserver.World) (id string, bought answer) {
	t.Helper()
	id = as(t, srv, w.SecretKey, "POST", regulatoryPath+"/analyze", analyzeFirst(w)).want(t, http.StatusOK).text(t, "request_id")
	return id, as(t, srv, w.SecretKey, "POST", regulatoryPath+"/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`)
}

// buy is purchaseFirst of a purchase that succeeds.
func buy(t *testing.T, srv *mockserver.Server, w *mockserver.World) string {
	t.Helper()
	id, bought := purchaseFirst(t, srv, w)
	bought.want(t, http.StatusOK)
	return id
}

// Two worlds of one plan begin with the same contents, and share nothing that changes.
func TestWorlds_OfOnePlanShareNothing(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	one, other := srv.NewWorld(t), srv.NewWorld(t)
	t.Run(strings.Repeat("long", 20), func(t *testing.T) { srv.NewWorld(t) })
	rates := string(as(t, srv, other.SecretKey, "GET", "/_mock/ledger?perPage=1", "").body)
	if err := one.SetExchangeRate("NGN", amount(t, "2")); err != nil {
		t.Fatal(err)
	}
	if got := string(as(t, srv, other.SecretKey, "GET", "/_mock/ledger?perPage=1", "").body); got != rates {
		t.Errorf("the other world has %s, before %s", got, rates)
	}
	var ids []string
	for i, w := range []*mockserver.World{one, other} {
		id, err := w.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:9/", Name: fmt.Sprint(i)})
		if err != nil || slices.Contains(ids, id) {
			t.Fatalf("%s after %v: %v", id, ids, err)
		}
		ids = append(ids, id)
	}
	analyzed := func() string {
		return as(t, srv, one.SecretKey, "POST", regulatoryPath+"/analyze", analyzeFirst(one)).text(t, "request_id")
	}
	var hooks []struct{ Name string }
	if as(t, srv, one.SecretKey, "GET", "/_mock/webhooks?perPage=1", "").data(t, &hooks); hooks[0].Name != "0" {
		t.Errorf("the newest webhook of the first world is %q", hooks[0].Name)
	}
	if err := one.Inject(fault.Rule{First: 1, Fault: fault.InsertRows(1)}); err != nil {
		t.Fatal(err)
	}
	if err := one.Fund(one.Wallets()[0], amount(t, "1")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/rates?perPage=1", "/v1/transactions?perPage=1&wallet=" + one.Wallets()[0]} {
		total := func(w *mockserver.World) float64 {
			return as(t, srv, w.SecretKey, "GET", path, "").at(t, "data.pagination.total").(float64)
		}
		if first, others := total(one), total(other); first != others+1 {
			t.Errorf("%s: %v, and in the other world %v", path, first, others)
		}
	}
	url, err := one.AddInvoice(goods.Invoice{})
	if _, again := other.AddInvoice(goods.Invoice{}); err != nil || again != nil || !slices.Contains(one.Invoices(), url) {
		t.Errorf("the invoices of the first world are %v: %v, %v", one.Invoices(), err, again)
	}
	one.Reset()
	first := analyzed()
	one.Reset()
	if again := analyzed(); again != first {
		t.Errorf("after a reset the first request is %s, and was %s", again, first)
	}
}

func TestWorlds_OtherKeysAreRefused(t *testing.T) {
	t.Parallel()
	srv := start(t)
	tests := []struct{ name, key, want string }{
		{"no scenario", "sk_test_ci42", "unknown secret key"},
		{"no name", "sk_test_default_", "unknown secret key"},
		{"odd name", "sk_test_default_a/b", "unknown secret key"},
		{"long name", "sk_test_default_" + strings.Repeat("x", 65), "unknown secret key"},
		{"live", "sk_live_default_ci", "unknown secret key"},
		{"unknown scenario", "sk_test_lots_ci", "unknown or contradictory scenario"},
		{"number too large", "sk_test_rows100000001_ci", "number out of range"},
		{"number missing", "sk_test_rows_ci", "unknown or contradictory scenario"},
		{"contradiction", "sk_test_empty-rows5_ci", "number out of range"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			as(t, srv, test.key, "GET", "/v1/rates", "").refusal(t, http.StatusUnauthorized, test.want)
			if _, err := srv.Open(test.key); !errors.Is(err, mockserver.ErrNoWorld) {
				t.Errorf("Open: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if got := len(srv.Worlds()); got != 1 {
			t.Errorf("%d worlds are open", got)
		}
	})
	one := start(t, mockserver.WithOneWorld())
	as(t, one, "sk_test_default_ci", "GET", "/v1/rates", "").refusal(t, http.StatusUnauthorized, "unknown secret key")
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	srv := start(t)
	total := func(t *testing.T, w *mockserver.World, path string) int {
		var page struct{ Pagination struct{ Total int } }
		as(t, srv, w.SecretKey, "GET", path, "").want(t, http.StatusOK).data(t, &page)
		return page.Pagination.Total
	}
	status := func(t *testing.T, w *mockserver.World, id string) string {
		return as(t, srv, w.SecretKey, "GET", regulatoryPath+"/request/"+id, "").text(t, "status")
	}
	tests := map[string]func(t *testing.T, w *mockserver.World){
		"default": func(t *testing.T, w *mockserver.World) {
			if !slices.Equal(w.Shipments(), srv.Shipments()) || !slices.Equal(w.Wallets(), srv.Wallets()) {
				t.Error("it is not as the server's own")
			}
		},
		"seed7": func(t *testing.T, w *mockserver.World) {
			if w.Wallets()[0] == srv.Wallets()[0] {
				t.Error("it is as the server's own")
			}
		},
		"empty": func(t *testing.T, w *mockserver.World) {
			if len(w.Shipments())+len(w.Webhooks())+len(w.Deliveries()) > 0 || total(t, w, "/v1/rates") != 0 {
				t.Error("it is not empty")
			}
			if balance, open := w.Balance(w.Wallets()[0]); !open || balance.Sign() != 0 || total(t, w, "/v1/transactions?wallet="+w.Wallets()[0]) != 0 {
				t.Errorf("the first wallet holds %s (%v)", balance, open)
			}
		},
		"lowfunds": func(t *testing.T, w *mockserver.World) {
			_, got := purchaseFirst(t, srv, w)
			got.refusal(t, http.StatusBadRequest, "fund the wallet")
		},
		"history1000": func(t *testing.T, w *mockserver.World) {
			sum := 0
			for _, wallet := range w.Wallets() {
				sum += total(t, w, "/v1/transactions?wallet="+wallet)
			}
			if sum < 1000+len(w.Wallets()) {
				t.Errorf("%d transactions", sum)
			}
		},
		// A world had exactly 16 shipments, so that a batch of thirty could not be tested.
		"shipments30": func(t *testing.T, w *mockserver.World) {
			ids := w.Shipments()
			if len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 30 {
				t.Errorf("shipments %v", ids)
			}
			as(t, srv, w.SecretKey, "POST", regulatoryPath+"/analyze", `{"shipment_id":"`+ids[29]+`"}`).want(t, http.StatusOK)
		},
		"instant-virtual": func(t *testing.T, w *mockserver.World) {
			id := buy(t, srv, w)
			if _, err := w.Advance(0); err != nil {
				t.Fatal(err)
			}
			if got := status(t, w, id); got != "completed" {
				t.Errorf("it is %s", got)
			}
		},
		"cap25": func(t *testing.T, w *mockserver.World) {
			if rates, _ := records(t, as(t, srv, w.SecretKey, "GET", "/v1/rates?perPage=80", ""), "rates"); len(rates) != 25 {
				t.Errorf("%d rates", len(rates))
			}
		},
		"real": func(t *testing.T, w *mockserver.World) {
			if _, err := w.Advance(time.Second); !errors.Is(err, mockserver.ErrRealClock) {
				t.Errorf("advancing: %v", err)
			}
		},
	}
	for scenario, test := range tests {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			w := srv.NewWorld(t, scenario)
			test(t, w)
			if err := w.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A computed list is the same whenever it is read: every page, every identifier once, newest first.
func TestRows_AreComputedFromTheirPlace(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithScenario("rows2500"))
	wallet := srv.Wallets()[0]
	var all, paged []struct {
		ID        string          `json:"transactionId"`
		Storage   string          `json:"_id"`
		Amount    shipping.Amount `json:"amount"`
		Flat      int64           `json:"flat_amount"`
		CreatedAt string          `json:"created_at"`
		TxRef     string          `json:"txRef"`
	}
	get(t, srv, "/v1/transactions?perPage=5000&wallet="+wallet).data(t, &struct{ Transactions any }{&all})
	for _, page := range []string{"1", "2", "3"} {
		one := all[:0:0]
		get(t, srv, "/v1/transactions?perPage=999&page="+page+"&wallet="+wallet).data(t, &struct{ Transactions any }{&one})
		paged = append(paged, one...)
	}
	if diff := cmp.Diff(all, paged); diff != "" || len(all) != 2500 {
		t.Fatalf("%d rows; three pages and one (-one +three):\n%s", len(all), diff)
	}
	seen, without := map[string]bool{}, 0
	for i, row := range all {
		if row.TxRef == "" {
			without++
		}
		if seen[row.ID] || seen[row.Storage] || (i > 0 && row.CreatedAt >= all[i-1].CreatedAt) {
			t.Errorf("row %d is there twice, or not older than the one before: %+v", i, row)
		}
		if flat, err := row.Amount.Flat(); err != nil || flat != row.Flat {
			t.Errorf("row %d: flat_amount %d of %s", i, row.Flat, row.Amount)
		}
		seen[row.ID], seen[row.Storage] = true, true
	}
	if without < 300 || without > 400 {
		t.Errorf("%d of 2,500 rows have no txRef, want every seventh", without)
	}
}

func amount(t *testing.T, text string) shipping.Amount {
	t.Helper()
	a, err := shipping.ParseAmount(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The PDF operation needs no key: the request in the path determines the world.
func TestWorlds_APDFWithoutAKeyIsFound(t *testing.T) {
	t.Parallel()
	srv := start(t)
	w := srv.NewWorld(t, "instant-virtual")
	id := buy(t, srv, w)
	if _, err := w.Advance(0); err != nil {
		t.Fatal(err)
	}
	do(t, srv, "GET", regulatoryPath+"/request/"+id+"/documents/CUSTOMS/pdf", "", "Authorization", "").want(t, http.StatusOK)
}

// Many goroutines that use a key for the first time share one world.
func TestWorlds_AreOpenedOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	var running sync.WaitGroup
	names := make([]string, 50)
	for i := range names {
		running.Go(func() {
			w, err := srv.Open("seed11_shared")
			if err != nil {
				t.Error(err)
				return
			}
			names[i] = w.Name()
		})
	}
	running.Wait()
	if distinct := slices.Compact(names); len(distinct) != 1 || len(srv.Worlds()) != 2 {
		t.Errorf("%d distinct worlds; %d are open", len(distinct), len(srv.Worlds()))
	}
	srv.Close()
	if _, err := srv.Open("default_x"); err == nil {
		t.Error("a closed server opens a world")
	}
}

func TestAdminWorlds_RefuseWithTheReason(t *testing.T) {
	t.Parallel()
	srv := start(t)
	post(t, srv, "/_mock/worlds", `{"scenario":"virtual","name":"ci"}`).want(t, http.StatusOK)
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/_mock/worlds", `{"name":"c i"}`, 400, "a key is sk_"},
		{"POST", "/_mock/worlds", `{}`, 400, "name is required: send {"},
		{"POST", "/_mock/worlds", `{"scenario":"lots","name":"ci"}`, 400, `unknown scenario "lots": use one of default, `},
		{"POST", "/_mock/worlds", `{"scenario":"lowfund","name":"ci"}`, 400, `unknown scenario "lowfund": did you mean "lowfunds"?`},
		{"POST", "/_mock/worlds", `{"scenario":"virtual-row1000","name":"ci"}`, 400, `unknown scenario "row1000": did you mean "rowsN"?`},
		{"POST", "/_mock/worlds", `{"scenario":"cap2-cap3","name":"x"}`, 400, "capN twice"},
		{"POST", "/_mock/worlds", `{"scenario":"virtual-real","name":"x"}`, 400, "time is virtual or real"},
		{"POST", "/_mock/worlds", `{"scenario":"seed1-empty-seed2","name":"x"}`, 400, "seedN twice"},
		{"POST", "/_mock/worlds", `{"scenario":"instant-instant","name":"x"}`, 400, "instant twice"},
		{"POST", "/_mock/worlds", `{"scenario":"empty-lowfunds","name":"x"}`, 400, "contradicts itself"},
		{"POST", "/_mock/worlds/virtual_c/reset", ``, 404, `no world "virtual_c" is open: did you mean virtual_ci?`},
		{"DELETE", "/_mock/worlds/home", ``, 400, "POST /_mock/worlds/home/reset"},
	} {
		do(t, srv, test.method, test.path, test.body).refusal(t, test.status, test.want)
	}
}

// Who opens a world gets everything that is needed to use it, as from GET /_mock/worlds/{world}.
func TestAdminWorlds_OpenedOnesAreShownWhole(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	for _, test := range []struct{ body, name string }{
		{`{"scenario":"lowfunds","name":"ci"}`, "lowfunds_ci"},
		{`{"name":"ci"}`, "default_ci"},
		{`{"name":"empty_ci"}`, "empty_ci"},
		{`{"name":"sk_test_default_key"}`, "default_key"},
		{`{"name":"default_Ci_4.2-Z"}`, "default_Ci_4.2-Z"},
		{`{"name":"home"}`, "home"},
	} {
		var opened, shown map[string]any
		post(t, srv, "/_mock/worlds", test.body).want(t, http.StatusOK).data(t, &opened)
		get(t, srv, "/_mock/worlds/"+test.name).want(t, http.StatusOK).data(t, &shown)
		if diff := cmp.Diff(shown, opened); diff != "" || opened["name"] != test.name || opened["wallets"] == nil {
			t.Errorf("%s (-shown +opened):\n%s", test.body, diff)
		}
	}
}
