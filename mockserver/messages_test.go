package mockserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Specification: "status is true on success", "The message is a retrieval-success text" (rates), and
// "message states that the replay was queued".
func TestMessages_SayWhatHappened(t *testing.T) {
	t.Parallel()
	srv := start(t)
	tests := []struct{ method, path, body, want string }{
		{http.MethodGet, "/v1/rates", "", "retrieved successfully"},
		{http.MethodGet, "/v1/countries", "", "retrieved successfully"},
		{http.MethodGet, "/v1/webhooks", "", "retrieved successfully"},
		{http.MethodGet, "/v1/transactions?wallet=" + srv.Wallets()[0], "", "retrieved successfully"},
		{http.MethodPost, replayPath, replayBody(t, "shipment_id", srv.Shipments()[0], "event", "shipment.created"), "queued"},
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
