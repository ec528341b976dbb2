package mockserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/mockserver"
)

func TestLimits_NameWhatRaisesThem(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithDialect(&dialect.Dialect{Request: dialect.Request{MaxBody: 100}}))
	header := do(t, srv, http.MethodGet, "/v1/rates", "", "X-Long", strings.Repeat("x", 70_000)).refusal(t, http.StatusRequestHeaderFieldsTooLarge, "longer than 65536 bytes")
	post(t, srv, "/v1/webhooks/replay", `{"event":"`+strings.Repeat("x", 100)+`"}`).refusal(t, http.StatusRequestEntityTooLarge, "request.max_body of the dialect")
	why := whyAt(t, srv, header.header.Get("X-Mock-Why"))
	if why.ErrorCode == "" || header.text(t, "error_code") != why.ErrorCode || !strings.Contains(why.Specification, "header size limits") {
		t.Errorf("%+v", why)
	}
}

func analyzeFirst(w *mockserver.World) string { return `{"shipment_id":"` + w.Shipments()[0] + `"}` }

func TestLimits_BoundTheLabelsOfWebhooks(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	id, long := srv.Webhooks()[0], strings.Repeat("x", 300_000)
	for _, body := range []string{`{"name":"` + long + `"`, `{"url":"http://127.0.0.1/` + long + `"`, `{"events":["` + long + `"]`, `{"events":[` + strings.Repeat(`"x",`, 200) + `"x"]`} {
		add := body + "}"
		if !strings.Contains(body, "url") {
			add = body + `,"url":"http://127.0.0.1:9/"}`
		}
		post(t, srv, "/_mock/webhooks", add).refusal(t, 400, "use at most")
		do(t, srv, "PATCH", "/_mock/webhooks/"+id, body+"}").refusal(t, 400, "use at most")
	}
}
