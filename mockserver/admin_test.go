package mockserver_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

func TestAdmin_NeedsNoKeyAndListsItself(t *testing.T) {
	t.Parallel()
	srv := start(t)
	called := get(t, srv, "/v1/nothing").header.Get("X-Request-Id") // something to list
	var routes []struct{ Method, Path, Summary string }
	do(t, srv, http.MethodGet, "/_mock/", "", "Authorization", "").want(t, http.StatusOK).data(t, &routes)
	for _, route := range routes {
		path := route.Path
		if !strings.HasPrefix(path, "/_mock/requests/") { // those are regulatory requests
			path = strings.ReplaceAll(path, "{request_id}", called)
		}
		other := do(t, srv, http.MethodOptions, path, "", "Authorization", "").want(t, http.StatusMethodNotAllowed)
		if allow := other.header.Get("Allow"); !strings.Contains(allow, route.Method) {
			t.Errorf("%s allows %q, and not %s", path, allow, route.Method)
		}
		if route.Method != http.MethodGet || strings.Contains(path, "{") {
			continue
		}
		got := do(t, srv, http.MethodGet, path, "", "Authorization", "").want(t, http.StatusOK)
		if isJSON := strings.HasPrefix(got.header.Get("Content-Type"), "application/json"); isJSON && !json.Valid(got.body) || len(got.body) < 3 {
			t.Errorf("%s answers %s", path, got.body)
		}
		do(t, srv, http.MethodHead, path, "").want(t, http.StatusOK)
	}
	get(t, srv, "/_mock/nothing").refusal(t, http.StatusNotFound, "lists them")
}

func TestAdmin_AnswersThisMachineOnly(t *testing.T) {
	t.Parallel()
	srv := start(t)
	host := strings.TrimPrefix(srv.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"by address", []string{"Host", host}, 200},
		{"by name", []string{"Host", "localhost:" + port}, 200},
		{"by IPv6 address", []string{"Host", "[::1]:" + port}, 200},
		{"typed into the address bar", []string{"Sec-Fetch-Site", "none"}, 200},
		{"own page", []string{"Origin", srv.URL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"rebound name", []string{"Host", "evil.example:" + port}, 403},
		{"page of another site", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"page of another port", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"other origin", []string{"Origin", "https://evil.example"}, 403},
		{"opaque origin", []string{"Origin", "null"}, 403},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			do(t, srv, http.MethodGet, "/_mock/healthz", "", test.headers...).want(t, test.status)
		})
	}
}

func TestAdmin_AnswersToTheNamesThatItIsGiven(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithHosts("Mock.internal", "10.0.0.7"))
	for host, status := range map[string]int{
		"mock.internal:4010": 200, "10.0.0.7": 200, "localhost": 200, "other.internal:4010": 403, "10.0.0.70": 403,
	} {
		do(t, srv, http.MethodGet, "/_mock/healthz", "", "Host", host).want(t, status)
	}
}

func TestAdmin_AdvancesAVirtualClockOnly(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	before := srv.Now()
	post(t, srv, "/_mock/clock/advance", `{"duration":"90s"}`).want(t, http.StatusOK)
	if moved := srv.Now().Sub(before); moved.String() != "1m30s" {
		t.Errorf("the clock moved by %v", moved)
	}
	for _, body := range []string{`{}`, `{"duration":"soon"}`, `{"duration":"-1s"}`} {
		post(t, srv, "/_mock/clock/advance", body).refusal(t, http.StatusBadRequest, "1h30m")
	}
	post(t, start(t), "/_mock/clock/advance", `{"duration":"90s"}`).refusal(t, http.StatusConflict, "virtual")
}

func TestAdmin_AddsWebhooks(t *testing.T) {
	t.Parallel()
	srv := start(t)
	id := post(t, srv, "/_mock/webhooks", `{"url":"http://127.0.0.1:1/","name":"Mine","events":["shipment.created"]}`).
		want(t, http.StatusOK).text(t, "webhook_id")
	var page struct {
		Webhooks []struct {
			ID    string `json:"webhook_id"`
			Event []string
		}
	}
	get(t, srv, "/v1/webhooks?perPage=1").data(t, &page)
	if page.Webhooks[0].ID != id || srv.Webhooks()[0] != id {
		t.Errorf("the newest webhook is %+v, want %s", page.Webhooks[0], id)
	}
	for _, url := range []string{"", "ftp://127.0.0.1/", "/hook", "https://hooks.example/", "http://10.0.0.1/"} {
		post(t, srv, "/_mock/webhooks", `{"url":"`+url+`"}`).refusal(t, http.StatusBadRequest, "webhook not added")
	}
	anywhere := start(t, mockserver.WithDeliveryTargets())
	post(t, anywhere, "/_mock/webhooks", `{"url":"https://hooks.example/"}`).want(t, http.StatusOK)
}

func TestAssumptions_EachHasARowInTheTable(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithAssumptions(func(a *mockserver.Assumptions) { a.PerPageCap = 10 }))
	fields := reflect.TypeFor[mockserver.Assumptions]()
	table := srv.Assumptions()
	if len(table) != fields.NumField() {
		t.Fatalf("%d rows for %d fields", len(table), fields.NumField())
	}
	for i, row := range table {
		if row.Field != fields.Field(i).Name || row.Open == "" || row.Default == "" || row.Basis == "" {
			t.Errorf("row %d is %+v, want one about %s", i, row, fields.Field(i).Name)
		}
		if row.Changed != (row.Field == "PerPageCap") {
			t.Errorf("%s says changed: %v", row.Field, row.Changed)
		}
	}
}
