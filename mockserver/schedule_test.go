package mockserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping/mockserver"
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
	if _, err := srv.AddWebhook(mockserver.Webhook{URL: "http://127.0.0.1:1/", Events: []string{"test"}}); err != nil {
		t.Fatal(err)
	}
	return srv, box
}

func events(n int) []mockserver.Event {
	all := make([]mockserver.Event, n)
	for i := range all {
		all[i] = mockserver.Event{Kind: "test", Data: fmt.Appendf(nil, `{"number":%d}`, i)}
	}
	return all
}

func TestSchedules_AreEveryWayOnce(t *testing.T) {
	t.Parallel()
	var one []string
	for s := range mockserver.Schedules(1) {
		one = append(one, s.String())
	}
	want := []string{"|; lost: 0", "| 0", "0 |", "| 0 +1h0m0s", "| 0 0", "0 | 0", "0 0 |", "| 0 0 +1h0m0s"}
	if diff := cmp.Diff(want, one); diff != "" {
		t.Errorf("schedules of one event (-want +got):\n%s", diff)
	}
	for n, orders := range map[int]int{2: 19, 3: 271} { // ways to arrange each event never, once or twice
		seen, arrivals := map[string]bool{}, map[string]bool{}
		for s := range mockserver.Schedules(n) {
			if seen[s.String()] {
				t.Errorf("%s comes twice", s)
			}
			seen[s.String()] = true
			arrivals[strings.NewReplacer("| ", "", " |", "", "|", "", " +1h0m0s", "").Replace(s.String())] = true
		}
		if len(arrivals) != orders {
			t.Errorf("%d events arrive in %d orders, want %d", n, len(arrivals), orders)
		}
	}
	for range mockserver.Schedules(50) { // is made as it is asked for
		break
	}
}

func TestRunSchedule_DeliversAsItSays(t *testing.T) {
	t.Parallel()
	for s := range mockserver.Schedules(2) {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			srv, box := listening(t)
			began := srv.Now()
			done, err := srv.RunSchedule(t.Context(), s, events(2), func(context.Context) error {
				get(t, srv, "/v1/countries").want(t, 200)
				box.note("reply")
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			var late time.Duration
			replied := false
			for i, step := range s.Steps {
				if !step.BeforeReply && !replied {
					want, replied = append(want, "reply"), true
				}
				want = append(want, fmt.Sprintf(`%s {"event":"test","data":{"number":%d}}`, done[i].ID, step.Event))
				late += step.After
			}
			if !replied {
				want = append(want, "reply")
			}
			if diff := cmp.Diff(want, box.got); diff != "" {
				t.Errorf("arrived (-want +got):\n%s", diff)
			}
			if passed := srv.Now().Sub(began); passed != late {
				t.Errorf("%v have passed, want %v", passed, late)
			}
			for i, a := range s.Steps {
				for j, b := range s.Steps[:i] {
					if (a.Event == b.Event) != (done[i].ID == done[j].ID) {
						t.Errorf("steps %d and %d are deliveries %s and %s", j, i, done[j].ID, done[i].ID)
					}
				}
			}
		})
	}
}

func TestRunSchedule_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	early := mockserver.Schedule{Events: 1, Steps: []mockserver.ScheduleStep{{BeforeReply: true}}}
	act := func(context.Context) error { return nil }
	failing := errors.New("the call failed")
	tests := []struct {
		name     string
		schedule mockserver.Schedule
		events   []mockserver.Event
		act      func(context.Context) error
		want     string
	}{
		{"event that is not there", mockserver.Schedule{Events: 2, Steps: []mockserver.ScheduleStep{{Event: 1}}}, events(1), act, "event 1 of 1 events"},
		{"reply of nothing", early, events(1), nil, "there is no request"},
		{"act without a call", early, events(1), act, "made no call"},
		{"before after after", mockserver.Schedule{Events: 1, Steps: []mockserver.ScheduleStep{{}, {BeforeReply: true}}}, events(1), act, "a previous step comes after it"},
		{"act that fails", mockserver.Schedule{Events: 1}, events(1), func(context.Context) error { return failing }, "the call failed"},
		{"nobody listens", mockserver.Schedule{Events: 1}, []mockserver.Event{{Kind: "silence"}}, act, "no active webhook is subscribed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv, box := listening(t)
			if _, err := srv.RunSchedule(t.Context(), test.schedule, test.events, test.act); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if len(box.got) != 0 {
				t.Errorf("%v arrived", box.got)
			}
		})
	}
}

func TestEmit_NotifiesThoseSubscribed(t *testing.T) {
	t.Parallel()
	srv, box := listening(t)
	var queued []mockserver.Delivery
	post(t, srv, "/_mock/events", `{"event":"test","shipment_id":"`+srv.Shipments()[2]+`"}`).want(t, 200).data(t, &queued)
	done, err := srv.WaitDelivery(t.Context(), queued[0].ID)
	if err != nil || done.State != "delivered" || !strings.Contains(box.got[0], srv.Shipments()[2]) {
		t.Errorf("%+v, %v: %v", done, err, box.got)
	}
	if queued, err := srv.Emit(mockserver.Event{Kind: "test"}); err != nil || queued[0].ShipmentID != srv.Shipments()[0] {
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
	if srv.Webhooks()[0] == id {
		t.Error("a removed webhook is listed")
	}
}
