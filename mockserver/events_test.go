package mockserver_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver"
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
	b.note(r.Header.Get("X-Webhook-Delivery-Id") + " " + string(body))
	return &http.Response{StatusCode: 200, Body: http.NoBody, Request: r}, nil
}

func (b *inbox) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, text)
}

// listening returns a server on virtual time whose only subscriber to "test" is the inbox.
func listening(t *testing.T) (*mockserver.Server, *inbox) {
	t.Helper()
	box := &inbox{}
	srv := start(t, mockserver.WithoutListener(), virtual(), mockserver.WithDeliveryTransport(box))
	if _, err := srv.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:1/", Events: []string{"test"}}); err != nil {
		t.Fatal(err)
	}
	return srv, box
}

func events(n int) []notify.Event {
	all := make([]notify.Event, n)
	for i := range all {
		all[i] = notify.Event{Kind: "test", Data: fmt.Appendf(nil, `{"number":%d}`, i)}
	}
	return all
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
	if queued, err := srv.Emit(notify.Event{Kind: "test"}); err != nil || queued[0].ShipmentID != srv.Shipments()[0] {
		t.Errorf("without a shipment: %+v, %v", queued, err)
	}
	for body, want := range map[string]string{
		`{}`: "event is required", `{"event":"silence"}`: "no active webhook", `{"event":"test","shipment_id":"SH-1"}`: "no shipment",
		`{"event":"test","data":[]}`: "must be a JSON object", `{"event":"test","data":{},"shipment_id":"SH-1"}`: "exclude each other",
		`{"evnt":"test"}`: `unknown field "evnt": did you mean "event"?`,
	} {
		post(t, srv, "/_mock/events", body).refusal(t, 400, want)
	}
}

func TestWebhooks_AreChangedAndRemoved(t *testing.T) {
	t.Parallel()
	srv, box := listening(t)
	id := srv.Webhooks()[0]
	patch := func(body string) answer { return do(t, srv, http.MethodPatch, "/_mock/webhooks/"+id, body) }
	var changed struct {
		Name, URL, Order string
		Events           []string
		Active           bool
		Revision         int
	}
	patch(`{"name":"Mine","events":["test","other"],"order":"reverse"}`).want(t, 200).data(t, &changed)
	if changed.Name != "Mine" || !slices.Equal(changed.Events, []string{"test", "other"}) || changed.Order != "reverse" || !changed.Active || changed.Revision != 1 {
		t.Errorf("it is %+v", changed)
	}
	for i := range 3 {
		if _, err := srv.Emit(events(3)[i]); err != nil {
			t.Fatal(err)
		}
	}
	advance(t, srv, time.Second)
	for _, d := range srv.Deliveries()[:3] {
		if _, err := srv.WaitDelivery(t.Context(), d.ID); err != nil {
			t.Error(err)
		}
	}
	for i, text := range box.got {
		if !strings.Contains(text, fmt.Sprintf(`"number":%d`, 2-i)) {
			t.Errorf("arrived as number %d: %s", i, text)
		}
	}

	for body, want := range map[string]string{
		`{"url":"ftp://x"}`: "not changed", `{"order":"random"}`: `order is "random": choose any or one of`, `{"nam":"x"}`: `unknown field "nam": did you mean "name"?`,
	} {
		patch(body).refusal(t, 400, want)
	}
	patch(`{"active":false}`).want(t, 200)
	post(t, srv, "/_mock/events", `{"event":"test"}`).refusal(t, 400, "no active webhook")
	var views []struct {
		ID    string `json:"webhook_id"`
		Order string
	}
	get(t, srv, "/_mock/webhooks?perPage=1").want(t, 200).data(t, &views)
	if len(views) != 1 || views[0].ID != id || views[0].Order != "reverse" {
		t.Errorf("the list begins with %+v", views)
	}
	do(t, srv, http.MethodDelete, "/_mock/webhooks/"+id, "").want(t, 200)
	patch(`{}`).refusal(t, 404, "does not exist")
	do(t, srv, http.MethodDelete, "/_mock/webhooks/"+id, "").refusal(t, 404, "does not exist")
	if err := srv.RemoveWebhook(id); err == nil {
		t.Error("it is removed again")
	}
	if srv.Webhooks()[0] == id {
		t.Error("a removed webhook is listed")
	}
}
