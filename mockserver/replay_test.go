package mockserver_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

const replayPath = "/v1/webhooks/replay"

func replayBody(t *testing.T, fields ...string) string {
	t.Helper()
	body := map[string]string{}
	for i := 0; i+1 < len(fields); i += 2 {
		body[fields[i]] = fields[i+1]
	}
	text := shippingtest.Must(json.Marshal(body))(t)
	return string(text)
}

// The result of a replay names a shipment, as the specification requires, even if the delivery carried data about
// something else. If the data names a shipment of the account, the result is about that one.
func TestReplay_OfCustomDataNamesAShipment(t *testing.T) {
	t.Parallel()
	srv := start(t, dialectOf(t, "strict"), virtual(), mockserver.WithDeliveryTransport(&inbox{}))
	hook, ids := subscribe(t, srv.World, receiverURL, "shipment.updated"), srv.Shipments()
	for _, test := range []struct{ data, want string }{
		{`{"amount":1}`, ids[0]}, {`{"shipment_id":7}`, ids[0]}, {`{"shipment_id":"SH-OTHER"}`, ids[0]},
		{`{"SHIPMENT_ID":"` + ids[1] + `"}`, ids[0]}, {`{"shipment_id":"` + ids[2] + `","status":"lost"}`, ids[2]},
	} {
		sent := emit(t, srv.World, notify.Event{Kind: "shipment.updated", Data: json.RawMessage(test.data)})
		got := post(t, srv, replayPath, replayBody(t, "delivery_id", sent.ID, "webhook_id", hook)).want(t, http.StatusOK)
		replayed := srv.Deliveries()[0]
		if id := got.text(t, "shipment_id"); id != test.want || string(replayed.Payload) != string(sent.Payload) ||
			replayed.ShipmentID != sent.ShipmentID {
			t.Errorf("%s: the result is about %q, want %q; replayed as %+v", test.data, id, test.want, replayed)
		}
	}
	// Shipment and event replay the latest payload that was sent for them. The Content-Type is optional.
	pair := replayBody(t, "shipment_id", ids[2], "event", "shipment.updated")
	do(t, srv, http.MethodPost, replayPath, pair, "Content-Type", "").want(t, http.StatusOK)
	shippingtest.Contains(t, "replay of the pair", srv.Deliveries()[0].Payload, `"lost"`)
}

// A request needs delivery_id, or shipment_id together with event. If it has a delivery_id, that id decides, whatever
// other members the body has. test/contract compares the OpenAPI document with this rule.
func TestReplay_DeliveryIDDecides(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithDeliveryTransport(&inbox{}))
	delivered := srv.Deliveries()[0]
	for _, fields := range [][]string{
		{}, {"shipment_id", delivered.ShipmentID}, {"event", delivered.Event}, {"webhook_id", delivered.WebhookID},
		{"shipment_id", delivered.ShipmentID, "event", delivered.Event}, {"shipment_id", "SH-OTHER"}, {"event",
			"shipment.cancelled"},
		{"shipment_id", "SH-OTHER", "event", "shipment.cancelled"}, {"shipment_id", delivered.ShipmentID, "event", ""},
	} {
		body := replayBody(t, append(fields, "delivery_id", delivered.ID)...)
		got := post(t, srv, replayPath, body).want(t, http.StatusOK)
		shippingtest.Diff(t, body, delivered.ShipmentID+delivered.Event, got.text(t, "shipment_id")+got.text(t, "event"))
		shippingtest.Diff(t, body, string(delivered.Payload), string(srv.Deliveries()[0].Payload))
		if len(fields) < 4 || fields[3] == "" {
			post(t, srv, replayPath, replayBody(t, fields...)).refusal(t, 400,
				"delivery_id, or shipment_id together with event, is required")
		}
	}
}

// Specification: "When omitted, the replay goes to every active webhook subscribed to the event."
func TestReplay_GoesToEveryActiveSubscriber(t *testing.T) {
	t.Parallel()
	srv := start(t)
	hooks := srv.Webhooks()
	for _, test := range []struct {
		event string
		want  []string
	}{
		{"shipment.created", []string{hooks[0], hooks[3]}},
		{"shipment.updated", []string{hooks[0], hooks[3]}},
		{"shipment.delivered", []string{hooks[0], hooks[1]}},
	} {
		t.Run(test.event, func(t *testing.T) {
			t.Parallel()
			result := post(t, srv, replayPath, replayBody(t, "shipment_id", srv.Shipments()[5], "event", test.event)).
				want(t, http.StatusOK)
			var got []string
			first := ""
			for _, d := range srv.Deliveries() { // newest first
				if d.EventID == result.text(t, "webhook_event_id") {
					shippingtest.Contains(t, "payload", d.Payload, test.event, srv.Shipments()[5])
					got, first = append([]string{d.WebhookID}, got...), d.ID
				}
			}
			shippingtest.Diff(t, "receivers", test.want, got)
			shippingtest.Diff(t, "delivery in the response", first, result.text(t, "delivery_id"))
		})
	}
}

// Specification: "A replay creates a webhook event identifier". Two equal replays had the event id of the delivery that
// they repeated.
func TestReplay_CreatesAnEvent(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual(), mockserver.WithDeliveryTransport(&inbox{}))
	stored := srv.Deliveries()[0]
	for _, body := range []string{
		replayBody(t, "delivery_id", stored.ID), replayBody(t, "shipment_id", stored.ShipmentID, "event", stored.Event),
	} {
		events := map[string]bool{stored.EventID: true}
		for range 2 {
			id := post(t, srv, replayPath, body).want(t, http.StatusOK).text(t, "webhook_event_id")
			if sent := srv.Deliveries()[0]; events[id] || sent.EventID != id || string(sent.Payload) != string(stored.Payload) {
				t.Errorf("%s is event %s, delivered as %s; before: %v", body, id, sent.EventID, events)
			}
			events[id] = true
		}
	}
}

func TestReplay_IsReallyDeliveredAndSigned(t *testing.T) {
	t.Parallel()
	srv := start(t)
	type received struct {
		body   []byte
		header http.Header
	}
	inbox := make(chan received, 2)
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		inbox <- received{body, r.Header}
	}))
	defer there.Close()
	hook := subscribe(t, srv.World, there.URL+"/hook")
	body := replayBody(t, "shipment_id", srv.Shipments()[0], "event", "shipment.created", "webhook_id", hook)
	result := post(t, srv, replayPath, body).want(t, http.StatusOK)
	got := <-inbox
	if !strings.Contains(string(result.body), "queued") ||
		!strings.HasPrefix(string(got.body), `{"event":"shipment.created","data":{"shipment_id":"`+srv.Shipments()[0]+`"`) {
		t.Errorf("the response is %s, the notification %s", result.body, got.body)
	}
	mac := hmac.New(sha512.New, []byte(srv.SecretKey))
	mac.Write(got.body)
	for name, want := range map[string]string{
		"Content-Type":          "application/json",
		"X-Webhook-Signature":   hex.EncodeToString(mac.Sum(nil)),
		"X-Webhook-Delivery-Id": result.text(t, "delivery_id"),
		"X-Webhook-Event-Id":    result.text(t, "webhook_event_id"),
		"X-Webhook-Id":          hook,
		"Authorization":         "",
	} {
		shippingtest.Diff(t, name, want, got.header.Get(name))
	}
	ended, err := srv.WaitDelivery(t.Context(), result.text(t, "delivery_id"))
	if err != nil || ended.State != "delivered" || len(ended.Attempts) != 1 || ended.Attempts[0].StatusCode != 200 {
		t.Errorf("the log has %+v (%v)", ended, err)
	}
	// Specification: delivery_id "Replays the exact stored payload of that attempt."
	again := post(t, srv, replayPath, replayBody(t, "delivery_id", ended.ID, "webhook_id", hook)).want(t, http.StatusOK)
	if repeated := <-inbox; !bytes.Equal(repeated.body, got.body) || again.text(t, "delivery_id") == ended.ID ||
		again.text(t, "delivery_id") != repeated.header.Get("X-Webhook-Delivery-Id") {
		t.Errorf("the replay %s sent %s", again.body, repeated.body)
	}
}
