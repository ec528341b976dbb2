package mockserver_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// inbox is a receiver in the same process that remembers what came, in order.
type inbox struct {
	mu  sync.Mutex
	got []string
}

func (b *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, r.Header.Get("X-Webhook-Delivery-Id")+" "+string(body))
	return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
}

// receiverURL is the URL of a receiver on this machine; a transport of the test responds for it.
const receiverURL = "http://127.0.0.1:1/"

// subscribe adds a webhook, which without events is subscribed to all, and returns its id.
func subscribe(t *testing.T, w *mockserver.World, url string, events ...string) string {
	t.Helper()
	id := shippingtest.Must(w.AddWebhook(notify.Webhook{URL: url, Events: events}))(t)
	return id
}

// emit emits an event and returns its first delivery.
func emit(tb testing.TB, w *mockserver.World, event notify.Event) notify.Delivery {
	tb.Helper()
	sent := shippingtest.Must(w.Emit(event))(tb)
	return sent[0]
}

// listening returns a server on virtual time whose only subscriber to "test" is the inbox.
func listening(t *testing.T) (*mockserver.Server, *inbox) {
	t.Helper()
	box := &inbox{}
	srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithDeliveryTransport(box))
	subscribe(t, srv.World, receiverURL, "test")
	return srv, box
}

func TestEmit_NotifiesThoseSubscribed(t *testing.T) {
	t.Parallel()
	srv, box := listening(t)
	var queued []notify.Delivery
	post(t, srv, "/_mock/events", `{"event":"test","shipment_id":"`+srv.Shipments()[2]+`"}`).want(t, 200).data(t, &queued)
	done, err := srv.WaitDelivery(t.Context(), queued[0].ID)
	if err != nil || done.State != "delivered" || !strings.Contains(box.got[0], srv.Shipments()[2]) {
		t.Errorf("%+v, %v: %v", done, err, box.got)
	}
	for kind, status := range map[string]string{"test": "confirmed", "shipment.delivered": "delivered"} {
		shippingtest.Must(srv.Advance(time.Hour))(t)
		without := emit(t, srv.World, notify.Event{Kind: kind})
		// With the time of the initial contents, a receiver took a new notification for a late one.
		shippingtest.Contains(t, kind, without.Payload, srv.Now().Format(`"updated_at":"2006-01-02T15:04:05.000Z"`))
		shippingtest.Diff(t, "without a shipment", srv.Shipments()[0], without.ShipmentID)
		shippingtest.Contains(t, kind, without.Payload, without.ShipmentID+`","status":"`+status+`"`)
	}
	for body, want := range map[string]string{
		`{}`: "event is required", `{"event":"silence"}`: "no active webhook",
		`{"event":"test","shipment_id":"SH-1"}`:           "no shipment",
		`{"event":"test","data":[]}`:                      "must be a JSON object",
		`{"event":"test","data":{},"shipment_id":"SH-1"}`: "not both",
		`{"evnt":"test"}`:                                 `unknown field "evnt": did you mean "event"?`,
	} {
		post(t, srv, "/_mock/events", body).refusal(t, 400, want)
	}
}

func TestWebhooks_AreChangedAndRemoved(t *testing.T) {
	t.Parallel()
	srv, box := listening(t)
	id := srv.Webhooks()[0]
	patch := func(body string) answer { return do(t, srv, http.MethodPatch, "/_mock/webhooks/"+id, body) }
	patch(`{"name":"Mine","events":["test","other"]}`).want(t, 200).
		has(t, "data.name=Mine, data.events=[test other], data.active=true, data.revision=1")
	for i := range 3 {
		emit(t, srv.World, notify.Event{Kind: "test", Data: fmt.Appendf(nil, `{"number":%d}`, i)})
	}
	get(t, srv, "/_mock/deliveries?wait=1m").want(t, http.StatusOK)
	for i, text := range box.got {
		shippingtest.Contains(t, "order of arrival", text, fmt.Sprintf(`"number":%d`, i))
	}

	for body, want := range map[string]string{
		`{"url":"ftp://x"}`: "not changed", `{"order":"fifo"}`: `unknown field "order"`,
		`{"nam":"x"}`: `did you mean "name"?`,
	} {
		patch(body).refusal(t, 400, want)
	}
	patch(`{"active":false}`).want(t, 200)
	post(t, srv, "/_mock/events", `{"event":"test"}`).refusal(t, 400, "no active webhook")
	get(t, srv, "/_mock/webhooks?perPage=1").has(t, "data.0.webhook_id="+id)
	record := get(t, srv, "/v1/webhooks?perPage=1")
	record.has(t, fmt.Sprint("data.webhooks.0._id=", record.at(t, "data.webhooks.0.id")))
	shippingtest.Contains(t, "the first webhook", record.body, id)
	do(t, srv, http.MethodDelete, "/_mock/webhooks/"+id, "").want(t, 200)
	patch(`{}`).refusal(t, 404, "does not exist")
	do(t, srv, http.MethodDelete, "/_mock/webhooks/"+id, "").refusal(t, 404, "does not exist")
	left := srv.Webhooks()
	if err := srv.RemoveWebhook(left[len(left)-1]); err != nil || srv.RemoveWebhook(id) == nil ||
		slices.Contains(left, id) || !slices.Equal(srv.Webhooks(), left[:len(left)-1]) {
		t.Errorf("%q are left, then %q: %v", left, srv.Webhooks(), err)
	}
	const elsewhere = `{"url":"https://hooks.example/"}`
	post(t, srv, "/_mock/webhooks", elsewhere).refusal(t, 400, "webhook not added")
	post(t, start(t, mockserver.WithDeliverAnywhere()), "/_mock/webhooks", elsewhere).want(t, 200)
}

// A field that is null in some seeded webhooks was not set or cleared in those that were added or changed. If the null
// of yours does not follow from "active", delete the field from the record here, and add its rule.
func TestWebhooks_NullFollowsActive(t *testing.T) {
	t.Parallel()
	srv, fields := start(t, mockserver.WithoutListener()), map[string]bool{}
	for _, active := range []bool{true, false} {
		for _, changes := range [][]bool{{}, {!active}, {!active, active}} {
			id := shippingtest.Must(srv.AddWebhook(notify.Webhook{URL: notify.InboxURL, Inactive: !active}))(t)
			for _, change := range changes {
				do(t, srv, http.MethodPatch, "/_mock/webhooks/"+id, fmt.Sprintf(`{"active":%t}`, change)).want(t, http.StatusOK)
			}
		}
	}
	items, _ := records(t, get(t, srv, "/v1/webhooks?perPage=10000"), "webhooks")
	for _, item := range items {
		var record map[string]any
		shippingtest.NoError(t, json.Unmarshal(item, &record))
		maps.DeleteFunc(record, func(_ string, value any) bool { return value == nil })
		fields[fmt.Sprint(record["active"], slices.Sorted(maps.Keys(record)))] = true
	}
	if len(fields) != 2 {
		t.Errorf("seeded, added and changed webhooks have these fields, want one set for each value of active: %v", fields)
	}
}

func awaitInbox(t *testing.T, w *mockserver.World, count int) []notify.Received {
	t.Helper()
	got := shippingtest.Must(w.AwaitInbox(t.Context(), count, time.Minute))(t)
	return got
}

// A notification that came twice, late, out of order, forged or never could not be made in a test without a transport
// of its own. A rule strikes the notifications that it counts, and the delivery log shows it.
func TestFaultsOfNotifications(t *testing.T) {
	t.Parallel()
	const first, second = "shipment.created", "shipment.updated"
	for name, test := range map[string]struct {
		rule  fault.Rule
		want  string // what the inbox has received when one minute has passed
		fault string // of the struck delivery
		state notify.DeliveryState
	}{
		"repeat-notification": {fault.Rule{Operation: fault.Notification, First: 1, Fault: fault.RepeatNotification()},
			first + " " + first + " " + second, "", notify.Delivered},
		"replay-notification": {fault.Rule{First: 1, Fault: fault.ReplayNotification()},
			first + " replayed " + first + " " + second, "; the response to the replay was 200", notify.Delivered},
		"delay-notification": {fault.Rule{Event: first, Fault: fault.DelayNotification(time.Second)},
			second + " " + first, "", notify.Delivered},
		"reorder-notification": {fault.Rule{Nth: 1, Fault: fault.ReorderNotification(time.Hour)},
			second + " " + first, "", notify.Delivered},
		"drop-notification": {fault.Rule{First: 1, Fault: fault.DropNotification()}, second, "", notify.Failed},
		"forge-notification": {fault.Rule{First: 1, Fault: fault.ForgeNotification()}, "forged " + first + " " + second,
			"; the response to the forged one was 200", notify.Delivered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			subscribe(t, srv.World, notify.InboxURL)
			inject(t, srv, test.rule)
			struck := emit(t, srv.World, notify.Event{Kind: first, ShipmentID: srv.Shipments()[1]}).ID
			advance(t, srv, 0)
			emit(t, srv.World, notify.Event{Kind: second, ShipmentID: srv.Shipments()[1]})
			advance(t, srv, 0)
			advance(t, srv, time.Minute)
			var got []string
			for _, n := range srv.Inbox() {
				if n.Valid && strings.HasSuffix(n.DeliveryID, "REPLAY") {
					got = append(got, "replayed")
				}
				if n.Valid {
					got = append(got, n.Event)
				} else if !bytes.Contains(n.Payload, []byte(srv.Shipments()[1])) && n.DeliveryID == "WD-FORGED" {
					got = append(got, "forged")
				}
			}
			shippingtest.Diff(t, "received", test.want, strings.Join(got, " "))
			d, err := srv.WaitDelivery(t.Context(), struck)
			if err != nil || d.Fault != "rule 1: "+name+test.fault || d.State != test.state {
				t.Errorf("the delivery is %+v (%v)", d, err)
			}
			shippingtest.Diff(t, "notifications that the rule struck", int64(1), srv.Faults()[0].Struck)
		})
	}
}

// The first notification is repeated although the service makes one attempt. The second one, which is to be sent after
// the next to the same webhook, is the last: it is sent when its limit has passed, and the fault has not struck.
// Without the limit it would never return.
func TestFaultsOfNotifications_AtTheEnd(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual(), dialectOf(t, "notification.attempts=1"))
	updated := notify.Event{Kind: "shipment.updated"}
	subscribe(t, srv.World, notify.InboxURL, updated.Kind)
	inject(t, srv, fault.Rule{Nth: 1, Fault: fault.RepeatNotification()},
		fault.Rule{Nth: 2, Fault: fault.ReorderNotification(time.Second)})
	emit(t, srv.World, updated)
	awaitInbox(t, srv.World, 2)
	subscribe(t, srv.World, notify.InboxURL+"?other", updated.Kind)
	emit(t, srv.World, updated)
	advance(t, srv, 999*time.Millisecond)
	shippingtest.Diff(t, "received notifications", 3, len(srv.Inbox()))
	advance(t, srv, time.Millisecond)
	if got, rules := srv.Inbox(), srv.Faults(); len(got) != 4 || rules[1].Struck != 0 || srv.Deliveries()[1].Fault != "" {
		t.Errorf("received %+v; the rules are %+v", got, rules)
	}
}

// A delivery that the inbox refuses is retried twice within a minute, and no longer after a reset: a timer of the
// former world would notify the new one.
func TestInbox_RefusesSoThatDeliveriesAreRetried(t *testing.T) {
	t.Parallel()
	srv := start(t, virtual())
	updated := notify.Event{Kind: "shipment.updated"}
	subscribe(t, srv.World, notify.InboxURL+"?status=503", updated.Kind)
	emit(t, srv.World, updated)
	awaitInbox(t, srv.World, 1)
	advance(t, srv, time.Minute)
	got := srv.Inbox()
	if len(got) != 3 || got[0].Attempt != 1 || got[2].Attempt != 3 || got[2].DeliveryID != got[0].DeliveryID ||
		got[2].Status != 503 {
		t.Errorf("received %+v", got)
	}
	if d, err := srv.WaitDelivery(t.Context(), got[0].DeliveryID); err != nil || d.State != "failed" ||
		d.Attempts[0].StatusCode != 503 {
		t.Errorf("the delivery is %s after %+v (%v)", d.State, d.Attempts, err)
	}
	emit(t, srv.World, updated)
	awaitInbox(t, srv.World, 4)
	// An inbox is that of one world.
	other := srv.NewWorld(t)
	if srv.Reset(); len(other.Inbox())+len(srv.Inbox())+len(advance(t, srv, time.Minute)) != 0 {
		t.Errorf("the other world begins with %+v, and after a reset there are %+v", other.Inbox(), srv.Inbox())
	}
}

func TestInbox_OverHTTP(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, test := range []struct{ body, problem string }{
		{`{"event":"shipment.updated"}`, "the header X-Webhook-Signature is missing"},
		{`[]`, "not a JSON object"}, {`nothing`, "not a JSON object"}, {``, "not a JSON object"},
	} {
		var n struct {
			Valid   bool
			Problem string
			Event   string
			Attempt int
			Header  http.Header
			Payload json.RawMessage
		}
		do(t, srv, "POST", "/_mock/inbox", test.body, "X-Other", "1").data(t, &n)
		if (n.Header.Get("Content-Type") == "application/json") != (test.body != "") || len(n.Header) > 1 || n.Attempt != 0 {
			t.Errorf("it is attempt %d with the header %v", n.Attempt, n.Header)
		}
		if n.Valid || (n.Event == "") != strings.HasPrefix(test.problem, "not") ||
			!strings.Contains(n.Problem, test.problem) || (len(n.Payload) > 0) != json.Valid([]byte(test.body)) {
			t.Errorf("%s: %+v", test.body, n)
		}
	}
	post(t, srv, "/_mock/inbox?status=503", `{}`).want(t, http.StatusServiceUnavailable)
	post(t, srv, "/_mock/inbox?status=599", `{}`).want(t, 599)
	post(t, srv, "/_mock/inbox?status=200", `{}`).want(t, http.StatusOK)
	for _, status := range []string{"199", "600", "a"} {
		post(t, srv, "/_mock/inbox?status="+status, `{}`).refusal(t, http.StatusBadRequest, "200 to 599")
	}

	do(t, srv, http.MethodPost, "/_mock/inbox", `{"event":"shipment.delivered","data":{"a":"needle"}}`,
		"X-Webhook-Signature", "00")
	answer := get(t, srv, "/_mock/inbox?contains=needle&wait=5s").has(t, "data.url="+notify.InboxURL+
		", data.notifications.0.number=8, data.notifications.0.valid=false, data.notifications.1=<nil>")
	shippingtest.Contains(t, "inbox", answer.body, "is wrong")
	if strings.Contains(string(answer.body), srv.SecretKey) {
		t.Error("the inbox shows the secret key")
	}
	get(t, srv, "/_mock/inbox?after=8&wait=1ms&count=2").refusal(t, http.StatusRequestTimeout, "received 0 of 2")
	get(t, srv, "/_mock/inbox?count=2").refusal(t, http.StatusBadRequest, "count needs wait")
	srv.Reset()
	post(t, srv, "/_mock/inbox", `{}`).has(t, "data.number=1")
}

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
		again.text(t, "delivery_id") != repeated.header.Get("X-Webhook-Delivery-Id") ||
		again.text(t, "webhook_event_id") == result.text(t, "webhook_event_id") {
		t.Errorf("the replay %s sent %s", again.body, repeated.body)
	}
}
