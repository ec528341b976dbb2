package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// dialectOf returns the option of a dialect in the form of the flag.
func dialectOf(t *testing.T, text string) mockserver.Option {
	t.Helper()
	return mockserver.WithDialect(shippingtest.Dialect(t, text))
}

// A draft never expired, so that no test found a program that fails each night for a draft that has expired.
func TestAssumption_DraftsExpire(t *testing.T) {
	t.Parallel()
	const gone = "data.error_code=not_found"
	for _, test := range []struct {
		dialect         string
		lookUp          int
		shows           string
		purchase        int
		refusedPurchase string
	}{
		{"time.draft_life=24h", 404, gone, 404, gone},
		{"time.draft_life=24h,refusal.expired_code=STALE", 200, "data.status=draft", 400, "data.error_code=STALE"},
		{"time.draft_life=24h,record.states=lapsed=expired", 200, "data.status=lapsed", 400,
			"data.error_code=request_expired"},
		{"time.draft_life=24h,record.states=lapsed=expired,refusal.expired_code=STALE", 200,
			"data.status=lapsed", 400, "data.error_code=STALE"},
		{"time.draft_life=25h,record.states=lapsed=expired", 200, "data.status=draft", 200, "data.status=processing"},
		{"record.states=lapsed=expired,refusal.expired_code=STALE", 200, "data.status=draft", 200, "data.status=processing"},
	} {
		t.Run(test.dialect, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual(), dialectOf(t, test.dialect))
			bought, draft := analyzeShipment(t, srv, srv.Shipments()[0]).ID, analyzeShipment(t, srv, srv.Shipments()[0]).ID
			purchase(t, srv, bought, "CUSTOMS").want(t, 200)
			advance(t, srv, 24*time.Hour-1)
			lookUp := func(id string) answer { return get(t, srv, regulatoryPath+"/request/"+id) }
			lookUp(draft).want(t, 200).has(t, "data.status=draft")
			advance(t, srv, 1)
			lookUp(draft).want(t, test.lookUp).has(t, test.shows)
			purchase(t, srv, draft, "CUSTOMS").want(t, test.purchase).has(t, test.refusedPurchase)
			lookUp(bought).want(t, 200).has(t, "data.status=completed")
		})
	}
}

// A request changes its status at the times of the dialect.
func TestAssumption_Times(t *testing.T) {
	t.Parallel()
	for decided, want := range map[string]string{
		"":                    "0s processing, 2s completed, 1h0m0s completed, manual processing",
		"time.purchasing=90s": "0s purchasing, 2s purchasing, 1h0m0s completed, manual processing",
		"time.generation=10":  "0s processing, 2s processing, 1h0m0s completed, manual processing",
		"time.evidence=50m":   "0s processing, 2s completed, 1h0m0s completed, manual completed",
	} {
		srv := start(t, mockserver.WithoutListener(), virtual(), dialectOf(t, decided))
		id, manual := analyzeShipment(t, srv, srv.Shipments()[0]).ID, analyzeShipment(t, srv, "SH-MAGICNEEDEVIDENCE").ID
		purchase(t, srv, id, "CUSTOMS").want(t, http.StatusOK)
		purchase(t, srv, manual, "MSDS").want(t, http.StatusOK)
		var got strings.Builder
		at := time.Duration(0)
		for _, until := range []time.Duration{0, 2 * time.Second, time.Hour} {
			advance(t, srv, until-at)
			at = until
			fmt.Fprintf(&got, "%s %s, ", at, lookUp(t, srv, id).Status)
		}
		shippingtest.Diff(t, decided, want, got.String()+"manual "+lookUp(t, srv, manual).Status)
	}
}

// Lists in the other order have the same records, a page is at most as long as the cap, and nothing comes after the
// last page.
func TestAssumption_Lists(t *testing.T) {
	t.Parallel()
	plain := start(t, mockserver.WithoutListener())
	other := start(t, mockserver.WithoutListener(),
		dialectOf(t, "list.order=oldest first,list.max_per_page=50"))
	for _, list := range []string{"rates", "webhooks", "transactions"} {
		path := "/v1/" + list + "?wallet=" + plain.Wallets()[0] + "&perPage=1000"
		all, _ := records(t, get(t, plain, path), list)
		slices.Reverse(all)
		last := (len(all)-1)/50 + 1
		some, _ := records(t, get(t, other, fmt.Sprint(path, "&page=", last)), list)
		shippingtest.Diff(t, list, all[(last-1)*50:], some)
	}
	get(t, other, "/v1/rates").has(t, "data.pagination.pageCount=5")
}

func TestAssumption_PastEnd(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]string{"empty": "0 records, page 99", "last page": "1 records, page 14",
		"refused": "400"} {
		srv := start(t, mockserver.WithoutListener(), mockserver.WithScenario("history42"),
			dialectOf(t, "list.past_end="+choice))
		a := get(t, srv, "/v1/transactions?perPage=2&page=99&wallet="+srv.Wallets()[0])
		got := fmt.Sprint(a.status)
		if a.status == http.StatusOK {
			found, _ := records(t, a, "transactions")
			got = fmt.Sprintf("%d records, page %v", len(found), a.at(t, "data.pagination.page"))
		}
		shippingtest.Diff(t, choice, want, got)
	}
}

// Each switch refuses a tolerated request.
func TestAssumption_Strictness(t *testing.T) {
	t.Parallel()
	tolerant := start(t, mockserver.WithoutListener())
	strict := start(t, mockserver.WithoutListener(), dialectOf(t, "strict"))
	for _, test := range []struct {
		send   string
		status int
		want   string
	}{
		{"GET /v1/rates?sort=asc&page=1", 400, "has no query parameter sort: it takes perPage, page"},
		{"GET /v1/countries?page=1", 400, "it takes none"},
		{"GET /v1/rates?page=two", 400, "whole number of at least 1"},
		{"GET /v1/webhooks?perPage=0", 400, "whole number of at least 1"},
		{`POST {docs}/analyze {"shipment_id":"SHIPMENT","colour":"red"}`, 400, "colour"},
	} {
		text := strings.ReplaceAll(test.send, "SHIPMENT", tolerant.Shipments()[0])
		send(t, tolerant, text).want(t, 200)
		send(t, strict, text).refusal(t, test.status, test.want)
	}
}

// A world can be opened over HTTP with its own dialect, and shows it.
func TestAdmin_OpensAWorldWithADialect(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), dialectOf(t, "strict"))
	key := post(t, srv, "/_mock/worlds", `{"name":"ci","dialect":{"list":{"max_per_page":2},
		"record":{"line_items":"goods"},"time":{"purchasing":"5s"}}}`).want(t, 200).text(t, "secret_key")
	other := post(t, srv, "/_mock/worlds", `{"name":"other","dialect":"contrary,list.max_per_page=7"}`).
		want(t, 200).text(t, "secret_key")
	as(t, srv, other, "GET", "/v1/transactions?wallet=VA-0", "").want(t, 404).has(t, "title=Not Found")
	rates := as(t, srv, key, "GET", "/v1/rates?perPage=10", "")
	if list, _ := rates.at(t, "data.rates").([]any); len(list) != 2 {
		t.Errorf("%s", rates.body)
	}
	var fields []dialect.Field
	get(t, srv, "/_mock/dialect?world=default_ci").data(t, &fields)
	shown := map[string]string{}
	for _, field := range fields {
		if field.Set {
			shown[field.Name] = strings.Join([]string{field.Value, field.Values + field.Range, field.Contrary}, " | ")
		}
	}
	for name, want := range map[string]string{
		"list.max_per_page": "2 | 1..1000000 | 100", "time.purchasing": "5s", "request.unknown_fields": "refused",
	} {
		if !strings.HasPrefix(shown[name], want) {
			t.Errorf("%s is shown as %q, want %q", name, shown[name], want)
		}
	}
	document := get(t, srv, "/_mock/openapi.json?world=default_ci")
	text := shippingtest.Must(json.Marshal(document.at(t, "components.schemas.RegulatoryRequest.required")))(t)
	shippingtest.Contains(t, "the document of the world", text, `"goods"`)
	for body, status := range map[string]int{
		`{"name":"default_x","dialect":"contrari"}`:                      http.StatusBadRequest,
		`{"name":"default_ci","dialect":{"list":{"max_per_page":3}}}`:    http.StatusConflict,
		`{"name":"home","dialect":"list.max_per_page=3"}`:                http.StatusConflict,
		`{"name":"default_x","dialect":{"list":{"max_per_pge":3}}}`:      http.StatusBadRequest,
		`{"name":"default_x","dialect":{"list":{"max_per_page":-1}}}`:    http.StatusBadRequest,
		`{"name":"default_x","dialect":"list.order=at random"}`:          http.StatusBadRequest,
		`{"name":"default_x","dialect":{"list":{"breakdown":"object"}}}`: http.StatusBadRequest,
	} {
		post(t, srv, "/_mock/worlds", body).refusal(t, status, "")
	}
	shippingtest.Diff(t, "open worlds", 3, len(srv.Worlds()))
	refused := mockserver.New(mockserver.WithoutListener(), dialectOf(t, "list.max_per_page=-1"))
	defer refused.Close()
	shippingtest.Contains(t, "the option", refused.Err(), "list.max_per_page is -1: a number from 1 to 1000000")
}

func TestOpenAPI_FollowsTheServersOwnRoutes(t *testing.T) {
	t.Parallel()
	const route = "/v1/regulatory-retries/{request_id}"
	srv := start(t, dialectOf(t, "routes="+operations.RetryRequest+"="+route))
	post(t, srv, "/v1/regulatory-retries/RD-1", "").refusal(t, http.StatusNotFound, "RD-1")
	post(t, srv, regulatoryPath+"/request/RD-1/retry", "").refusal(t, http.StatusNotFound, "no route")
	// the dialect has none
	get(t, srv, regulatoryPath+"/request/RD-1/documents/FDA/pdf").refusal(t, http.StatusNotFound, "no route")
	document := get(t, srv, "/_mock/openapi.json")
	shippingtest.Contains(t, "the document", document.body, `"`+route+`"`)
}
