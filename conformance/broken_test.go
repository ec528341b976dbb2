package conformance_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/mockserver"
)

// breaking is a way to break a service that conforms.
type breaking func(next http.Handler) http.Handler

// changed replaces one value of the responses of a path that succeed; an empty text removes it. The
// place is written as data.rates.0.amount.
func changed(path, place, to string) breaking {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, path) {
				next.ServeHTTP(w, r)
				return
			}
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			body := recorded.Body.Bytes()
			if recorded.Code == http.StatusOK {
				body = replaced(body, place, to)
			}
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(body)
		})
	}
}

// replaced returns a JSON text with one value changed; one that has no such place stays.
func replaced(body []byte, place, to string) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		return body
	}
	steps := strings.Split(place, ".")
	at := whole
	for _, step := range steps[:len(steps)-1] {
		switch holder := at.(type) {
		case map[string]any:
			at = holder[step]
		case []any:
			if i, err := strconv.Atoi(step); err == nil && i < len(holder) {
				at = holder[i]
			} else {
				at = nil
			}
		}
	}
	holder, ok := at.(map[string]any)
	if !ok {
		return body
	}
	name := steps[len(steps)-1]
	if to == "" {
		delete(holder, name)
	} else {
		holder[name] = json.RawMessage(to)
	}
	out, err := json.Marshal(whole)
	if err != nil {
		return body
	}
	return out
}

// request changes requests before the service gets them.
func request(change func(r *http.Request)) breaking {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			change(r)
			next.ServeHTTP(w, r)
		})
	}
}

// always responds to a path with one body if the request body contains a text.
func always(path, holding, body string) breaking {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked, err := io.ReadAll(r.Body)
			if err == nil && r.URL.Path == path && strings.Contains(string(asked), holding) {
				_, _ = io.WriteString(w, body)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(asked))
			next.ServeHTTP(w, r)
		})
	}
}

// withKey responds as if every request had the right key.
func withKey(srv *mockserver.Server, path string) breaking {
	return request(func(r *http.Request) {
		if strings.HasPrefix(r.URL.Path, path) {
			r.Header.Set("Authorization", "Bearer "+srv.SecretKey)
		}
	})
}

// query changes a query parameter of a path.
func query(path, name string, change func(value string) string) breaking {
	return request(func(r *http.Request) {
		if r.URL.Path == path {
			q := r.URL.Query()
			q.Set(name, change(q.Get(name)))
			r.URL.RawQuery = q.Encode()
		}
	})
}

func TestCheck_ABrokenServiceFailsUnderTheHeadingThatItBreaks(t *testing.T) {
	t.Parallel()
	const replay, documents = "/v1/webhooks/replay", "/v1/regulatory-documents"
	tests := []struct {
		name    string
		how     func(srv *mockserver.Server) breaking
		heading string
		detail  string
	}{
		{"status is missing", with(changed("/v1/rates", "status", "")), "GET /v1/rates", "status is missing"},
		{"status is a text", with(changed("/v1/rates", "status", `"true"`)), "GET /v1/rates", "want a boolean"},
		{"status is false on a success", with(changed("/v1/rates", "status", `false`)), "GET /v1/rates", "status is false on a success"},
		{"no message", with(changed("/v1/countries", "message", "")), "GET /v1/countries", "message is missing"},
		{"no JSON", with(always("/v1/countries", "", "<html>")), "GET /v1/countries", "not a JSON object"},
		{"more than JSON", with(always("/v1/countries", "", `{"status":true,"message":"","data":[]}{}`)), "GET /v1/countries", "not a JSON object"},
		{"rates as a bare array", with(changed("/v1/rates", "data", `[]`)), "GET /v1/rates", "data is []; want an object"},
		{"rates without pagination", with(changed("/v1/rates", "data.pagination", "")), "GET /v1/rates", "data.pagination is missing"},
		{"rates is null", with(changed("/v1/rates", "data.rates", "null")), "GET /v1/rates", "data.rates is null; want an array"},
		{"countries wrapped in an object", with(changed("/v1/countries", "data", `{"countries":[]}`)), "GET /v1/countries", "want an array"},

		{"a field is missing", with(changed("/v1/rates", "data.rates.3.carrier_slug", "")), "Rate", "rates[3].carrier_slug is missing"},
		{"a number is a text", with(changed("/v1/rates", "data.rates.0.amount", `"12.50"`)), "Rate", `rates[0].amount is "12.50"; want a number`},
		{"an array is null", with(changed("/v1/rates", "data.rates.0.breakdown", `null`)), "Rate", "want an array"},
		{"an identifier has another prefix", with(changed("/v1/rates", "data.rates.0.parcel", `"PK-12"`)), "Rate", "PC-<digits>"},
		{"a time is not in UTC", with(changed("/v1/rates", "data.rates.0.created_at", `"2026-01-05T09:30:00+01:00"`)), "Rate", "UTC timestamp"},
		{"metadata holds a number", with(changed("/v1/rates", "data.rates.0.metadata", `{"productCode":7}`)), "Rate", "metadata.productCode is 7"},
		{"latitude is a number", with(changed("/v1/countries", "data.0.latitude", `42.5`)), "Country", "data[0].latitude is 42.5"},
		{"latitude is impossible", with(changed("/v1/countries", "data.0.latitude", `"91"`)), "Country", "degrees up to 90"},
		{"phonecode has a plus sign", with(changed("/v1/countries", "data.0.phonecode", `"+376"`)), "Country", "without a plus sign"},
		{"a zone lacks its offset", with(changed("/v1/countries", "data.0.timezones", `[{"zoneName":"Europe/Andorra"}]`)), "Country", "timezones[0].gmtOffset is missing"},
		{"event is a text", with(changed("/v1/webhooks", "data.webhooks.0.event", `"shipment.created"`)), "Webhook", "want an array"},
		{"two storage identifiers", with(changed("/v1/webhooks", "data.webhooks.0.id", `"other"`)), "Webhook", "_id is"},
		{"flat_amount in major units", with(changed("/v1/transactions", "data.transactions.0.flat_amount", `1`)), "Transaction", "flat_amount is 1 beside"},
		{"flat_amount with a fraction", with(changed("/v1/transactions", "data.transactions.0.flat_amount", `100.5`)), "Transaction", "want a whole number"},
		{"payout_date is false", with(changed("/v1/transactions", "data.transactions.0.payout_date", `false`)), "Transaction", "payout_date is false"},
		{"sender is null", with(changed("/v1/transactions", "data.transactions.0.sender", `null`)), "Transaction", "want an object"},

		{"total is a text", with(changed("/v1/rates", "data.pagination.total", `"250"`)), "Rate list pagination object", "want a whole number"},
		{"pageCount does not fit", with(changed("/v1/rates", "data.pagination.pageCount", `4`)), "Rate list pagination object", "pageCount is 4"},
		{"total of this page only", with(changed("/v1/rates", "data.pagination.total", `100`)), "Rate list pagination object", "pageCount is"},
		{"page begins at 0", with(changed("/v1/webhooks", "data.pagination.currentPage", `0`)), "Webhook pagination object", "currentPage is 0"},
		{"prevPage is 0 for webhooks", with(changed("/v1/webhooks", "data.pagination.prevPage", `0`)), "Webhook pagination object", "prevPage is 0"},
		{"nextPage is always null", with(changed("/v1/webhooks", "data.pagination.nextPage", `null`)), "Webhook pagination object", "nextPage is null; want 2"},
		{"there is always a next page", with(changed("/v1/webhooks", "data.pagination.hasNextPage", `true`)), "Webhook pagination object", "hasNextPage is true"},
		{"prevPage is null for transactions", with(changed("/v1/transactions", "data.pagination.prevPage", `null`)), "Transaction pagination object", "prevPage is null"},
		{"hasPrevPage is missing", with(changed("/v1/transactions", "data.pagination.hasPrevPage", "")), "Transaction pagination object", "hasPrevPage is missing"},
		{"perPage is ignored", with(query("/v1/webhooks", "perPage", func(string) string { return "100" })), "Webhook pagination object", "perPage is 100"},
		{"another default of perPage", with(query("/v1/webhooks", "perPage", func(v string) string {
			if v == "" {
				return "50"
			}
			return v
		})), "Limits", "pagination.perPage is 50"},

		{"wallet is not required", func(srv *mockserver.Server) breaking {
			return query("/v1/transactions", "wallet", func(string) string { return srv.Wallets()[0] })
		}, "GET /v1/transactions", "succeeded"},
		{"rates need no key", func(srv *mockserver.Server) breaking { return withKey(srv, "/v1/rates") }, "Authentication", "GET /v1/rates without Authorization succeeded"},
		{"the key of purchases is not checked", func(srv *mockserver.Server) breaking { return withKey(srv, documents+"/purchase") }, "Authentication", "same response with and without"},
		{"records are shown to everyone", func(srv *mockserver.Server) breaking { return withKey(srv, documents+"/request/RD-") }, "Authentication", "/request/RD-"},

		{"a replay of nothing", with(always(replay, `{}`, `{"status":true,"message":"queued","data":{}}`)), "POST /v1/webhooks/replay", "a replay with {} succeeded"},
		{"a replay to no webhook", with(always(replay, `"webhook_id":"WA-0"}`, `{"status":true,"message":"queued","data":{}}`)), "POST /v1/webhooks/replay", "succeeded"},
		{"a delivery_id of another kind", with(changed(replay, "data.delivery_id", `"DL-1"`)), "Webhook replay result", "WD-<alphanumerics>"},
		{"another event is replayed", with(changed(replay, "data.event", `"shipment.lost"`)), "Webhook replay result", "data.event is shipment.lost"},

		{"analyze returns no draft", with(changed(documents+"/analyze", "data.status", `"processing"`)), "Regulatory documents, base path /v1/regulatory-documents", "want one of draft"},
		{"another source", with(changed(documents+"/analyze", "data.source", `"invoice"`)), "Regulatory document request (draft record)", "source is invoice"},
		{"a slug in small letters", with(changed(documents+"/analyze", "data.available_documents.0.document_type", `"fda"`)), "Regulatory document request (draft record)", "document_type is"},
		{"an unknown state", with(changed(documents+"/request/", "data.status", `"done"`)), "Regulatory documents, base path /v1/regulatory-documents", "want one of draft, purchasing"},
		{"another request is shown", with(changed(documents+"/request/", "data.request_id", `"RD-OTHER"`)), "Regulatory documents, base path /v1/regulatory-documents", "data.request_id is RD-OTHER"},
		{"a draft after the purchase", with(changed(documents+"/request/", "data.status", `"draft"`)), "States and transitions", `status is "draft"`},
		{"a purchase that charges nothing", with(always(documents+"/purchase", "document_types", `{"status":true,"message":"charged","data":{}}`)), "What the service does", "0 new transactions"},
		{"an unknown path", with(always("/v1/no-such-operation", "", `{"status":true,"message":"hello","data":{}}`)), "Errors", "no-such-operation succeeded"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := conformance.Check(t.Context(), target(srv), conformance.WithSecretKey(srv.SecretKey), conformance.WithTransport(through{test.how(srv)(srv)}), conformance.WithSecondPurchase())
			found := false
			for _, result := range report.Results {
				if result.Verdict == conformance.Fail && result.Heading == test.heading && strings.Contains(result.Detail, test.detail) {
					found = true
				}
			}
			if !found {
				t.Errorf("no failure under %q contains %q; failed: %v", test.heading, test.detail, verdicts(report, conformance.Fail))
			}
		})
	}
}

// with is a breaking that needs nothing of the server.
func with(b breaking) func(*mockserver.Server) breaking {
	return func(*mockserver.Server) breaking { return b }
}
