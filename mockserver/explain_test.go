package mockserver_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Every refusal has its status and error code, charges nothing, and carries the address of its explanation. The request
// that the explanation suggests is accepted.
func TestWhy_SuggestsARequestThatIsAccepted(t *testing.T) {
	t.Parallel()
	const request = regulatoryPath + "/request/"
	tests := []struct {
		name, method, path, body string
		headers                  []string
		code                     string // status and error code
		heading                  string
		operation                string // of the suggestion; "" without one
		keeps                    string // a text that it keeps
	}{
		{"no wallet", "GET", "/v1/transactions?perPage=7&page=0", "", nil, "400 invalid_request", "GET /v1/transactions",
			shipping.OpListTransactions, "perPage=7"},
		{"unknown wallet", "GET", "/v1/transactions?wallet=VA-1", "", nil, "404 not_found", "list.unknown_wallet",
			shipping.OpListTransactions, "wallet=VA-"},
		{"misspelt path", "GET", "/v1/countrys", "", nil, "404 not_found", "every path begins with /v1",
			shipping.OpListCountries, "/v1/countries"},
		{"other method", "DELETE", "/v1/rates", "", nil, "405 method_not_allowed", "Endpoints", shipping.OpListRates, ""},
		{"no key", "GET", "/v1/rates?page=2", "", []string{"Authorization", ""}, "401 unauthorized", "Authentication",
			shipping.OpListRates, "page=2"},
		{"a form", "POST", regulatoryPath + "/analyze", "shipment_id=1", []string{"Content-Type", "text/plain"},
			"415 unsupported_media_type", "Content-Type", shipping.OpAnalyze, ""},
		{"broken JSON", "POST", regulatoryPath + "/analyze", "{", nil, "400 malformed_body", "bodies and responses are JSON",
			shipping.OpAnalyze, "shipment_id"},
		{"both flows", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SHIPMENT","file_url":"INVOICE"}`, nil,
			"400 invalid_request", "POST /analyze", shipping.OpAnalyze, "SHIPMENT"},
		{"unknown invoice", "POST", regulatoryPath + "/analyze", `{"file_url":"https://x.example/1","wallet":"WALLET"}`, nil,
			"400 analysis_failed", "request states", shipping.OpAnalyze, "WALLET"},
		{"nothing to replay", "POST", "/v1/webhooks/replay", `{}`, nil, "400 invalid_request", "webhooks/replay, Rules",
			shipping.OpReplayWebhook, "shipment.created"},
		{"replay to a stranger", "POST", "/v1/webhooks/replay",
			`{"shipment_id":"SHIPMENT","event":"shipment.updated","webhook_id":"WA-1"}`, nil, "400 invalid_request", "Rules",
			shipping.OpReplayWebhook, "shipment.updated"},
		{"replay of an event without a subscriber", "POST", "/v1/webhooks/replay",
			`{"shipment_id":"SHIPMENT","event":"shipment.lost"}`, nil, "400 invalid_request", "Rules", shipping.OpReplayWebhook,
			"SHIPMENT"},
		{"unknown delivery", "POST", "/v1/webhooks/replay", `{"delivery_id":"WD-1"}`, nil, "404 not_found", "webhooks/replay",
			shipping.OpReplayWebhook, ""},
		{"no documents", "POST", regulatoryPath + "/purchase", `{"request_id":"DRAFT"}`, nil, "400 invalid_request",
			"POST /purchase", shipping.OpPurchase, "DRAFT"},
		{"one that is not offered", "POST", regulatoryPath + "/purchase",
			`{"request_id":"DRAFT","document_types":["CUSTOMS","MUSEUM"]}`, nil, "400 document_not_offered", "POST /purchase",
			shipping.OpPurchase, `["CUSTOMS"]`},
		// The nearest valid request corrects a misspelt document type, and never purchases another regulatory request.
		{"one that is misspelt", "POST", regulatoryPath + "/purchase",
			`{"request_id":"DRAFT","document_types":["fda","CUSTOM"]}`, nil, "400 unknown_document_type", "POST /purchase",
			shipping.OpPurchase, `"CUSTOMS"`},
		{"two that are misspelt", "POST", regulatoryPath + "/purchase",
			`{"request_id":"DRAFT","document_types":["fda","CUSTOM"]}`, nil, "400 unknown_document_type", "POST /purchase",
			shipping.OpPurchase, `"FDA"`},
		{"purchase of nothing", "POST", regulatoryPath + "/purchase", `{"request_id":"RD-1","document_types":["CUSTOMS"]}`,
			nil, "404 not_found", "POST /purchase", shipping.OpAnalyze, "shipment_id"},
		{"purchase without a request", "POST", regulatoryPath + "/purchase", `{"document_types":["CUSTOMS"]}`, nil,
			"400 invalid_request", "POST /purchase", shipping.OpAnalyze, "shipment_id"},
		{"bought already", "POST", regulatoryPath + "/purchase", `{"request_id":"BOUGHT","document_types":["CUSTOMS"]}`, nil,
			"400 already_purchased", "POST /purchase", shipping.OpGetRequest, "BOUGHT"},
		{"unknown request", "GET", request + "RD-1", "", nil, "404 not_found", "GET /request/:request_id",
			shipping.OpGetRequest, ""},
		{"items of nothing", "PUT", request + "DRAFT/items", `{"line_items":[]}`, nil, "400 invalid_request", "provisional",
			shipping.OpGetRequest, "DRAFT"},
		{"addresses of the bought", "PUT", request + "BOUGHT/addresses", `{}`, nil, "400 not_editable", "provisional",
			shipping.OpGetRequest, "BOUGHT"},
		{"shipping of a shipment", "PUT", request + "DRAFT/shipping", `{"service":"x"}`, nil, "400 shipment_flow",
			"provisional", shipping.OpGetRequest, "DRAFT"},
		{"profile of another form", "PUT", request + "DRAFT/profiles/MUSEUM", `{}`, nil, "400 document_not_offered",
			"provisional", shipping.OpGetRequest, "DRAFT"},
		{"nothing to retry", "POST", request + "BOUGHT/retry", "", nil, "400 not_retryable", "provisional",
			shipping.OpGetRequest, "BOUGHT"},
		{"neither flow", "POST", regulatoryPath + "/analyze", `{}`, nil, "400 invalid_request", "POST /analyze",
			shipping.OpAnalyze, ""},
		{"unknown shipment", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SH-1"}`, nil, "404 not_found", "",
			shipping.OpAnalyze, ""},
		{"too little money", "POST", regulatoryPath + "/purchase", `{"request_id":"POOR","document_types":["CUSTOMS"]}`, nil,
			"400 insufficient_funds", "POST /purchase", "", ""},
		{"one document twice", "POST", regulatoryPath + "/purchase", `{"request_id":"DRAFT","document_types":["FDA","FDA"]}`,
			nil, "400 repeated_document_type", "POST /purchase", shipping.OpPurchase, `["FDA"]`},
		{"profile with another field", "PUT", request + "DRAFT/profiles/CUSTOMS", `{"colour":"red"}`, nil,
			"400 invalid_profile", "provisional", shipping.OpGetRequest, "DRAFT"},
		{"PDF of a draft", "GET", request + "DRAFT/documents/FDA/pdf", "", nil, "404 not_found", "provisional",
			shipping.OpGetRequest, "DRAFT"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			bought := analyzeShipment(t, srv, srv.Shipments()[0])
			post(t, srv, regulatoryPath+"/purchase", `{"request_id":"`+bought.ID+`","document_types":["CUSTOMS"]}`).want(t, 200)
			advance(t, srv, time.Hour)
			poor := analyze(t, srv, `{"shipment_id":"`+srv.Shipments()[0]+`","wallet":"`+
				srv.Wallets()[len(srv.Wallets())-1]+`"}`)
			draft := analyzeShipment(t, srv, srv.Shipments()[0])
			fill := strings.NewReplacer("DRAFT", draft.ID, "POOR", poor.ID, "BOUGHT", bought.ID, "SHIPMENT", srv.Shipments()[1],
				"INVOICE", srv.Invoices()[0], "WALLET", srv.Wallets()[1])
			before := string(get(t, srv, "/_mock/ledger").body)
			refusal := do(t, srv, test.method, fill.Replace(test.path), fill.Replace(test.body), test.headers...)
			if got := fmt.Sprint(refusal.status, " ", refusal.text(t, "error_code")); got != test.code {
				t.Fatalf("%s, want %s: %s", got, test.code, refusal.body)
			}
			if after := string(get(t, srv, "/_mock/ledger").body); after != before {
				t.Errorf("the ledger changed from\n%s\nto\n%s", before, after)
			}
			link := refusal.header.Get("X-Mock-Why")
			if path, _, _ := strings.Cut(link, "?"); path != "/_mock/journal/"+refusal.header.Get("X-Request-Id") {
				t.Fatalf("X-Mock-Why is %q", link)
			}
			why := whyAt(t, srv, link)
			if !strings.Contains(why.Specification, test.heading) || why.Message == "" || why.ErrorCode == "" {
				t.Errorf("it rests on %q, %q", why.Specification, why.Rule)
			}
			near := why.Nearest
			if test.operation == "" && near == nil {
				return
			}
			if near == nil || near.Operation != test.operation ||
				!strings.Contains(near.Target+near.Body, fill.Replace(test.keeps)) || !strings.HasPrefix(near.Curl, "curl -i") {
				t.Fatalf("the nearest valid request is %+v", near)
			}
			do(t, srv, near.Method, near.Target, near.Body).want(t, http.StatusOK)
		})
	}
}

// The explanation names a misspelt field, whose value the suggestion keeps, and an identifier that it replaces.
func TestWhy_NotesWhatIsProbablyWrong(t *testing.T) {
	t.Parallel()
	const request = regulatoryPath + "/request/"
	tests := []struct {
		name, method, path, body string
		notes                    []string
		keeps                    string // a text that the suggestion keeps
	}{
		{"misspelt and unknown", "POST", regulatoryPath + "/analyze", `{"shipmentId":"SH-1"}`,
			[]string{`unknown field "shipmentId": did you mean "shipment_id"?`, "SH-1 is not a shipment of this world"},
			"shipment_id"},
		{"misspelt", "POST", regulatoryPath + "/analyze", `{"shipmentId":"SHIPMENT"}`,
			[]string{`unknown field "shipmentId": did you mean "shipment_id"?`}, "SHIPMENT"},
		{"sent twice", "POST", regulatoryPath + "/analyze", `{"fileURL":"x","file_url":"INVOICE","shipment_id":"SHIPMENT"}`,
			[]string{`unknown field "fileURL": did you mean "file_url"?`}, "SHIPMENT"},
		{"an effect, and no field that is near", "POST", regulatoryPath + "/analyze",
			`{"shipment_id":"SH-MAGICFAILANALYSIS","colour":"red"}`, nil, "shipment_id"},
		{"unknown wallet", "GET", "/v1/transactions?wallet=VA-1", "", []string{"VA-1 is not a wallet of this world"},
			"wallet=VA-"},
		{"analysis for an unknown wallet", "POST", regulatoryPath + "/analyze", `{"shipment_id":"SHIPMENT","wallet":"VA-1"}`,
			[]string{"VA-1 is not a wallet of this world"}, "SHIPMENT"},
		{"unknown request", "GET", request + "RD-1", "", []string{"RD-1 is not a regulatory request of this world"}, ""},
		{"unknown delivery and webhook", "POST", "/v1/webhooks/replay", `{"delivery_id":"WD-1","webhook_id":"WA-1"}`,
			[]string{"WA-1 is not a webhook of this world", "WD-1 is not a delivery of this world"}, "event"},
		{"nothing unknown", "POST", regulatoryPath + "/analyze", `{}`, nil, "shipment_id"},
	}
	srv := start(t, mockserver.WithoutListener())
	fill := strings.NewReplacer("SHIPMENT", srv.Shipments()[1], "INVOICE", srv.Invoices()[0])
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			id := do(t, srv, test.method, test.path, fill.Replace(test.body)).header.Get("X-Request-Id")
			why, err := srv.Why(id)
			if err != nil || why.Nearest == nil {
				t.Fatalf("%+v, %v", why, err)
			}
			if !slices.Equal(why.Notes, test.notes) {
				t.Errorf("the notes are %q, want %q", why.Notes, test.notes)
			}
			if kept := fill.Replace(test.keeps); !strings.Contains(why.Nearest.Target+why.Nearest.Body, kept) {
				t.Errorf("the nearest valid request %+v has no %s", why.Nearest, kept)
			}
		})
	}
}

func TestWhy_Summary(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	inject(t, srv, fault.Rule{First: 1, Committed: true, Fault: fault.ContentType("text/plain")})
	get(t, srv, "/v1/rates")
	if get(t, srv, "/v1/rates").header.Get("X-Mock-Why") != "" {
		t.Error("a response that needs no explanation links to one")
	}
	for id, want := range map[string]string{"req-1": "met an injected fault", "req-2": "was not refused"} {
		why, err := srv.Why(id)
		if err != nil || !strings.Contains(why.Summary(), want) || (why.Fault == "") != (id == "req-2") {
			t.Errorf("%+v, %v, want %q", why, err, want)
		}
	}
}

// An empty world explains a refusal, even if it has no request to suggest.
func TestWhy_InAnEmptyWorld(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	key := "Bearer sk_test_empty_why2"
	for _, op := range operations.All() {
		refusal := do(t, srv, op.Method, shippingtest.PathOf(op),
			`{"request_id":"RD-1","shipment_id":"SH-1","event":"x","document_types":[7]}`, "Authorization", key, "Content-Type",
			"text/plain")
		if refusal.status < 400 {
			continue // a list, which is empty
		}
		why := whyAt(t, srv, refusal.header.Get("X-Mock-Why"))
		if why.Specification == "" || why.Operation != op.Name {
			t.Errorf("%s: %+v", op.Name, why)
		}
		if near := why.Nearest; near != nil {
			do(t, srv, near.Method, near.Target, near.Body, "Authorization", key).want(t, http.StatusOK)
		}
	}
}

// whyAt returns the explanation in a journal entry.
func whyAt(t *testing.T, srv *mockserver.Server, path string) journal.Why {
	t.Helper()
	var entry struct{ Why journal.Why }
	get(t, srv, path).want(t, http.StatusOK).data(t, &entry)
	return entry.Why
}
