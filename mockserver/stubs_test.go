package mockserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// stub is the operation of the stub that most tests add.
const stub = "POST /v1/shipments/{id}"

// Faults strike stubs, selected by method and pattern, or with all requests. A specified operation can be selected by
// its method and path, too.
func TestWorld_StubFaults(t *testing.T) {
	t.Parallel()
	type row struct {
		rule         fault.Rule
		status       int // 0: no response
		calls, rates int
	}
	shippingtest.EachRow(t, map[string]row{
		"before":         {fault.Rule{Operation: stub, Fault: fault.Status(503, nil)}, 503, 0, 200},
		"committed":      {fault.Rule{Operation: stub, Committed: true, Fault: fault.Drop()}, 0, 1, 200},
		"all":            {fault.Rule{Fault: fault.Status(503, nil)}, 503, 0, 503},
		"path specified": {fault.Rule{Operation: "GET /v1/rates", Fault: fault.Status(503, nil)}, 201, 1, 503},
		"repeated":       {fault.Rule{Operation: stub, Fault: fault.Repeat()}, 201, 2, 200},
		"all repeated":   {fault.Rule{Fault: fault.Repeat()}, 201, 2, 200},
		"late":           {fault.Rule{Operation: stub, Fault: fault.ArriveLate(time.Minute)}, 0, 1, 200},
		"late, answered": {fault.Rule{Operation: stub, Fault: fault.GatewayTimeout(time.Minute)}, 504, 1, 200},
	}, func(t *testing.T, test row) {
		server, calls := start(t, virtual()), 0
		handler := func(w http.ResponseWriter, r *http.Request) {
			if calls++; r.Context().Err() != nil {
				t.Error("the context of a request that arrives late has ended")
			}
			w.WriteHeader(http.StatusCreated)
		}
		shippingtest.NoError(t, server.Stub("POST", "/v1/shipments/{id}", http.HandlerFunc(handler)))
		inject(t, server, test.rule)
		got, _ := attempt(server.Transport(), newRequest(t, server, "POST", "/v1/shipments/1", "{}"))
		advance(t, server, time.Minute)
		shippingtest.Diff(t, "status and calls", [2]int{test.status, test.calls}, [2]int{got.status, calls})
		get(t, server, "/v1/rates").want(t, test.rates)
	})
}

func TestWorld_StubErrors(t *testing.T) {
	t.Parallel()
	server := start(t)
	created := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }
	add := func(method, pattern string) error { return server.Stub(method, pattern, http.HandlerFunc(created)) }
	shippingtest.NoError(t, add("GET", "/v1/parcels/{id}"))
	for _, test := range []struct{ method, pattern, want string }{
		{"GET", "/v1/rates", "has this route, as rates.list: to choose its response"},
		{"HEAD", "/v1/rates", "rates.list"},
		{"GET", "/v1/regulatory-documents/request/{id}", "as regulatory.get"},
		{"GET", "/v1/regulatory-documents/request/RD-1", "as regulatory.get"},
		{"GET", "/v1/parcels/{other}", "the stub GET /v1/parcels/{id} serves its requests"},
		{"", "/v1/x", "write a method"},
		{"GET", "example.com/v1/x", "write a method, and a path"},
		{"GET", "/v1/x/", "{path...}"},
		{"GET", "/_mock", "outside /_mock/"},
		{"GET", "/v1/{", "bad wildcard"},
	} {
		shippingtest.Contains(t, test.method+" "+test.pattern, add(test.method, test.pattern), test.want)
	}
	shippingtest.NoError(t, server.Stub("GET", "/v1/parcels/{id}", nil))
	shippingtest.NoError(t, add("GET", "/v1/parcels/{id}"))
	if err := server.Stub("GET", "/v1/x", nil); err == nil {
		t.Error("a stub without a handler was added")
	}
	shippingtest.NoError(t, errors.Join(add("POST", "/v1/rates"), add("GET", "/v1/parcels/list"),
		add("POST", "/v1/{rest...}")))
	post(t, server, "/v1/rates", "").want(t, http.StatusCreated)
	post(t, server, "/v1/regulatory-documents/analyze", "{}").want(t, http.StatusBadRequest) // the specified one
	as(t, server, server.NewWorld(t).SecretKey, "POST", "/v1/rates", "").want(t, http.StatusMethodNotAllowed)
	var err error
	i := 4 // stubs were added
	for ; i <= 100 && err == nil; i++ {
		err = add("GET", fmt.Sprintf("/v1/many/%d", i))
	}
	shippingtest.Contains(t, "the 101st stub", err, "the world has 100 stubs")
	shippingtest.Diff(t, "stubs", 101, i)
	server.Reset()
	post(t, server, "/v1/rates", "").want(t, http.StatusMethodNotAllowed)
}

// A handler that panics gets a response, or with http.ErrAbortHandler none, as in net/http.
func TestWorld_StubPanics(t *testing.T) {
	t.Parallel()
	server := start(t)
	for path, value := range map[string]any{"/v1/a": "out of labels", "/v1/b": http.ErrAbortHandler} {
		handler := func(http.ResponseWriter, *http.Request) { panic(value) }
		shippingtest.NoError(t, server.Stub("GET", path, http.HandlerFunc(handler)))
	}
	get(t, server, "/v1/a").
		refusal(t, http.StatusInternalServerError, "the handler of the stub GET /v1/a panicked: out of labels")
	client := server.Client(t, shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
	err := client.Do(t.Context(), "GET", "/v1/b", nil, nil, nil)
	if requests := server.Requests("GET /v1/b"); err == nil || requests != 1 {
		t.Errorf("%v, and %d requests are counted", err, requests)
	}
}

// What Go can stub, a program in any language can stub, too.
func TestStubs_OverHTTP(t *testing.T) {
	t.Parallel()
	server := start(t)
	post(t, server, "/_mock/stubs", `{"method":"GET","pattern":"/v1/labels/{id}","status":202,"body":"label",
		"header":{"Content-Type":"text/plain","X-A":["b","c"]}}`).want(t, 200)
	post(t, server, "/_mock/stubs", `{"method":"DELETE","pattern":"/v1/shipments/{id}"}`).want(t, 200)
	got := get(t, server, "/v1/labels/7").want(t, http.StatusAccepted)
	contentType := got.header.Get("Content-Type")
	if string(got.body) != "label" || contentType != "text/plain" || len(got.header.Values("X-A")) != 2 {
		t.Errorf("%s %v", got.body, got.header)
	}
	do(t, server, "DELETE", "/v1/shipments/1", "").want(t, http.StatusOK)
	get(t, server, "/_mock/journal?operation=GET+/v1/labels/{id}").has(t, "data.0.path=/v1/labels/7, data.1=<nil>")
	var listed []struct {
		Operation string
		Status    int
		Requests  int
	}
	for _, test := range []struct{ method, query, want string }{
		{"GET", "", "[{GET /v1/labels/{id} 202 1} {DELETE /v1/shipments/{id} 200 1}]"},
		{"DELETE", "?operation=GET+/v1/labels/{id}", "[{DELETE /v1/shipments/{id} 200 1}]"},
		{"DELETE", "", "[]"},
	} {
		do(t, server, test.method, "/_mock/stubs"+test.query, "").data(t, &listed)
		shippingtest.Diff(t, test.method+" "+test.query, test.want, fmt.Sprint(listed))
	}
	for body, want := range map[string]string{
		`{"method":"GET","pattern":"/v1/x","status":99}`:                                     "choose one from 200 to 599",
		`{"method":"GET","pattern":"/v1/x","body":"` + strings.Repeat("x", 256<<10+1) + `"}`: "at most 262144 bytes",
		`{"method":"GET","pattern":"/v1/rates"}`:                                             "as rates.list",
	} {
		post(t, server, "/_mock/stubs", body).refusal(t, http.StatusBadRequest, want)
	}
}

// A stub accepted a header that cannot be sent, and its response lacked it. The fault respond refuses such a header.
func TestStubs_RefuseResponsesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	server := start(t)
	for response, want := range map[string]string{
		`"header":{"A b":"c"}`:            `invalid header name \"A b\"`,
		`"header":{"":"c"}`:               `invalid header name \"\"`,
		`"header":{"A":"b\r\nC: d"}`:      "header A contains a line break",
		`"header":{"Content-Length":"7"}`: "header Content-Length follows from the body",
		`"status":204,"body":"{}"`:        "a response of status 204 has no body",
		`"match":[1]`:                     `field \"match\" is a list, and must be an object`,
		`"nth":-1`:                        "nth is -1: it counts from 1",
	} {
		got := post(t, server, "/_mock/stubs", `{"method":"GET","pattern":"/v1/x",`+response+"}").want(t, 400)
		shippingtest.Contains(t, response, string(got.body), want)
	}
}

// Of the stubs of one method and pattern, the first one that was added and whose conditions hold responds.
func TestStubs_Conditions(t *testing.T) {
	t.Parallel()
	server := start(t)
	add := func(conditions, body string) {
		t.Helper()
		post(t, server, "/_mock/stubs", `{"method":"POST","pattern":"/fx/{pair}",`+conditions+`"body":"`+body+`"}`).
			want(t, http.StatusOK)
	}
	add(`"match":{"from":{"currency":"NGN","amount":10.5}},`, "match")
	add(`"match":{"from":{"currency":"NGN"}},"nth":2,`, "second match")
	add(`"nth":3,`, "third")
	for _, test := range []struct{ body, want string }{
		{`{"from":{"currency":"NGN","amount":10.50,"b":1},"to":"USD"}`, "match"},
		{`{"from":{"currency":"NGN","amount":7}}`, "second match"},
		{`{"from":{"currency":"NGN","amount":7}}`, "third"},
		{`{"from":{"currency":"NGN","amount":10.51}}`, "no stub"},
		{`{"from":"NGN"}`, "no stub"},
		{`{"from":`, "no stub"},
		{``, "no stub"},
	} {
		got := post(t, server, "/fx/USDNGN", test.body)
		shippingtest.Contains(t, test.body, string(got.body), test.want)
		if test.want == "no stub" {
			got.refusal(t, http.StatusNotFound, "no stub POST /fx/{pair} has conditions that this request meets")
		}
	}
	add("", "otherwise")
	post(t, server, "/fx/USDNGN", "{}").want(t, http.StatusOK)
	post(t, server, "/_mock/stubs", `{"method":"POST","pattern":"/fx/{pair}","nth":9}`).
		refusal(t, http.StatusBadRequest, "the stub POST /fx/{pair} serves its requests")
	get(t, server, "/_mock/stubs").has(t, "data.0.match.from.amount=10.5, data.1.nth=2, data.3.requests=8, data.4=<nil>")
	do(t, server, "DELETE", "/_mock/stubs?operation=POST+/fx/{pair}", "").has(t, "message=4 stubs removed")
}

// A second service has its own keys, and a program that calls it could not be tested: a stub needed the key of its
// world. A stub without a key serves requests with any key that opens no world.
func TestStubs_WithoutAKey(t *testing.T) {
	t.Parallel()
	server := start(t)
	w, other := server.NewWorld(t), server.NewWorld(t)
	stub := `{"method":"GET","pattern":"/fx/latest","open":true,"body":"rates"}`
	as(t, server, w.SecretKey, "POST", "/_mock/stubs", stub).want(t, http.StatusOK)
	as(t, server, w.SecretKey, "POST", "/_mock/stubs", `{"method":"GET","pattern":"/fx/closed"}`).want(t, http.StatusOK)
	for _, authorization := range []string{"", "Bearer fx-key", "Basic Zng6a2V5", "Bearer " + w.SecretKey} {
		got := do(t, server, "GET", "/fx/latest", "", "Authorization", authorization).want(t, http.StatusOK)
		shippingtest.Diff(t, authorization, "rates", string(got.body))
	}
	shippingtest.Diff(t, "requests in its journal", 4, w.Requests("GET /fx/latest"))
	do(t, server, "GET", "/fx/closed", "", "Authorization", "").want(t, http.StatusUnauthorized)
	get(t, server, "/fx/latest").want(t, http.StatusNotFound) // with the key of the home world
	as(t, server, other.SecretKey, "POST", "/_mock/stubs", stub).
		refusal(t, http.StatusBadRequest, "serves requests without a key in the world "+w.Name()+": choose another path")
	w.Close()
	as(t, server, other.SecretKey, "POST", "/_mock/stubs", stub).want(t, http.StatusOK)
}
