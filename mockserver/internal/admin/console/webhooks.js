// Section 4: the webhooks, and the deliveries to them.

import { badge } from "./badge.js";
import { operation } from "./api.js";
import { button, choice, h, labelled, put, turn } from "./dom.js";
import { between, moment, time } from "./format.js";
import { json } from "./json.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { fact, facts, lesson, part, split } from "./split.js";

const events = ["shipment.created", "shipment.updated", "shipment.delivered"];

export function webhooks(app) {
  let deliveries = [];
  let hooks = [];
  const kind = choice(events, { "aria-label": "Event" });
  const target = h("input", { type: "url", placeholder: "http://127.0.0.1:9000/hook", "aria-label": "URL of a receiver" });
  const subscriptions = h("ul", { class: "hooks", "aria-label": "Webhooks" });
  const rows = list({
    label: "Deliveries, newest first", kind: "deliveries",
    heads: ["Time", "State", "Event", "To", "Tries"],
    key: (one) => one.delivery_id,
    href: (one) => app.link({ id: one.delivery_id }),
    row: (one) => [
      h("time", { datetime: one.created_at, title: moment(one.created_at) }, time(one.created_at, app.pulse?.now)),
      badge(one.state), one.event, one.url, String(one.attempts.length),
    ],
  });
  const view = split({
    title: "Webhooks", label: "The delivery",
    tools: h("div", { class: "tools" }, kind, button("Send event", () => attempt(() => app.api.post("events", { event: kind.value }), (sent) => {
      const refused = sent.filter((one) => one.state === "refused").length;
      return `${sent.length - refused} queued${refused ? `, ${refused} refused` : ""}`;
    }), { class: "primary" })),
    content: [
      h("form", { class: "add", onsubmit: (event) => { event.preventDefault(); subscribe(); } }, labelled("New receiver", target), h("button", { type: "submit" }, "Subscribe")),
      subscriptions, rows.node,
    ],
    closing: () => app.go({ id: "" }),
  });

  async function subscribe() {
    const added = await attempt(() => app.api.post("webhooks", { url: target.value, name: "From the console" }), "Subscribed");
    if (added) target.value = "";
  }

  async function load() {
    hooks = await attempt(() => app.api.get("webhooks", { perPage: "50" })) ?? hooks;
    put(subscriptions, hooks.map((hook) => h("li", null,
      turn(`${hook.name} is active`, hook.active, (active) => attempt(() => app.api.patch(`webhooks/${hook.webhook_id}`, { active }))),
      h("span", null, h("b", null, hook.name), " ", h("small", { class: "mono" }, hook.url), h("small", null, hook.events.join(", "))),
      button("Remove", () => attempt(() => app.api.remove(`webhooks/${hook.webhook_id}`), "Removed"), { class: "small", "aria-label": `Remove ${hook.name}` }))));
  }

  async function log() {
    deliveries = await attempt(() => app.api.get("deliveries", { perPage: "300" })) ?? deliveries;
    rows.set(deliveries, () => lesson("No deliveries yet. Subscribe a receiver, then send an event."));
    open(app.route.section === "webhooks" ? app.route.id : "");
  }

  function open(id) {
    rows.mark(id);
    const one = deliveries.find((delivery) => delivery.delivery_id === id);
    if (!one) return view.close();
    view.open(id, h("h2", null, badge(one.state), " ", one.event),
      h("div", { class: "actions" }, button("Replay", () => replay(one), { class: "primary" }), button("Replay to this webhook only", () => replay(one, one.webhook_id))),
      one.reason && h("div", { class: "reason" }, h("p", { class: "what" }, one.reason)),
      part("Attempts", one.attempts.length ? h("ol", { class: "timeline" }, one.attempts.map((attempted) => h("li", null,
        h("time", { datetime: attempted.at, title: moment(attempted.at) }, between(one.created_at, attempted.at)),
        badge(attempted.status_code || "no response", attempted.status_code >= 200 && attempted.status_code < 300 ? "good" : "bad"),
        attempted.error && h("span", { class: "why" }, attempted.error)))) : h("p", { class: "none" }, "None.")),
      facts(fact("To", one.url), fact("Webhook", one.webhook_id), fact("Delivery", one.delivery_id), fact("Event id", one.webhook_event_id),
        fact("Shipment", one.shipment_id), fact("Queued", moment(one.created_at))),
      part("Payload", json(one.payload)));
  }

  function replay(one, webhook) {
    return attempt(async () => {
      const { method, path } = await operation("webhooks.replay");
      const made = await app.api.send(method, path, JSON.stringify({ delivery_id: one.delivery_id, ...(webhook && { webhook_id: webhook }) }));
      const answer = JSON.parse(made.body || "{}");
      if (made.status !== 200) throw new Error(answer.message || made.error);
      return answer;
    }, (answer) => answer.message);
  }

  return {
    node: view.node,
    search: target,
    move: rows.move,
    show: (route) => { rows.relink(deliveries); open(route.id); },
    refresh(changed) {
      if (changed.has("webhooks")) load();
      if (changed.has("deliveries")) log();
    },
  };
}
