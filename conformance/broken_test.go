package conformance_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/shipping-go/shipping/conformance"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// breaking is a way to break a service that conforms.
type breaking func(next http.Handler) http.Handler

// answers changes the responses of a service.
func answers(change func(r *http.Request, status int, body []byte) (int, []byte)) breaking {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			status, body := change(r, recorded.Code, recorded.Body.Bytes())
			w.WriteHeader(status)
			_, _ = w.Write(body)
		})
	}
}

// changed replaces one value of the responses of a path that succeed; an empty text removes it. The
// place is written as data.rates.last.amount: a check of only the first record does not find it.
func changed(path, place, to string) breaking {
	return answers(func(r *http.Request, status int, body []byte) (int, []byte) {
		if strings.HasPrefix(r.URL.Path, path) && status == http.StatusOK {
			body = replaced(body, place, to)
		}
		return status, body
	})
}

// recoded changes the status of the successful responses of a path.
func recoded(path string, to int) breaking {
	return answers(func(r *http.Request, status int, body []byte) (int, []byte) {
		if strings.HasSuffix(r.URL.Path, path) && status == http.StatusOK {
			status = to
		}
		return status, body
	})
}

// reworded replaces text in the responses of a path.
func reworded(path string, texts ...string) breaking {
	return answers(func(r *http.Request, status int, body []byte) (int, []byte) {
		if strings.HasSuffix(r.URL.Path, path) {
			body = []byte(strings.NewReplacer(texts...).Replace(string(body)))
		}
		return status, body
	})
}

// replaced returns a JSON text with one value changed; one that has no such place stays.
func replaced(body []byte, place, to string) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var whole any
	if err := decoder.Decode(&whole); err != nil {
		return body
	}
	replace(whole, strings.Split(place, "."), to)
	out, _ := json.Marshal(whole) // it was JSON
	return out
}

func replace(value any, place []string, to string) {
	switch value := value.(type) {
	case map[string]any:
		switch name := place[0]; {
		case len(place) > 1:
			replace(value[name], place[1:], to)
		case to == "":
			delete(value, name)
		default:
			value[name] = json.RawMessage(to)
		}
	case []any:
		if len(value) > 0 { // the name for each array is "last"
			replace(value[len(value)-1], place[1:], to)
		}
	}
}

// both breaks a service in two ways.
func both(first, second breaking) breaking {
	return func(next http.Handler) http.Handler { return second(first(next)) }
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

// responds responds to the requests that a condition holds for in place of the service.
func responds(status int, answer string, condition func(r *http.Request, body string) bool) breaking {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // in memory: it never fails
			if condition(r, string(body)) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, answer)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(w, r)
		})
	}
}

// always responds to a path with one body if the request body contains a text.
func always(path, holding, body string) breaking {
	return responds(http.StatusOK, body, func(r *http.Request, asked string) bool {
		return r.URL.Path == path && strings.Contains(asked, holding)
	})
}

// refusing refuses the requests that a condition holds for.
func refusing(condition func(r *http.Request) bool) breaking {
	return responds(http.StatusUnsupportedMediaType, `{"status":false,"message":"not like this"}`,
		func(r *http.Request, _ string) bool { return condition(r) })
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

// byDefault sets a query parameter that a request does not have.
func byDefault(path, name, value string) breaking {
	return query(path, name, func(given string) string { return cmp.Or(given, value) })
}

// asking sends a request through a service, with the headers of another, and returns the response.
func asking(next http.Handler, r *http.Request, method, path, body string) *httptest.ResponseRecorder {
	inner := httptest.NewRequestWithContext(r.Context(), method, path, strings.NewReader(body))
	inner.Header = r.Header.Clone()
	if body != "" {
		inner.Header.Set("Content-Type", "application/json")
	}
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, inner)
	return recorded
}

// posted gives the body of each POST request to a path to react, which can send further requests through the service,
// and replaces the body by its result.
func posted(path string, react func(next http.Handler, r *http.Request, body string) string) breaking {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, path) {
				body, _ := io.ReadAll(r.Body) // in memory: it never fails
				sent := react(next, r, string(body))
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(sent)), int64(len(sent))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// renamed makes a service read a member of its requests under another name.
func renamed(path, name, other string) breaking {
	return posted(path, func(_ http.Handler, _ *http.Request, body string) string {
		return strings.NewReplacer(`"`+name+`":`, `"ignored":`, `"`+other+`":`, `"`+name+`":`).Replace(body)
	})
}

// debit charges the wallet the price of a document, by a draft that the service makes beside the others.
func debit(srv *mockserver.Server, next http.Handler, r *http.Request, slug string) {
	analyzed := asking(next, r, http.MethodPost, documents+"/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`)
	var draft struct {
		Data struct {
			ID string `json:"request_id"`
		}
	}
	_ = json.Unmarshal(analyzed.Body.Bytes(), &draft) // without a draft nothing is debited, and the test fails
	asking(next, r, http.MethodPost, documents+"/purchase",
		`{"request_id":"`+draft.Data.ID+`","document_types":["`+slug+`"]}`)
}

// charging debits the wallet again for each request to a path that holds a text, from the first or a later one on.
func charging(srv *mockserver.Server, path, holding string, from int) breaking {
	requests := 0
	return posted(path, func(next http.Handler, r *http.Request, body string) string {
		if strings.Contains(body, holding) {
			if requests++; requests >= from {
				debit(srv, next, r, "CUSTOMS")
			}
		}
		return body
	})
}

// billing lists a payment of an amount that is not a price for each request to a path that holds a text.
func billing(path, holding string) breaking {
	return func(next http.Handler) http.Handler {
		paid := 0
		counted := posted(path, func(_ http.Handler, _ *http.Request, body string) string {
			if strings.Contains(body, holding) {
				paid++
			}
			return body
		})(next)
		return listing(func(transactions []map[string]any, pagination map[string]any) []map[string]any {
			for i := range paid {
				transactions = another(transactions, pagination)
				last := transactions[len(transactions)-1]
				last["transactionId"], last["amount"] = fmt.Sprintf("TR-FEE%d", i), 2.5
			}
			return transactions
		})(counted)
	}
}

// showing makes the status of the first purchased request pass through states, one each time that it is read; then the
// last one stays.
func showing(states ...string) breaking {
	bought := ""
	buys := posted("/purchase", func(_ http.Handler, _ *http.Request, body string) string {
		var purchase struct {
			ID string `json:"request_id"`
		}
		if json.Unmarshal([]byte(body), &purchase) == nil && bought == "" {
			bought = purchase.ID
		}
		return body
	})
	shows := answers(func(r *http.Request, status int, body []byte) (int, []byte) {
		if bought != "" && strings.HasSuffix(r.URL.Path, "/request/"+bought) && status == http.StatusOK {
			body = replaced(body, "data.status", `"`+states[0]+`"`)
			states = states[min(1, len(states)-1):]
		}
		return status, body
	})
	return func(next http.Handler) http.Handler { return buys(shows(next)) }
}

// countingThePage makes total count the records of the page.
func countingThePage(path, name string) breaking {
	return answers(func(r *http.Request, status int, body []byte) (int, []byte) {
		var page struct{ Data map[string]json.RawMessage }
		if r.URL.Path == path && json.Unmarshal(body, &page) == nil {
			var records []json.RawMessage
			_ = json.Unmarshal(page.Data[name], &records) // a refusal has none
			body = replaced(replaced(body, "data.pagination.total", strconv.Itoa(len(records))), "data.pagination.pageCount",
				"1")
		}
		return status, body
	})
}

// webhook returns the identifier of a webhook by its name.
func webhook(t *testing.T, srv *mockserver.Server, name string) string {
	t.Helper()
	for w, err := range srv.Client(t).Webhooks.All(t.Context(), nil) {
		if err == nil && w.Name == name {
			return w.WebhookID
		}
	}
	t.Fatalf("no webhook %s", name)
	return ""
}

const documents = "/v1/regulatory-documents"

// The paths of requests that change something, and the headings of the specification.
const (
	analyze    = documents + "/analyze"
	purchase   = documents + "/purchase"
	read       = documents + "/request/"
	replay     = "/v1/webhooks/replay"
	regulatory = "Regulatory documents, base path /v1/regulatory-documents"
	draft      = "Regulatory document request (draft record)"
	flow       = "What the service does"
	states     = "States and transitions"
	result     = "Webhook replay result"
)

// violation is a service that breaks the specification in one way, and the failure that must be reported.
type violation struct {
	how             breaking
	heading, detail string
}

// changes are values of successful responses that the specification does not allow.
var changes = []struct{ path, place, to, heading, detail string }{
	{"/v1/rates", "status", "", "GET /v1/rates", "status is missing"},
	{"/v1/rates", "status", `"true"`, "GET /v1/rates", "want a boolean"},
	{"/v1/rates", "status", `false`, "GET /v1/rates", "status is false; want true"},
	{"/v1/countries", "message", "", "GET /v1/countries", "message is missing"},
	{"/v1/rates", "data", `[]`, "GET /v1/rates", "data is []; want an object"},
	{"/v1/rates", "data.pagination", "", "GET /v1/rates", "data.pagination is missing"},
	{"/v1/rates", "data.rates", "null", "GET /v1/rates", "data.rates is null; want an array"},
	{"/v1/countries", "data", `{"countries":[]}`, "GET /v1/countries", "want an array"},
	{"/v1/rates", "data.rates.last.carrier_slug", "", "Rate", "rates[99].carrier_slug is missing"},
	{"/v1/rates", "data.rates.last.amount", `"12.50"`, "Rate", `rates[99].amount is "12.50"; want a number`},
	{"/v1/rates", "data.rates.last.breakdown", `null`, "Rate", "want an array"},
	{"/v1/rates", "data.rates.last.parcel", `"PK-12"`, "Rate", "want a string that matches ^PC-[0-9]+$"},
	{"/v1/rates", "data.rates.last.created_at", `"2026-01-05T09:30:00+01:00"`, "Rate", "UTC timestamp"},
	{"/v1/rates", "data.rates.last.metadata", `{"productCode":7}`, "Rate", "metadata.productCode is 7"},
	{"/v1/countries", "data.last.latitude", `42.5`, "Country", "data[249].latitude is 42.5"},
	{"/v1/countries", "data.last.latitude", `"91"`, "Country", `data[249].latitude is "91"`},
	{"/v1/countries", "data.last.phonecode", `"+376"`, "Country", `data[249].phonecode is "+376"`},
	{"/v1/countries", "data.last.timezones.last.gmtOffset", "", "Country", "data[249].timezones[0].gmtOffset is missing"},
	{"/v1/webhooks", "data.webhooks.last.event", `"shipment.created"`, "Webhook", "want an array"},
	{"/v1/webhooks", "data.webhooks.last.id", `"other"`, "Webhook", "_id is"},
	{"/v1/transactions", "data.transactions.last.flat_amount", `1`, "Transaction", "flat_amount is 1 beside"},
	{"/v1/transactions", "data.transactions.last.flat_amount", `100.5`, "Transaction", "want a whole number"},
	{"/v1/transactions", "data.transactions.last.payout_date", `false`, "Transaction", "payout_date is false"},
	{"/v1/transactions", "data.transactions.last.sender", `null`, "Transaction", "want an object"},
	{"/v1/rates", "data.pagination.total", `"250"`, "Rate list pagination object", "want a whole number"},
	{"/v1/rates", "data.pagination.pageCount", `4`, "Rate list pagination object", "pageCount is 4"},
	{"/v1/rates", "data.pagination.total", `100`, "Rate list pagination object", "pageCount is"},
	{"/v1/webhooks", "data.pagination.currentPage", `0`, "Webhook pagination object", "currentPage is 0"},
	{"/v1/webhooks", "data.pagination.prevPage", `0`, "Webhook pagination object", "prevPage is 0"},
	{"/v1/webhooks", "data.pagination.nextPage", `null`, "Webhook pagination object", "nextPage is null; want 2"},
	{"/v1/webhooks", "data.pagination.hasNextPage", `true`, "Webhook pagination object", "hasNextPage is true"},
	{"/v1/transactions", "data.pagination.prevPage", `null`, "Transaction pagination object", "prevPage is null"},
	{"/v1/transactions", "data.pagination.hasPrevPage", "", "Transaction pagination object", "hasPrevPage is missing"},
	{replay, "data.delivery_id", `"DL-1"`, result, "want a string that matches ^WD-[A-Za-z0-9]+$"},
	{replay, "data.event", `"shipment.lost"`, result, "data.event is shipment.lost"},
	{analyze, "data.status", `"processing"`, regulatory, "want one of draft"},
	{analyze, "data.source", `"invoice"`, draft, "source is invoice"},
	{analyze, "data.source", `"shipment"`, draft, "source is shipment"},
	{analyze, "data.available_documents.last.document_type", `"fda"`, draft, "document_type is"},
	{read, "data.status", `"done"`, regulatory, "want one of draft, purchasing"},
	{read, "data.request_id", `"RD-OTHER"`, regulatory, "data.request_id is RD-OTHER"},
	{read, "data.status", `"draft"`, states, `status is "draft"`},
	{"/v1/countries", "data", "", "GET /v1/countries", "data is missing"},
	{"/v1/webhooks", "message", "7", "GET /v1/webhooks", "message is 7"},
	{"/v1/webhooks", "data.pagination.pagingCounter", `"1"`, "Webhook pagination object", "pagingCounter is"},
	{"/v1/rates", "data.rates.last.amount", "", "Rate", "rates[99].amount is missing"},
	{"/v1/rates", "data.rates.last.used", `"false"`, "Rate", "used is"},
	{"/v1/rates", "data.rates.last.metadata", `"express"`, "Rate", "metadata is"},
	{"/v1/rates", "data.rates.last.delivery_eta", `"7200"`, "Rate", "delivery_eta is"},
	{"/v1/countries", "data.last.isoCode", `"AND"`, "Country", "isoCode is"},
	{"/v1/countries", "data.last.timezones.last.gmtOffset", `"3600"`, "Country", "gmtOffset is"},
	{"/v1/webhooks", "data.webhooks.last.active", `1`, "Webhook", "active is 1"},
	{"/v1/webhooks", "data.webhooks.last.live", "", "Webhook", "live is missing"},
	{"/v1/transactions", "data.transactions.last.transactionId", `"TX-1"`, "Transaction", "matches ^TR-[A-Za-z0-9]+$"},
	{"/v1/transactions", "data.transactions.last.created_at", `1767605400`, "Transaction", "created_at is 1767605400"},
	{"/v1/transactions", "data.transactions.last.receiver", `{"reference":"x","type":"y"}`, "Transaction",
		"receiver.name is missing"},
	{"/v1/transactions", "data.transactions.last.reversed", "", "Transaction", "reversed is missing"},
	{replay, "data.delivery_id", "", result, "delivery_id is missing"},
	{analyze, "data.request_id", "", regulatory, "data.request_id is missing"},
	{analyze, "data.available_documents", "{}", regulatory, "want an array"},
	{analyze, "data.line_items", "", regulatory, "no line items"},
	{analyze, "data.request_id", `"RD-SAME"`, draft, "both have the request_id RD-SAME"},
	{analyze, "data.available_documents", `[{"price":1},{"document_type":"FDA"}]`, draft, "[1] carries no number"},
	{analyze, "data.available_documents", `["1","FDA"]`, draft, "[1] carries no number"},
	{read, "data.status", `"DRAFT"`, regulatory, "want one of draft"},
	{purchase, "status", "false", regulatory, "status is false; want true"},
	{replay, "data.webhook_event_id", `"WE-1"`, result, "two replays have"},
}

// misspelt are names that the client could misspell in the same way: the suite took the names of records from the
// client.
var misspelt = []struct{ path, name, other, heading, detail string }{
	{"/v1/rates", "carrier_slug", "carier_slug", "Rate", "carrier_slug is missing"},
	{"/v1/countries", "phonecode", "phoneCode", "Country", "phonecode is missing"},
	{"/v1/countries", "gmtOffsetName", "gmtOffsetname", "Country", "gmtOffsetName is missing"},
	{"/v1/webhooks", "live", "is_live", "Webhook", "live is missing"},
	{"/v1/transactions", "settlement_reference", "settlementRef", "Transaction", "settlement_reference is missing"},
	{"/v1/transactions", "account_number", "accountNumber", "Transaction", "sender.account_number is missing"},
	{replay, "webhook_event_id", "event_id", result, "webhook_event_id is missing"},
	{analyze, "available_documents", "availableDocuments", regulatory, "available_documents is missing"},
}

// violations returns services that break the specification, each in one way. Servers of one seed have the same keys and
// identifiers, so each violation applies to all of them.
func violations(t *testing.T, srv *mockserver.Server) []violation {
	const (
		replayed = `{"status":true,"message":"queued","data":{}}`
		replays  = "POST /v1/webhooks/replay"
		bought   = "document_types"
		charged  = "new transactions with flow out; want 0"
		open     = "without Authorization succeeded"
	)
	always100 := func(string) string { return "100" }
	right := func(string) string { return srv.Wallets()[0] }
	all := []violation{
		{always("/v1/countries", "", "<html>"), "GET /v1/countries", "not a JSON object"},
		{always("/v1/countries", "", `{"status":true,"message":"","data":[]}{}`), "GET /v1/countries", "not a JSON object"},
		{recoded("/v1/rates", 201), "GET /v1/rates", "HTTP status 201"},
		{recoded("/v1/transactions", 201), "GET /v1/transactions", "HTTP status 201"},
		{always("/v1/no-such-operation", "", replayed), "Errors", "no-such-operation succeeded"},
		{reworded(replay, `"status":false`, `"status":true`), "Errors", `"status":true`},

		{query("/v1/webhooks", "perPage", always100), "Webhook pagination object", "perPage is 100"},
		{query("/v1/transactions", "perPage", always100), "Transaction pagination object", "perPage is 100"},
		{query("/v1/rates", "page", func(string) string { return "1" }), "Rate list pagination object", "page is 1"},
		{countingThePage("/v1/transactions", "transactions"), "Transaction pagination object", "total is"},
		{byDefault("/v1/transactions", "wallet", srv.Wallets()[0]), "GET /v1/transactions", "succeeded"},
		{query("/v1/transactions", "wallet", right), "GET /v1/transactions", "is listed for the wallet VA-0 too"},

		{withKey(srv, "/v1/rates"), "Authentication", "GET /v1/rates " + open},
		{withKey(srv, "/v1/transactions"), "Authentication", " " + open},
		{withKey(srv, purchase), "Authentication", open},
		{withKey(srv, analyze), "Authentication", "/analyze " + open},
		{withKey(srv, replay), "Authentication", "/replay " + open},
		{withKey(srv, read+"RD-"), "Authentication", "/request/RD-"},
		{request(func(r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				r.Header.Set("Authorization", "Bearer "+srv.SecretKey)
			}
		}), "Authentication", "without the right key succeeded"},
		{request(func(r *http.Request) { r.Header.Del("Authorization") }), "Authentication", "check the key"},

		{always(replay, `{}`, replayed), replays, "replay with {} succeeded"},
		{always(replay, `"webhook_id":"WA-0"}`, replayed), replays, "succeeded"},
		{always(replay, `,"webhook_id":"WA-0"`, replayed), replays, "succeeded"},
		{always(replay, `{"shipment_id":"SH-0"}`, replayed), replays, `{"shipment_id":"SH-0"} succeeded`},
		{always(replay, `{"event":"shipment.created"}`, replayed), replays, `{"event":"shipment.created"} succeeded`},
		{always(replay, webhook(t, srv, "Switched off"), replayed), replays, "succeeded"},
		{always(replay, webhook(t, srv, "Deliveries only"), replayed), replays, "succeeded"},
		{recoded(replay, 202), result, "HTTP status 202"},
		{refusing(func(r *http.Request) bool { return r.URL.Path == replay && r.Header.Get("Content-Type") == "" }),
			replays, "HTTP status 415"},
		{renamed(replay, "delivery_id", "deliveryId"), result, "want 200"},

		{renamed(analyze, "shipment_id", "shipmentId"), regulatory, "want a success"},
		{billing(analyze, "shipment_id"), flow, "each of 3 attempts charged 2.5"},
		{charging(srv, analyze, "shipment_id", 1), flow, charged},
		{always(read+"RD-0", "", `{"status":true,"message":"","data":{"request_id":"RD-0","status":"draft"}}`), regulatory,
			"/request/RD-0 returns a record"},
		{renamed(purchase, bought, "documentTypes"), regulatory, "want a success"},
		{always(purchase, bought, `"done"`), regulatory, "not a JSON object"},
		{always(purchase, bought, replayed), flow, "0 new transactions"},
		{charging(srv, purchase, bought, 1), flow, "2 new transactions"},
		{after(1, purchase, bought, listing(dearer)), flow, "want 1 of"},
		{charging(srv, purchase, bought, 2), states, "1 new transactions"},
		{both(charging(srv, purchase, bought, 2), after(2, purchase, bought, refusing(func(r *http.Request) bool {
			return r.URL.Path == "/v1/transactions" && r.URL.Query().Get("page") > "1"
		}))), states, "1 new transactions"},
		{posted(purchase, func(_ http.Handler, _ *http.Request, body string) string {
			if !strings.Contains(body, bought) && strings.Contains(body, "request_id") {
				return strings.TrimSuffix(body, "}") + `,"document_types":["CUSTOMS"]}` // no document types buy all
			}
			return body
		}), states, charged},
		{charging(srv, purchase, `"AMS"`, 1), flow, charged}, // the draft does not offer it
		{charging(srv, purchase, `"RD-0"`, 1), states, charged},
		{billing(purchase, `"RD-0"`), states, "each of 3 attempts charged 2.5"},
		{showing("processing", "completed", "processing"), states, `status is "completed", and "processing" later`},
		{showing("processing", "purchasing", "completed"), states, `status is "processing", and "purchasing" later`},
		{showing("failed", "completed"), states, `status is "failed", and "completed" later`},
		{showing("processing", "draft"), states, `status is "draft" after the purchase`},
		{showing("processing", "done"), states, `status is "done"; want one of purchasing`},
	}
	for _, path := range []string{"/v1/rates", "/v1/webhooks", "/v1/transactions"} {
		all = append(all, violation{byDefault(path, "perPage", "50"), "Limits", "pagination.perPage is 50"},
			violation{byDefault(path, "page", "2"), "Limits", "pagination.page is 2"})
	}
	for _, c := range changes {
		all = append(all, violation{changed(c.path, c.place, c.to), c.heading, c.detail})
	}
	for _, m := range misspelt {
		all = append(all, violation{reworded(m.path, `"`+m.name+`":`, `"`+m.other+`":`), m.heading, m.detail})
	}
	return all
}

// checks returns the checks of a report, sorted.
func checks(r conformance.Report) (names []string) {
	for _, result := range r.Results {
		names = append(names, result.Heading+"/"+result.Check)
	}
	slices.Sort(names)
	return names
}

// A run without the purchases that are optional comes first, because it is shorter, unless nothing under the heading is
// checked in it. Each check of what the specification states fails for a violation.
func TestCheck_ABrokenServiceFailsUnderTheHeadingThatItBreaks(t *testing.T) {
	t.Parallel()
	var sound [2]conformance.Report
	for i := range sound {
		srv := serve(t)
		sound[i] = check(t, srv, srv, whole()[:3*i]...)
	}
	listed := violations(t, serve(t))
	t.Attr("cases", fmt.Sprintf("%d violations", len(listed)))
	var mu sync.Mutex
	ran, failed := 0, map[string]bool{}
	t.Cleanup(func() {
		for _, r := range sound[1].Results {
			if ran == len(listed) && r.Verdict == conformance.Pass && !failed[r.Heading+r.Check] {
				t.Errorf("no violation fails the check %q under %q: add a row that does", r.Check, r.Heading)
			}
		}
	})
	for n, test := range listed {
		inBubble(t, test.heading+": "+test.detail, func(t *testing.T) {
			var report conformance.Report
			found := false
			for i := 0; i < len(sound) && !found; i++ {
				if !slices.ContainsFunc(sound[i].Results, func(r conformance.CheckResult) bool {
					return r.Verdict == conformance.Pass && r.Heading == test.heading
				}) {
					continue
				}
				srv := serve(t)
				report = check(t, srv, violations(t, srv)[n].how(srv), whole()[:3*i]...)
				found = slices.ContainsFunc(report.Results, func(r conformance.CheckResult) bool {
					return r.Verdict == conformance.Fail && r.Heading == test.heading && strings.Contains(r.Detail, test.detail)
				})
				shippingtest.Diff(t, "checks of the report", checks(sound[i]), checks(report))
			}
			mu.Lock()
			defer mu.Unlock()
			ran++
			for _, r := range report.Results {
				failed[r.Heading+r.Check] = failed[r.Heading+r.Check] || r.Verdict == conformance.Fail
			}
			if !found {
				t.Errorf("no failure under %q contains %q; failed: %q", test.heading, test.detail,
					verdicts(report, conformance.Fail))
			}
		})
	}
}

// A run cannot see these violations, and its report lists the rules.
func TestCheck_WhatARunCannotSeeIsInItsReport(t *testing.T) {
	t.Parallel()
	for rule, how := range map[string]breaking{
		"draft, purchasing and processing come before completed or failed": showing("completed"),
		"pagingCounter": changed("/v1/webhooks", "data.pagination.pagingCounter", "1"),
		"amounts are converted into the wallet's currency when a request is analyzed": changed(analyze,
			"data.available_documents.last.currency", `"USD"`),
	} {
		srv := serve(t)
		report := check(t, srv, how(srv), whole()...)
		if !report.Conforms() || !slices.ContainsFunc(report.Results, func(r conformance.CheckResult) bool {
			return r.Verdict == conformance.Unseen && r.Check == rule && r.Detail != ""
		}) {
			t.Errorf("no rule %q in %+v", rule, report.Results)
		}
		var text strings.Builder
		if err := report.WriteText(&text); err != nil || !strings.Contains(text.String(), rule) {
			t.Errorf("%v\n%s", err, &text)
		}
	}
}
