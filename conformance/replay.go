package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

const replayPath = "/v1/webhooks/replay"

// checkReplay makes the checks of POST /v1/webhooks/replay.
func (s *session) checkReplay() {
	for _, r := range []struct {
		check string
		body  map[string]any
	}{
		{"neither delivery_id nor the pair shipment_id and event: the request fails", map[string]any{}},
		{"shipment_id without event: the request fails", map[string]any{"shipment_id": "SH-0"}},
		{"event without shipment_id: the request fails", map[string]any{"event": "shipment.created"}},
		{"webhook_id alone: the request fails", map[string]any{"webhook_id": "WA-0"}},
	} {
		s.judge(headingReplay, r.check, s.refused("a replay with "+jsonOf(r.body), s.post(replayPath, r.body), true))
	}
	switch {
	case !s.writes:
		defer s.suspend(Skipped, needsWrites)()
	case s.target.Shipment == "":
		defer s.suspend(NotRun, needsShipment)()
	default:
		s.readWebhooks()
		if s.event = s.subscribedEvent(); s.event == "" {
			defer s.suspend(NotRun, "no active webhook is subscribed to a shipment event: subscribe one")()
		}
	}
	s.checkReplayed(s.event)
	s.checkReceivers(s.event)
}

// readWebhooks reads the pages of webhooks that follow the first, up to ten.
func (s *session) readWebhooks() {
	for number := int64(2); number <= 10; number++ {
		next := s.fetch(s.webhookList(), func(q url.Values) { q.Set("page", fmt.Sprint(number)) })
		if len(next.records) == 0 {
			return
		}
		s.webhooks = append(s.webhooks, next.records...)
	}
}

// subscribed reports whether a webhook is subscribed to an event.
func subscribed(webhook map[string]any, event string) bool {
	events, _ := webhook["event"].([]any)
	return slices.Contains(events, any(event))
}

// subscribedEvent returns a shipment event that the target's webhook is subscribed to; without one, that any active
// webhook is subscribed to. It returns "" if there is none.
func (s *session) subscribedEvent() string {
	for _, kind := range []string{"shipment.created", "shipment.updated", "shipment.delivered"} {
		for _, w := range s.webhooks {
			if w["active"] == true && subscribed(w, kind) && (s.target.Webhook == "" || w["webhook_id"] == s.target.Webhook) {
				return kind
			}
		}
	}
	return ""
}

// pair returns a replay of an event of the target's shipment, to one webhook if id is not empty.
func (s *session) pair(event, webhook string) map[string]any {
	body := map[string]any{"shipment_id": s.target.Shipment, "event": event}
	if webhook != "" {
		body["webhook_id"] = webhook
	}
	return body
}

// checkReplayed: "Response 200: data is the webhook replay result"; "Replays the exact stored payload
// of that attempt"; "Content-Type: application/json (optional)".
func (s *session) checkReplayed(event string) {
	result := func(a response) []string {
		problems := a.problems()
		if len(problems) > 0 {
			return problems
		}
		problems = s.service.record("ReplayResult").problems("data", a.envelope["data"])
		for name, want := range map[string]string{"shipment_id": s.target.Shipment, "event": event} {
			if got := a.data()[name]; got != want {
				problems = append(problems, fmt.Sprintf("data.%s is %v; want %s", name, got, want))
			}
		}
		return problems
	}
	first := s.post(replayPath, s.pair(event, s.target.Webhook))
	if !s.judge(headingReplayed, "shipment_id with event returns the fields of the table", result(first)) {
		defer s.suspend(NotRun, "needs a delivery")()
	}
	again := map[string]any{"delivery_id": first.data()["delivery_id"]}
	if s.target.Webhook != "" {
		again["webhook_id"] = s.target.Webhook
	}
	second := s.post(replayPath, again)
	s.judge(headingReplayed, "delivery_id replays the same event of the same shipment", result(second))
	plain := s.send(http.MethodPost, replayPath, s.pair(event, s.target.Webhook), contentType)
	s.judge(headingReplay, "Content-Type is optional", result(plain))
	s.assume(headingReplayed, "replay_mode is stored_payload", second.data()["replay_mode"] == "stored_payload",
		fmt.Sprintf("replay_mode is %v", second.data()["replay_mode"]))
}

// checkReceivers: "When webhook_id is given, that webhook must exist, be active and be subscribed to
// the event being replayed; otherwise the request fails."
func (s *session) checkReceivers(event string) {
	for _, r := range []struct {
		check, lacking string
		is             func(webhook map[string]any) bool
	}{
		{"a webhook_id that is not active: the request fails", "an inactive webhook that is subscribed to " + event,
			func(w map[string]any) bool { return w["active"] == false && subscribed(w, event) }},
		{"a webhook_id that is not subscribed to the event: the request fails", "an active webhook that is not subscribed to " + event,
			func(w map[string]any) bool { return w["active"] == true && !subscribed(w, event) }},
	} {
		i := slices.IndexFunc(s.webhooks, r.is)
		if i < 0 {
			s.notRun(headingReplay, r.check, "there is none among the webhooks: make "+r.lacking)
			continue
		}
		id, _ := s.webhooks[i]["webhook_id"].(string)
		s.judge(headingReplay, r.check, s.refused("a replay to "+id, s.post(replayPath, s.pair(event, id)), true))
	}
	s.judge(headingReplay, "a webhook_id that does not exist: the request fails",
		s.refused("a replay to WA-0", s.post(replayPath, s.pair(event, "WA-0")), true))
}
