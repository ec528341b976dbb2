// The composer of an event: about a shipment, or with its own data.

import { button, choice, h, labelled, put } from "./dom.js";
import { count } from "./format.js";
import { badge } from "./badge.js";
import { attempt } from "./notice.js";
import { part } from "./split.js";
import { kinds } from "./webhookform.js";

/** @param {import("./app.js").App} app */
export function eventForm(app) {
  const kind = h("input", { type: "text", value: kinds[0], list: "event-kinds", required: true });
  const about = choice([["shipment", "a shipment"], ["data", "other data"]], { onchange: () => choose() });
  const shipment = choice([]);
  const data = h("textarea", { rows: "7", spellcheck: "false", class: "mono" });
  data.value = '{\n  "order_id": "OR-1"\n}';
  const shipmentField = labelled("Shipment, in its current state", shipment);
  shipmentField.classList.add("whole");
  const dataField = labelled("Payload: the member data, a JSON object", data);
  const queued = h("div", { role: "status" });
  const form = h("form", { class: "fields", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); send(); } },
    labelled("Event", kind), h("datalist", { id: "event-kinds" }, kinds.map((one) => h("option", { value: one }))),
    labelled("About", about), shipmentField, dataField,
    h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Send"),
      button("Several, in a given order", () => app.go({ id: "schedule", query: app.route.query }))));

  function choose() {
    shipmentField.hidden = about.value !== "shipment";
    dataField.hidden = about.value !== "data";
  }

  async function send() {
    const event = JSON.stringify({ event: kind.value, ...(about.value === "shipment" && shipment.value && { shipment_id: shipment.value }) });
    // Data is sent as it is written, so that decimals stay exact.
    const body = about.value === "data" ? `${event.slice(0, -1)},"data":${data.value.trim() || "{}"}}` : event;
    const sent = await attempt(() => app.api.json("POST", "events", body), (all) => `${count(all.length, "notification")} of ${kind.value}`);
    if (!sent) return;
    put(queued, part("Sent to", h("ul", { class: "plain" }, sent.slice(0, 20).map((/** @type {any} */ one) => h("li", null, badge(one.state), " ",
      h("a", { href: app.link({ id: one.delivery_id }) }, one.url), one.reason && h("small", null, one.reason)))),
    sent.length > 20 && h("p", { class: "note" }, `and ${sent.length - 20} more`)));
  }

  choose();
  let drawn = false;
  return {
    /** @param {ReturnType<typeof import("./split.js").split>} view */
    async show(view) {
      if (!form.isConnected) view.open("event", h("h2", null, "Send an event"), form, queued);
      if (drawn) return;
      drawn = true;
      const all = await attempt(() => app.api.get("consignments"));
      if (all) put(shipment, all.shipments.map((/** @type {any} */ one) => h("option", { value: one.shipment_id }, `${one.shipment_id} ${one.origin}→${one.destination}, ${one.status}`)));
    },
  };
}
