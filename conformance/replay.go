package conformance

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
)

// checkReplay: "Response 200: data is the webhook replay result"; "Replays the exact stored payload of that attempt";
// "Content-Type: application/json (optional)"; "When webhook_id is given, that webhook must exist, be active and be
// subscribed to the event being replayed; otherwise the request fails."
func (s *session) checkReplay() {
	const replay = "webhooks.replay"
	fails := func(what string, r request, need missing) check {
		return s.breaksRule(headingReplay, what+": the request fails", s.call(replay, r, need))
	}
	s.judge([]check{
		fails("neither delivery_id nor the pair shipment_id and event", request{}, missing{}),
		fails("shipment_id without event", request{body: body{"shipment_id": "SH-0"}}, missing{}),
		fails("event without shipment_id", request{body: body{"event": "shipment.created"}}, missing{}),
		fails("webhook_id alone", request{body: body{"webhook_id": "WA-0"}}, missing{}),
	})

	webhooks, event := s.findReplay()
	first := s.call(replay, s.replay, s.noReplay)
	delivered := cmp.Or(first.missing, unless(first.succeeded(), "needs a delivery"))
	again := body{"delivery_id": first.data()["delivery_id"]}
	if s.target.Webhook != "" {
		again["webhook_id"] = s.target.Webhook
	}
	second, plain := s.call(replay, request{body: again}, delivered), s.call(replay, s.replay.without("Content-Type"), delivered)
	result := func(a response) []string {
		return slices.Concat(a.problems(),
			problem(a.data()["shipment_id"] != s.target.Shipment, "data.shipment_id is %v; want %s", a.data()["shipment_id"], s.target.Shipment),
			problem(a.data()["event"] != event, "data.event is %v; want %s", a.data()["event"], event))
	}
	// to returns a replay to the first webhook that a condition holds for.
	to := func(lacking string, is func(webhook map[string]any) bool) (request, missing) {
		if i := slices.IndexFunc(webhooks, is); i >= 0 {
			return s.replayTo(webhooks[i]["webhook_id"], event), s.noReplay
		}
		return request{}, cmp.Or(s.noReplay, missing{NotRun, "there is none among the webhooks: make " + lacking + event})
	}
	inactive, noInactive := to("an inactive webhook that is subscribed to ", func(w map[string]any) bool { return w["active"] == false && subscribed(w, event) })
	other, noOther := to("an active webhook that is not subscribed to ", func(w map[string]any) bool { return w["active"] == true && !subscribed(w, event) })
	s.judge([]check{
		{headingReplayed, "shipment_id with event returns the fields of the table", first.missing, result(first), stated},
		{headingReplayed, "delivery_id replays the same event of the same shipment", second.missing, result(second), stated},
		{headingReplay, "Content-Type is optional", plain.missing, result(plain), stated},
		{headingReplayed, "replay_mode is stored_payload", second.missing,
			problem(second.data()["replay_mode"] != "stored_payload", "replay_mode is %v", second.data()["replay_mode"]), open},
		fails("a webhook_id that is not active", inactive, noInactive),
		fails("a webhook_id that is not subscribed to the event", other, noOther),
		fails("a webhook_id that does not exist", s.replayTo("WA-0", event), s.noReplay),
	})
}

// subscribed reports whether a webhook is subscribed to an event.
func subscribed(webhook map[string]any, event string) bool {
	events, _ := webhook["event"].([]any)
	return slices.Contains(events, any(event))
}

// replayTo returns a replay of an event of the target's shipment, to one webhook if there is an identifier.
func (s *session) replayTo(webhook any, event string) request {
	pair := body{"shipment_id": s.target.Shipment, "event": event}
	if webhook != "" {
		pair["webhook_id"] = webhook
	}
	return request{body: pair}
}

// findReplay finds a shipment event that the target's webhook is subscribed to; without one, that any active webhook is
// subscribed to. It returns the webhooks of up to ten pages.
func (s *session) findReplay() (webhooks []map[string]any, found string) {
	s.noReplay = cmp.Or(option(s.writes, needsWrites), unless(s.target.Shipment != "", needsShipment))
	for number := 1; number <= 10 && s.noReplay == (missing{}); number++ {
		next := s.call("webhooks.list", request{query: url.Values{"page": {fmt.Sprint(number)}}})
		page := objects(next.data()["webhooks"])
		if len(page) == 0 {
			break
		}
		webhooks = append(webhooks, page...)
	}
	for _, event := range []string{"shipment.created", "shipment.updated", "shipment.delivered"} {
		for _, w := range webhooks {
			if found == "" && w["active"] == true && subscribed(w, event) && (s.target.Webhook == "" || w["webhook_id"] == s.target.Webhook) {
				found = event
			}
		}
	}
	s.replay = s.replayTo(s.target.Webhook, found)
	s.noReplay = cmp.Or(s.noReplay, unless(found != "", "no active webhook is subscribed to a shipment event: subscribe one"))
	return webhooks, found
}
