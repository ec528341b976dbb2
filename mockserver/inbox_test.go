package mockserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// subscribeInbox subscribes the inbox of a world to shipment.updated, with a query such as ?status=503.
func subscribeInbox(t *testing.T, w *mockserver.World, query string) string {
	t.Helper()
	id, err := w.AddWebhook(notify.Webhook{URL: notify.InboxURL + query, Events: []string{"shipment.updated"}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func emit(t *testing.T, w *mockserver.World) {
	t.Helper()
	if _, err := w.Emit(notify.Event{Kind: "shipment.updated"}); err != nil {
		t.Fatal(err)
	}
}

func awaitInbox(t *testing.T, w *mockserver.World, count int) []notify.Received {
	t.Helper()
	got, err := w.AwaitInbox(t.Context(), count, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The inbox shows notifications without a receiver, and even without a socket.
func TestInbox_ReceivesAndVerifies(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]mockserver.Option{
		"defaults": {mockserver.WithoutListener()}, "TLS": {mockserver.WithTLS()}, "contrary": {mockserver.WithAssumptions(assumption.Contrary)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, opts...)
			id := subscribeInbox(t, srv.World, "")
			emit(t, srv.World)
			n := awaitInbox(t, srv.World, 1)[0]
			if !n.Valid || n.Problem != "" || n.Number != 1 || n.Status != 200 || n.Event != "shipment.updated" || !strings.Contains(string(n.Payload), srv.Shipments()[0]) {
				t.Errorf("received %+v", n)
			}
			if name == "contrary" {
				if n.DeliveryID != "" || n.WebhookID != "" || n.Attempt != 0 || n.Header.Get("X-Signature") == "" {
					t.Errorf("without identifiers: %+v", n)
				}
			} else if n.WebhookID != id || n.DeliveryID == "" || n.EventID == "" || n.Attempt != 1 {
				t.Errorf("identifiers: %+v", n)
			}
		})
	}
}

func TestInbox_RefusesSoThatDeliveriesAreRetried(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	subscribeInbox(t, srv.World, "?status=503")
	emit(t, srv.World)
	awaitInbox(t, srv.World, 1)
	if _, err := srv.Advance(time.Minute); err != nil {
		t.Fatal(err)
	}
	got := srv.Inbox()
	if len(got) != 3 || got[0].Attempt != 1 || got[2].Attempt != 3 || got[2].DeliveryID != got[0].DeliveryID || got[2].Status != 503 {
		t.Errorf("received %+v", got)
	}
	if d, err := srv.WaitDelivery(t.Context(), got[0].DeliveryID); err != nil || d.State != "failed" || d.Attempts[0].StatusCode != 503 {
		t.Errorf("the delivery is %s after %+v (%v)", d.State, d.Attempts, err)
	}
}

func TestInbox_OverHTTP(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, test := range []struct{ body, problem string }{
		{`{"event":"shipment.updated"}`, "there is no signature: the header X-Webhook-Signature is missing"},
		{`[]`, "not a JSON object"}, {`nothing`, "not a JSON object"}, {``, "not a JSON object"},
	} {
		var n struct {
			Valid   bool
			Problem string
			Payload json.RawMessage
		}
		post(t, srv, "/_mock/inbox", test.body).data(t, &n)
		if n.Valid || !strings.Contains(n.Problem, test.problem) || (len(n.Payload) > 0) != json.Valid([]byte(test.body)) {
			t.Errorf("%s: %+v", test.body, n)
		}
	}
	post(t, srv, "/_mock/inbox?status=503", `{}`).want(t, http.StatusServiceUnavailable)
	post(t, srv, "/_mock/inbox?status=103", `{}`).refusal(t, http.StatusBadRequest, "200 to 599")

	req, err := http.NewRequest(http.MethodPost, srv.URL+"/_mock/inbox", strings.NewReader(`{"event":"shipment.delivered","data":{"a":"needle"}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Webhook-Signature", "00")
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	var view struct {
		URL           string
		Notifications []notify.Received
	}
	answer := get(t, srv, "/_mock/inbox?contains=needle&wait=5s")
	answer.data(t, &view)
	if got := view.Notifications; view.URL != notify.InboxURL || len(got) != 1 || got[0].Number != 6 || got[0].Valid || !strings.Contains(got[0].Problem, "is wrong") {
		t.Errorf("the inbox is %+v", view)
	}
	if strings.Contains(string(answer.body), srv.SecretKey) {
		t.Error("the inbox shows the secret key")
	}
	get(t, srv, "/_mock/inbox?after=6&wait=1ms&count=2").refusal(t, http.StatusRequestTimeout, "found 0 of 2")
	get(t, srv, "/_mock/inbox?count=2").refusal(t, http.StatusBadRequest, "count needs wait")
}

func TestInbox_IsBounded(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for range 1003 {
		post(t, srv, "/_mock/inbox", `{}`)
	}
	if got := srv.Inbox(); len(got) != 1000 || got[0].Number != 4 {
		t.Errorf("the inbox has %d notifications, the first is %d", len(got), got[0].Number)
	}
}
