// One notification in the inbox, and whether its signature is valid.

import { badge } from "./badge.js";
import { h } from "./dom.js";
import { moment } from "./format.js";
import { json } from "./json.js";
import { fact, facts, part } from "./split.js";

/**
 * @param {import("./app.js").App} app
 * @param {ReturnType<typeof import("./split.js").split>} view
 * @param {any} one
 */
export function notificationDetail(app, view, one) {
  view.open(`notification-${one.number}`, h("h2", null, badge(one.valid ? "valid" : "not valid", one.valid ? "good" : "bad"), " ", one.event || "notification"),
    one.problem && h("div", { class: "reason" }, h("p", { class: "what" }, one.problem)),
    facts(fact("Received", moment(one.at)), fact("Response", String(one.status)), fact("Attempt", one.attempt),
      one.delivery_id && fact("Delivery", h("a", { href: app.link({ id: one.delivery_id }) }, one.delivery_id)),
      one.webhook_id && fact("Webhook", h("a", { href: app.link({ id: one.webhook_id, query: { show: "webhooks" } }) }, one.webhook_id)),
      fact("Event id", one.webhook_event_id)),
    part("Header", facts(Object.entries(one.header).map(([name, values]) => fact(name, values.join(", "))))),
    part("Payload", one.payload === undefined ? h("p", { class: "none" }, "The body is not JSON.") : json(one.payload)));
}
