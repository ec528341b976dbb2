// One delivery: its attempts, its payload, and its replay.

import { operation } from "./api.js";
import { badge } from "./badge.js";
import { button, h } from "./dom.js";
import { between, moment } from "./format.js";
import { json } from "./json.js";
import { attempt } from "./notice.js";
import { fact, facts, part } from "./split.js";

/**
 * @param {import("./app.js").App} app
 * @param {ReturnType<typeof import("./split.js").split>} view
 * @param {any} one
 */
export function deliveryDetail(app, view, one) {
  view.open(one.delivery_id, h("h2", null, badge(one.state), " ", one.event),
    h("div", { class: "actions" }, button("Replay", () => replay(app, { delivery_id: one.delivery_id }), { class: "primary" }),
      button("Replay to this webhook only", () => replay(app, { delivery_id: one.delivery_id, webhook_id: one.webhook_id }))),
    one.reason && h("div", { class: "reason" }, h("p", { class: "what" }, one.reason)),
    part("Attempts", one.attempts.length ? h("ol", { class: "timeline" }, one.attempts.map((/** @type {any} */ attempted) => h("li", null,
      h("time", { datetime: attempted.at, title: moment(attempted.at) }, between(one.created_at, attempted.at)),
      badge(attempted.status_code || "no response", attempted.status_code >= 200 && attempted.status_code < 300 ? "good" : "bad"),
      attempted.error && h("span", { class: "why" }, attempted.error)))) : h("p", { class: "none" }, "None.")),
    facts(fact("To", one.url),
      fact("Webhook", h("a", { href: app.link({ id: one.webhook_id, query: { show: "webhooks" } }) }, one.webhook_id)),
      fact("Delivery", one.delivery_id), fact("Event id", one.webhook_event_id), fact("Shipment", one.shipment_id), fact("Queued", moment(one.created_at))),
    part("Payload", json(one.payload)));
}

/**
 * @param {import("./app.js").App} app
 * @param {{delivery_id: string, webhook_id?: string}} order
 */
function replay(app, order) {
  return attempt(async () => {
    const { method, path } = await operation("webhooks.replay");
    const sent = await app.api.send(method, path, JSON.stringify(order));
    const body = JSON.parse(sent.body || "{}");
    if (sent.status !== 200) throw new Error(body.message || sent.error);
    return body;
  }, (body) => body.message);
}
