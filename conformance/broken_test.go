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
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/conformance"
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
// place is written as data.rates.0.amount.
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
	_ = json.Unmarshal(analyzed.Body.Bytes(), &draft) // without a draft there is no debit, and the test fails
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

// billing lists a payment of an amount that is no price for each request to a path that holds a text.
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
func webhook(srv *mockserver.Server, name string) string {
	r := httptest.NewRequest(http.MethodGet, "/v1/webhooks", nil)
	r.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	var list struct {
		Data struct {
			Webhooks []struct {
				ID   string `json:"webhook_id"`
				Name string
			}
		}
	}
	_ = json.Unmarshal(asking(srv, r, http.MethodGet, "/v1/webhooks", "").Body.Bytes(), &list) // else none is found
	for _, w := range list.Data.Webhooks {
		if w.Name == name {
			return w.ID
		}
	}
	panic("no webhook " + name)
}

const documents = "/v1/regulatory-documents"

// violation is a service that breaks the specification in one way.
type violation struct {
	name    string
	how     func(srv *mockserver.Server) breaking
	heading string // under which it must be reported
	detail  string
}

// violations are services that break the specification, each in one way.
func violations() []violation {
	const (
		replay     = "/v1/webhooks/replay"
		replayed   = `{"status":true,"message":"queued","data":{}}`
		regulatory = "Regulatory documents, base path /v1/regulatory-documents"
		draft      = "Regulatory document request (draft record)"
		flow       = "What the service does"
		states     = "States and transitions"
	)
	return []violation{
		{"status is missing", with(changed("/v1/rates", "status", "")), "GET /v1/rates", "status is missing"},
		{"status is a text", with(changed("/v1/rates", "status", `"true"`)), "GET /v1/rates", "want a boolean"},
		{"status is false on a success", with(changed("/v1/rates", "status", `false`)), "GET /v1/rates",
			"status is false; want true"},
		{"no message", with(changed("/v1/countries", "message", "")), "GET /v1/countries", "message is missing"},
		{"no JSON", with(always("/v1/countries", "", "<html>")), "GET /v1/countries", "not a JSON object"},
		{"more than JSON", with(always("/v1/countries", "", `{"status":true,"message":"","data":[]}{}`)),
			"GET /v1/countries", "not a JSON object"},
		{"rates as a bare array", with(changed("/v1/rates", "data", `[]`)), "GET /v1/rates", "data is []; want an object"},
		{"rates without pagination", with(changed("/v1/rates", "data.pagination", "")), "GET /v1/rates",
			"data.pagination is missing"},
		{"rates is null", with(changed("/v1/rates", "data.rates", "null")), "GET /v1/rates",
			"data.rates is null; want an array"},
		{"countries wrapped in an object", with(changed("/v1/countries", "data", `{"countries":[]}`)), "GET /v1/countries",
			"want an array"},

		{"a field is missing", with(changed("/v1/rates", "data.rates.3.carrier_slug", "")), "Rate",
			"rates[3].carrier_slug is missing"},
		{"a number is a text", with(changed("/v1/rates", "data.rates.0.amount", `"12.50"`)), "Rate",
			`rates[0].amount is "12.50"; want a number`},
		{"an array is null", with(changed("/v1/rates", "data.rates.0.breakdown", `null`)), "Rate", "want an array"},
		{"an identifier has another prefix", with(changed("/v1/rates", "data.rates.0.parcel", `"PK-12"`)), "Rate",
			"want a string that matches ^PC-[0-9]+$"},
		{"a time is not in UTC", with(changed("/v1/rates", "data.rates.0.created_at", `"2026-01-05T09:30:00+01:00"`)),
			"Rate", "UTC timestamp"},
		{"metadata holds a number", with(changed("/v1/rates", "data.rates.0.metadata", `{"productCode":7}`)), "Rate",
			"metadata.productCode is 7"},
		{"latitude is a number", with(changed("/v1/countries", "data.0.latitude", `42.5`)), "Country",
			"data[0].latitude is 42.5"},
		{"latitude is impossible", with(changed("/v1/countries", "data.0.latitude", `"91"`)), "Country",
			`data[0].latitude is "91"`},
		{"phonecode has a plus sign", with(changed("/v1/countries", "data.0.phonecode", `"+376"`)), "Country",
			`data[0].phonecode is "+376"`},
		{"a zone lacks its offset", with(changed("/v1/countries", "data.0.timezones", `[{"zoneName":"Europe/Andorra"}]`)),
			"Country", "timezones[0].gmtOffset is missing"},
		{"event is a text", with(changed("/v1/webhooks", "data.webhooks.0.event", `"shipment.created"`)), "Webhook",
			"want an array"},
		{"two storage identifiers", with(changed("/v1/webhooks", "data.webhooks.0.id", `"other"`)), "Webhook", "_id is"},
		{"flat_amount in major units", with(changed("/v1/transactions", "data.transactions.0.flat_amount", `1`)),
			"Transaction", "flat_amount is 1 beside"},
		{"flat_amount with a fraction", with(changed("/v1/transactions", "data.transactions.0.flat_amount", `100.5`)),
			"Transaction", "want a whole number"},
		{"payout_date is false", with(changed("/v1/transactions", "data.transactions.0.payout_date", `false`)),
			"Transaction", "payout_date is false"},
		{"sender is null", with(changed("/v1/transactions", "data.transactions.0.sender", `null`)), "Transaction",
			"want an object"},

		{"total is a text", with(changed("/v1/rates", "data.pagination.total", `"250"`)), "Rate list pagination object",
			"want a whole number"},
		{"pageCount does not fit", with(changed("/v1/rates", "data.pagination.pageCount", `4`)),
			"Rate list pagination object", "pageCount is 4"},
		{"total of this page only", with(changed("/v1/rates", "data.pagination.total", `100`)),
			"Rate list pagination object", "pageCount is"},
		{"page begins at 0", with(changed("/v1/webhooks", "data.pagination.currentPage", `0`)), "Webhook pagination object",
			"currentPage is 0"},
		{"prevPage is 0 for webhooks", with(changed("/v1/webhooks", "data.pagination.prevPage", `0`)),
			"Webhook pagination object", "prevPage is 0"},
		{"nextPage is always null", with(changed("/v1/webhooks", "data.pagination.nextPage", `null`)),
			"Webhook pagination object", "nextPage is null; want 2"},
		{"there is always a next page", with(changed("/v1/webhooks", "data.pagination.hasNextPage", `true`)),
			"Webhook pagination object", "hasNextPage is true"},
		{"prevPage is null for transactions", with(changed("/v1/transactions", "data.pagination.prevPage", `null`)),
			"Transaction pagination object", "prevPage is null"},
		{"hasPrevPage is missing", with(changed("/v1/transactions", "data.pagination.hasPrevPage", "")),
			"Transaction pagination object", "hasPrevPage is missing"},
		{"perPage is ignored", with(query("/v1/webhooks", "perPage", func(string) string { return "100" })),
			"Webhook pagination object", "perPage is 100"},
		{"another default of perPage", with(query("/v1/webhooks", "perPage", func(v string) string {
			if v == "" {
				return "50"
			}
			return v
		})), "Limits", "pagination.perPage is 50"},

		{"wallet is not required", func(srv *mockserver.Server) breaking {
			return query("/v1/transactions", "wallet", func(string) string { return srv.Wallets()[0] })
		}, "GET /v1/transactions", "succeeded"},
		{"rates need no key", func(srv *mockserver.Server) breaking { return withKey(srv, "/v1/rates") }, "Authentication",
			"GET /v1/rates without Authorization succeeded"},
		{"the key of purchases is not checked",
			func(srv *mockserver.Server) breaking { return withKey(srv, documents+"/purchase") }, "Authentication",
			"without Authorization succeeded"},
		{"records are shown to everyone",
			func(srv *mockserver.Server) breaking { return withKey(srv, documents+"/request/RD-") }, "Authentication",
			"/request/RD-"},

		{"a replay of nothing", with(always(replay, `{}`, replayed)), "POST /v1/webhooks/replay", "replay with {} succeeded"},
		{"a replay to no webhook", with(always(replay, `"webhook_id":"WA-0"}`, replayed)), "POST /v1/webhooks/replay",
			"succeeded"},
		{"a delivery_id of another kind", with(changed(replay, "data.delivery_id", `"DL-1"`)), "Webhook replay result",
			"want a string that matches ^WD-[A-Za-z0-9]+$"},
		{"another event is replayed", with(changed(replay, "data.event", `"shipment.lost"`)), "Webhook replay result",
			"data.event is shipment.lost"},

		{"analyze returns no draft", with(changed(documents+"/analyze", "data.status", `"processing"`)), regulatory,
			"want one of draft"},
		{"another source", with(changed(documents+"/analyze", "data.source", `"invoice"`)), draft, "source is invoice"},
		{"a slug in small letters", with(changed(documents+"/analyze", "data.available_documents.0.document_type", `"fda"`)),
			draft, "document_type is"},
		{"an unknown state", with(changed(documents+"/request/", "data.status", `"done"`)), regulatory,
			"want one of draft, purchasing"},
		{"another request is shown", with(changed(documents+"/request/", "data.request_id", `"RD-OTHER"`)), regulatory,
			"data.request_id is RD-OTHER"},
		{"a draft after the purchase", with(changed(documents+"/request/", "data.status", `"draft"`)),
			"States and transitions", `status is "draft"`},
		{"a purchase that charges nothing",
			with(always(documents+"/purchase", "document_types", `{"status":true,"message":"charged","data":{}}`)),
			"What the service does", "0 new transactions"},
		{"an unknown path", with(always("/v1/no-such-operation", "", `{"status":true,"message":"hello","data":{}}`)),
			"Errors", "no-such-operation succeeded"},

		{"data is missing", with(changed("/v1/countries", "data", "")), "GET /v1/countries", "data is missing"},
		{"message is a number", with(changed("/v1/webhooks", "message", "7")), "GET /v1/webhooks", "message is 7"},
		{"rates with 201", with(recoded("/v1/rates", 201)), "GET /v1/rates", "HTTP status 201"},
		{"page is ignored", with(query("/v1/rates", "page", func(string) string { return "1" })),
			"Rate list pagination object", "page is 1"},
		{"perPage is ignored for transactions",
			with(query("/v1/transactions", "perPage", func(string) string { return "100" })), "Transaction pagination object",
			"perPage is 100"},
		{"total counts the page", with(countingThePage("/v1/transactions", "transactions")), "Transaction pagination object",
			"total is"},
		{"another default of page", with(query("/v1/webhooks", "page", func(v string) string { return cmp.Or(v, "2") })),
			"Limits", "pagination.page is 2"},
		{"pagingCounter is a text", with(changed("/v1/webhooks", "data.pagination.pagingCounter", `"1"`)),
			"Webhook pagination object", "pagingCounter is"},
		{"any wallet lists all transactions", func(srv *mockserver.Server) breaking {
			return query("/v1/transactions", "wallet", func(v string) string {
				if v != "" {
					v = srv.Wallets()[0]
				}
				return v
			})
		}, "GET /v1/transactions", "is listed for the wallet VA-0 too"},
		{"an amount is missing", with(changed("/v1/rates", "data.rates.1.amount", "")), "Rate", "rates[1].amount is missing"},
		{"used is a text", with(changed("/v1/rates", "data.rates.0.used", `"false"`)), "Rate", "used is"},
		{"metadata is a text", with(changed("/v1/rates", "data.rates.0.metadata", `"express"`)), "Rate", "metadata is"},
		{"an estimate is a text", with(changed("/v1/rates", "data.rates.0.delivery_eta", `"7200"`)), "Rate",
			"delivery_eta is"},
		{"a country code of three letters", with(changed("/v1/countries", "data.0.isoCode", `"AND"`)), "Country",
			"isoCode is"},
		{"a zone is offset by a text",
			with(changed("/v1/countries", "data.0.timezones",
				`[{"zoneName":"Europe/Andorra","gmtOffset":"3600","gmtOffsetName":"UTC+01:00","abbreviation":"CET","tzName":"Central European Time"}]`)), "Country", "gmtOffset is"},
		{"active is a number", with(changed("/v1/webhooks", "data.webhooks.0.active", `1`)), "Webhook", "active is 1"},
		{"the mode is missing", with(changed("/v1/webhooks", "data.webhooks.0.live", "")), "Webhook", "live is missing"},
		{"a transaction's identifier has another prefix",
			with(changed("/v1/transactions", "data.transactions.0.transactionId", `"TX-1"`)), "Transaction",
			"want a string that matches ^TR-[A-Za-z0-9]+$"},
		{"a time is a number", with(changed("/v1/transactions", "data.transactions.0.created_at", `1767605400`)),
			"Transaction", "created_at is 1767605400"},
		{"a receiver without a name",
			with(changed("/v1/transactions", "data.transactions.0.receiver", `{"reference":"x","type":"y"}`)), "Transaction",
			"receiver.name is missing"},
		{"reversed is missing", with(changed("/v1/transactions", "data.transactions.0.reversed", "")), "Transaction",
			"reversed is missing"},

		{"transactions need no key", func(srv *mockserver.Server) breaking { return withKey(srv, "/v1/transactions") },
			"Authentication", " without Authorization succeeded"},
		{"any key is accepted", func(srv *mockserver.Server) breaking {
			return request(func(r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					r.Header.Set("Authorization", "Bearer "+srv.SecretKey)
				}
			})
		}, "Authentication", "without the right key succeeded"},
		{"the key of analyses is not checked",
			func(srv *mockserver.Server) breaking { return withKey(srv, documents+"/analyze") }, "Authentication",
			"/analyze without Authorization succeeded"},
		{"the key of replays is not checked", func(srv *mockserver.Server) breaking { return withKey(srv, replay) },
			"Authentication", "/replay without Authorization succeeded"},

		{"a replay of a shipment without an event", with(always(replay, `{"shipment_id":"SH-0"}`, replayed)),
			"POST /v1/webhooks/replay", `{"shipment_id":"SH-0"} succeeded`},
		{"a replay of an event without a shipment", with(always(replay, `{"event":"shipment.created"}`, replayed)),
			"POST /v1/webhooks/replay", `{"event":"shipment.created"} succeeded`},
		{"a replay to an inactive webhook",
			func(srv *mockserver.Server) breaking { return always(replay, webhook(srv, "Switched off"), replayed) },
			"POST /v1/webhooks/replay", "succeeded"},
		{"a replay to a webhook that is not subscribed", func(srv *mockserver.Server) breaking {
			return always(replay, webhook(srv, "Deliveries only"), replayed)
		}, "POST /v1/webhooks/replay", "succeeded"},
		{"a replay with 202", with(recoded(replay, 202)), "Webhook replay result", "HTTP status 202"},
		{"a replay needs a Content-Type",
			with(refusing(func(r *http.Request) bool { return r.URL.Path == replay && r.Header.Get("Content-Type") == "" })),
			"POST /v1/webhooks/replay", "HTTP status 415"},
		{"a replay has no delivery", with(changed(replay, "data.delivery_id", "")), "Webhook replay result",
			"delivery_id is missing"},

		{"analyze has no request_id", with(changed(documents+"/analyze", "data.request_id", "")), regulatory,
			"data.request_id is missing"},
		{"analyze offers an object", with(changed(documents+"/analyze", "data.available_documents", "{}")), regulatory,
			"want an array"},
		{"analyze has no line items", with(changed(documents+"/analyze", "data.line_items", "")), regulatory,
			"no line items"},
		{"two analyses have one request_id", with(changed(documents+"/analyze", "data.request_id", `"RD-SAME"`)), draft,
			"both have the request_id RD-SAME"},
		{"a document has no price",
			with(changed(documents+"/analyze", "data.available_documents", `[{"document_type":"FDA"}]`)), draft, "no price"},
		{"a document is only its type", with(changed(documents+"/analyze", "data.available_documents", `["FDA"]`)), draft,
			"no price"},
		{"an analysis costs a fee", with(billing("/analyze", "shipment_id")), flow, "the wallet paid 2.5 each of 3 times"},
		{"a refused purchase costs a fee", with(billing("/purchase", `"RD-0"`)), states,
			"the wallet paid 2.5 each of 3 times"},
		{"an analysis charges", func(srv *mockserver.Server) breaking { return charging(srv, "/analyze", "shipment_id", 1) },
			flow, "new transactions with flow out; want 0"},
		{"a request that does not exist is shown", with(func(next http.Handler) http.Handler {
			return always(documents+"/request/RD-0", "",
				`{"status":true,"message":"","data":{"request_id":"RD-0","status":"draft"}}`)(next)
		}), regulatory, "/request/RD-0 returns a record"},
		{"the status is in capitals", with(changed(documents+"/request/", "data.status", `"DRAFT"`)), regulatory,
			"want one of draft"},
		{"a purchase with status false", with(changed(documents+"/purchase", "status", "false")), regulatory,
			"status is false; want true"},
		{"a purchase without an envelope", with(always(documents+"/purchase", "document_types", `"done"`)), regulatory,
			"not a JSON object"},
		{"a purchase charges twice",
			func(srv *mockserver.Server) breaking { return charging(srv, "/purchase", "document_types", 1) }, flow,
			"2 new transactions"},
		{"a purchase charges another amount", with(after(1, "/purchase", "document_types", listing(dearer))), flow,
			"want 1 of"},
		{"a second purchase charges again",
			func(srv *mockserver.Server) breaking { return charging(srv, "/purchase", "document_types", 2) }, states,
			"1 new transactions"},
		{"a second purchase charges again, and a part of the list cannot be read", func(srv *mockserver.Server) breaking {
			unread := refusing(func(r *http.Request) bool {
				return r.URL.Path == "/v1/transactions" &&
					r.URL.Query().Get("page") > "1"
			})
			charges := charging(srv, "/purchase", "document_types", 2)
			return func(next http.Handler) http.Handler {
				return after(2, "/purchase", "document_types", unread)(charges(next))
			}
		}, states, "1 new transactions"},
		{"a purchase without document types buys all",
			with(posted("/purchase", func(_ http.Handler, _ *http.Request, body string) string {
				if !strings.Contains(body, "document_types") && strings.Contains(body, "request_id") {
					return strings.TrimSuffix(body, "}") + `,"document_types":["CUSTOMS"]}`
				}
				return body
			})), states, "new transactions with flow out; want 0"},
		{"a document that is not offered is charged", func(srv *mockserver.Server) breaking {
			return posted("/purchase", func(next http.Handler, r *http.Request, body string) string {
				if strings.Contains(body, "AMS") && !strings.Contains(body, "RD-0") {
					debit(srv, next, r, "CUSTOMS")
				}
				return body
			})
		}, flow, "new transactions with flow out; want 0"},
		{"a request that does not exist is charged",
			func(srv *mockserver.Server) breaking { return charging(srv, "/purchase", `"RD-0"`, 1) }, states,
			"new transactions with flow out; want 0"},
		{"a completed request is processed again", with(showing("processing", "completed", "processing")), states,
			`status is "completed", and "processing" later`},
		{"a processed request is purchased again", with(showing("processing", "purchasing", "completed")), states,
			`status is "processing", and "purchasing" later`},
		{"a failed request is completed", with(showing("failed", "completed")), states,
			`status is "failed", and "completed" later`},
		{"a request becomes a draft again", with(showing("processing", "draft")), states,
			`status is "draft" after the purchase`},

		// A name that the client misspells in the same way: the suite took the names of records from the client.
		{"carrier_slug is misspelt", with(reworded("/v1/rates", `"carrier_slug":`, `"carier_slug":`)), "Rate",
			"carrier_slug is missing"},
		{"phonecode is misspelt", with(reworded("/v1/countries", `"phonecode":`, `"phoneCode":`)), "Country",
			"phonecode is missing"},
		{"gmtOffsetName is misspelt", with(reworded("/v1/countries", `"gmtOffsetName":`, `"gmtOffsetname":`)), "Country",
			"gmtOffsetName is missing"},
		{"live is misspelt", with(reworded("/v1/webhooks", `"live":`, `"is_live":`)), "Webhook", "live is missing"},
		{"settlement_reference is misspelt",
			with(reworded("/v1/transactions", `"settlement_reference":`, `"settlementReference":`)), "Transaction",
			"settlement_reference is missing"},
		{"account_number is misspelt", with(reworded("/v1/transactions", `"account_number":`, `"accountNumber":`)),
			"Transaction", "sender.account_number is missing"},
		{"a replay has the event of the replay before it", with(changed(replay, "data.webhook_event_id", `"WE-1"`)),
			"Webhook replay result", "two replays have"},
		{"webhook_event_id is misspelt", with(reworded(replay, `"webhook_event_id":`, `"event_id":`)),
			"Webhook replay result", "webhook_event_id is missing"},
		{"available_documents is misspelt", with(reworded("/analyze", `"available_documents":`, `"availableDocuments":`)),
			regulatory, "available_documents is missing"},
		{"shipment_id is misspelt in a request", with(renamed("/analyze", "shipment_id", "shipmentId")), regulatory,
			"want a success"},
		{"delivery_id is misspelt in a request", with(renamed(replay, "delivery_id", "deliveryId")), "Webhook replay result",
			"want 200"},
		{"document_types is misspelt in a request", with(renamed("/purchase", "document_types", "documentTypes")),
			regulatory, "want a success"},

		{"status is true in a refusal", with(reworded("/replay", `"status":false`, `"status":true`)), "Errors",
			`"status":true`},
	}
}

// whole returns the options of a run that makes every check.
func whole(srv *mockserver.Server, transport http.RoundTripper) []conformance.Option {
	return []conformance.Option{
		conformance.WithSecretKey(srv.SecretKey), conformance.WithTransport(transport),
		conformance.WithSecondPurchase(), conformance.WithRefusedPurchases(),
	}
}

// checks returns the checks of a report, sorted.
func checks(r conformance.Report) (names []string) {
	for _, result := range r.Results {
		names = append(names, result.Heading+"/"+result.Check)
	}
	slices.Sort(names)
	return names
}

// A run without the purchases that are optional comes first, because it is shorter.
func TestCheck_ABrokenServiceFailsUnderTheHeadingThatItBreaks(t *testing.T) {
	t.Parallel()
	runs := []func(*mockserver.Server, http.RoundTripper) []conformance.Option{
		func(srv *mockserver.Server, transport http.RoundTripper) []conformance.Option {
			return whole(srv, transport)[:2]
		},
		whole,
	}
	var all [2][]string
	for i, options := range runs {
		srv := serve(t)
		all[i] = checks(conformance.Check(t.Context(), target(srv), options(srv, srv.Transport())...))
	}
	if len(violations()) < 60 {
		t.Errorf("%d violations", len(violations()))
	}
	t.Attr("cases", fmt.Sprintf("%d violations", len(violations())))
	for _, test := range violations() {
		inBubble(t, test.name, func(t *testing.T) {
			var report conformance.Report
			found := false
			for i := 0; i < len(runs) && !found; i++ {
				srv := serve(t)
				report = conformance.Check(t.Context(), target(srv), runs[i](srv, through{test.how(srv)(srv)})...)
				found = slices.ContainsFunc(report.Results, func(r conformance.CheckResult) bool {
					return r.Verdict == conformance.Fail && r.Heading == test.heading && strings.Contains(r.Detail, test.detail)
				})
				if diff := gocmp.Diff(all[i], checks(report)); diff != "" {
					t.Errorf("checks of the report (-want +got):\n%s", diff)
				}
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
	for _, test := range []struct {
		name string
		how  breaking
		rule string
	}{
		{"completed without processing", showing("completed"),
			"draft, purchasing and processing come before completed or failed"},
		{"pagingCounter is the number of the page", changed("/v1/webhooks", "data.pagination.pagingCounter", "1"),
			"pagingCounter"},
		{"prices are not converted", changed(documents+"/analyze", "data.available_documents.0.currency", `"USD"`),
			"amounts are converted into the wallet's currency when a request is analyzed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t)
			report := conformance.Check(t.Context(), target(srv), whole(srv, through{test.how(srv)})...)
			if !report.Conforms() {
				t.Errorf("it is seen: %q", verdicts(report, conformance.Fail))
			}
			if !slices.ContainsFunc(report.Results, func(r conformance.CheckResult) bool {
				return r.Verdict == conformance.Unseen && r.Check == test.rule && r.Detail != ""
			}) {
				t.Errorf("no rule %q in %+v", test.rule, report.Results)
			}
			var text strings.Builder
			if err := report.WriteText(&text); err != nil || !strings.Contains(text.String(), test.rule) {
				t.Errorf("%v\n%s", err, &text)
			}
		})
	}
}

// with is a breaking that needs nothing of the server.
func with(b breaking) func(*mockserver.Server) breaking {
	return func(*mockserver.Server) breaking { return b }
}
