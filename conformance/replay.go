package conformance

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
)

// checkReplay: "Response 200: data is the webhook replay result"; "Replays the exact stored payload of that attempt";
// "A replay creates a webhook event identifier";
// "Content-Type: application/json (optional)"; "When webhook_id is given, that webhook must exist, be active and be
// subscribed to the event being replayed; otherwise the request fails."
func (s *session) checkReplay() {
	replay := func(body map[string]any, needs ...missing) response {
		return s.call("webhooks.replay", request{body: body}, needs...)
	}
	fails := func(what string, a response) check { return s.breaksRule(headingReplay, what+": the request fails", a) }
	s.judge([]check{
		fails("neither delivery_id nor the pair shipment_id and event", replay(nil)),
		fails("shipment_id without event", replay(map[string]any{"shipment_id": "SH-0"})),
		fails("event without shipment_id", replay(map[string]any{"event": "shipment.created"})),
		fails("webhook_id alone", replay(map[string]any{"webhook_id": "WA-0"})),
	})

	webhooks, event := s.findReplay()
	first := s.call("webhooks.replay", s.replay, s.noReplay)
	delivered := cmp.Or(first.missing, unless(first.succeeded(), NotRun, "needs a delivery"))
	again := map[string]any{"delivery_id": first.data()["delivery_id"]}
	if s.target.Webhook != "" {
		again["webhook_id"] = s.target.Webhook
	}
	second := replay(again, delivered)
	plain := s.call("webhooks.replay", request{body: s.replay.body, lacks: "Content-Type"}, delivered)
	events := []any{first.data()["webhook_event_id"], second.data()["webhook_event_id"]}
	result := func(a response) []string {
		shipment, replayed := a.data()["shipment_id"], a.data()["event"]
		return slices.Concat(a.problems(),
			problem(shipment != s.target.Shipment, "data.shipment_id is %v; want %s", shipment, s.target.Shipment),
			problem(replayed != event, "data.event is %v; want %s", replayed, event))
	}
	// to sends a replay to the first webhook for which both statements, active and subscribed, are as given.
	to := func(lacking string, active, subscribed bool) response {
		i := slices.IndexFunc(webhooks,
			func(w map[string]any) bool { return w["active"] == active && isSubscribed(w, event) == subscribed })
		if i < 0 {
			return response{missing: cmp.Or(s.noReplay,
				missing{NotRun, "the account has no such webhook: make " + lacking + " to " + event})}
		}
		return replay(s.pair(event, webhooks[i]["webhook_id"]), s.noReplay)
	}
	s.judge([]check{
		{headingReplayed, "shipment_id with event returns the fields of the table", first.missing, result(first), stated},
		{headingReplayed, "delivery_id replays the same event of the same shipment", second.missing, result(second), stated},
		{headingReplayed, "a replay creates a webhook event identifier", second.missing,
			problem(events[0] == events[1], "two replays have the webhook_event_id %v", events[0]), stated},
		{headingReplay, "Content-Type is optional", plain.missing, result(plain), stated},
		{headingReplayed, "replay_mode is stored_payload", second.missing,
			problem(second.data()["replay_mode"] != "stored_payload", "replay_mode is %v", second.data()["replay_mode"]), open},
		fails("a webhook_id that is not active", to("an inactive webhook that is subscribed", false, true)),
		fails("a webhook_id that is not subscribed to the event",
			to("an active webhook that is not subscribed", true, false)),
		fails("a webhook_id that does not exist", replay(s.pair(event, "WA-0"), s.noReplay)),
	})
}

// isSubscribed reports whether a webhook is subscribed to an event.
func isSubscribed(webhook map[string]any, event string) bool {
	events, _ := webhook["event"].([]any)
	return slices.Contains(events, any(event))
}

// pair returns a replay of an event of the target's shipment, to one webhook unless webhook is empty.
func (s *session) pair(event string, webhook any) map[string]any {
	body := map[string]any{"shipment_id": s.target.Shipment, "event": event, "webhook_id": webhook}
	if webhook == "" {
		delete(body, "webhook_id")
	}
	return body
}

// findReplay finds a shipment event that the target's webhook is subscribed to; without one, that any active webhook is
// subscribed to. It returns the webhooks of up to ten pages.
func (s *session) findReplay() (webhooks []map[string]any, event string) {
	s.noReplay = cmp.Or(unless(s.writes, Skipped, needsWrites), unless(s.target.Shipment != "", NotRun, needsShipment))
	for number := 1; number <= 10; number++ {
		next := s.call("webhooks.list", request{query: url.Values{"page": {fmt.Sprint(number)}}}, s.noReplay)
		s.noReplay = cmp.Or(s.noReplay, unless(next.succeeded() || number > 1, NotRun,
			fmt.Sprintf("needs the list of webhooks: %s gets HTTP status %d", next.to, next.status)))
		page := objects(next.data()["webhooks"])
		if webhooks = append(webhooks, page...); len(page) == 0 {
			break
		}
	}
	for _, kind := range []string{"shipment.delivered", "shipment.updated", "shipment.created"} {
		if slices.ContainsFunc(webhooks, func(w map[string]any) bool {
			return w["active"] == true && isSubscribed(w, kind) &&
				(s.target.Webhook == "" || w["webhook_id"] == s.target.Webhook)
		}) {
			event = kind
		}
	}
	s.replay = request{body: s.pair(event, s.target.Webhook)}
	s.noReplay = cmp.Or(s.noReplay,
		unless(event != "", NotRun, "no active webhook is subscribed to a shipment event: subscribe one"))
	return webhooks, event
}
