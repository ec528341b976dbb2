package mockserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// Specification: "status is true on success", "The message is a retrieval-success text" (rates), and
// "message states that the replay was queued".
func TestMessages_SayWhatHappened(t *testing.T) {
	t.Parallel()
	srv := start(t)
	type message struct{ method, path, body, want string }
	tests := []message{
		{http.MethodPost, replayPath, replayBody(t, "shipment_id", srv.Shipments()[0], "event", "shipment.created"), "queued"},
	}
	for _, list := range shippingtest.Lists() {
		tests = append(tests, message{http.MethodGet, listPath(srv, list), "", "retrieved successfully"})
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			t.Parallel()
			got := do(t, srv, test.method, test.path, test.body).want(t, http.StatusOK)
			var envelope struct {
				Status  bool
				Message string
			}
			if err := json.Unmarshal(got.body, &envelope); err != nil || !envelope.Status || !strings.Contains(envelope.Message, test.want) {
				t.Errorf("status %v, message %q (%v); want %q in it", envelope.Status, envelope.Message, err, test.want)
			}
		})
	}
}

// A refusal repeats only a limited part of the request, in its response and in the journal, and still states what to do.
func TestMessages_AreBounded(t *testing.T) {
	t.Parallel()
	const length = 400_000
	srv := start(t, mockserver.WithoutListener())
	long := strings.Repeat("x", length)
	items := `{"line_items":[` + strings.TrimSuffix(strings.Repeat(`{"currency":"`+long[:200]+`"},`, 1000), ",") + `]}`
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	tests := []struct{ name, method, path, body, keeps string }{
		{"shipment of a replay", "POST", replayPath, `{"event":"shipment.created","shipment_id":"` + long + `"}`, "use a shipment that"},
		{"event of a replay", "POST", replayPath, `{"shipment_id":"x","event":"` + long + `"}`, "send a kind such as"},
		{"delivery of a replay", "POST", replayPath, `{"delivery_id":"` + long + `"}`, "/_mock/deliveries"},
		{"shipment of an analysis", "POST", regulatoryPath + "/analyze", `{"shipment_id":"` + long + `"}`, ""},
		{"items of a draft", "PUT", regulatoryPath + "/request/" + draft.ID + "/items", items, ""},
		{"name of a profile field", "PUT", regulatoryPath + "/request/" + draft.ID + "/profiles/CUSTOMS", `{"` + long + `":1}`, ""},
		{"event to emit", "POST", "/_mock/events", `{"event":"` + long + `"}`, "subscribe"},
		{"URL of a webhook", "POST", "/_mock/webhooks", `{"url":"ftp://` + long + `"}`, ""},
		{"unknown field", "POST", "/_mock/webhooks", `{"` + long + `":1}`, ""},
		{"fault kind", "POST", "/_mock/faults", `{"rules":[{"fault":{"kind":"` + long + `"}}]}`, "choose one of"},
		{"a key at the cut", "POST", replayPath, `{"delivery_id":"` + strings.Repeat("x", 600) + srv.SecretKey + long + `"}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := do(t, srv, test.method, test.path, test.body)
			got.refusal(t, got.status, test.keeps)
			if got.status < 400 || len(got.body) > 64<<10 {
				t.Errorf("status %d, %d bytes", got.status, len(got.body))
			}
			if strings.Contains(string(got.body), srv.SecretKey[len("sk_test_"):]) {
				t.Errorf("the key is in %s", got.body)
			}
		})
	}
	for _, c := range srv.Journal() {
		if len(c.Message) > 2000 {
			t.Errorf("the journal has a message of %d bytes", len(c.Message))
		}
	}
}
