// The form of a webhook: a new one, or one that exists.

import { button, choice, h, labelled, turn } from "./dom.js";
import { attempt } from "./notice.js";
import { fact, facts, part } from "./split.js";
import { moment } from "./format.js";

export const kinds = ["shipment.created", "shipment.updated", "shipment.delivered"];

/** Orders of deliveries. @type {[string, string][]} */
const orders = [["any", "any: at once, in no order"], ["fifo", "fifo: oldest first"], ["reverse", "reverse: newest first"], ["shuffle", "shuffle: random, from the seed"]];

/** @param {import("./app.js").App} app */
export function webhookForm(app) {
  let shown = ""; // the revision in the form; typed values stay until it changes

  return {
    /** @param {string} id leave drops typed values if another record is shown */
    leave(id) {
      if (!shown.startsWith(id + " ")) shown = "";
    },
    /**
     * @param {ReturnType<typeof import("./split.js").split>} view
     * @param {any} hook undefined for a new one
     */
    show(view, hook) {
      const look = `${hook?.webhook_id ?? "new"} ${hook?.revision ?? 0}`;
      if (look === shown) return;
      shown = look;
      const name = h("input", { type: "text", value: hook?.name ?? "", placeholder: "Orders" });
      const url = h("input", { type: "url", value: hook?.url ?? "", placeholder: "http://127.0.0.1:9000/hook", required: true });
      const order = choice(orders);
      order.value = hook?.order ?? "any";
      const boxes = kinds.map((kind) => h("input", { type: "checkbox", value: kind, checked: hook ? hook.events.includes(kind) : true }));
      const others = h("input", { type: "text", value: (hook?.events ?? []).filter((/** @type {string} */ kind) => !kinds.includes(kind)).join(", "), placeholder: "order.paid, order.cancelled" });
      const values = () => ({
        name: name.value, url: url.value, order: order.value,
        events: [...boxes.filter((box) => box.checked).map((box) => box.value), ...others.value.split(",").map((kind) => kind.trim()).filter(Boolean)],
      });
      const save = async () => {
        if (hook) return attempt(() => app.api.patch(`webhooks/${hook.webhook_id}`, values()), "Webhook saved");
        const added = await attempt(() => app.api.post("webhooks", values()), "Webhook added");
        if (added) app.go({ id: added.webhook_id, query: { show: "webhooks" } });
      };
      view.open(hook?.webhook_id ?? "new", h("h2", null, hook ? hook.name : "New webhook"),
        hook && h("div", { class: "actions" },
          turn(`${hook.name} is active`, hook.active, (active) => attempt(() => app.api.patch(`webhooks/${hook.webhook_id}`, { active }), active ? "Webhook enabled" : "Webhook disabled")),
          h("span", null, hook.active ? "Active" : "Inactive"),
          h("a", { class: "button", href: app.link({ id: "", q: hook.webhook_id }) }, "Its deliveries"),
          button("Remove", () => attempt(() => app.api.remove(`webhooks/${hook.webhook_id}`), "Webhook removed"), { "aria-label": `Remove ${hook.name}` })),
        h("form", { class: "fields", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); save(); } },
          labelled("Name", name), labelled("URL of the receiver", url),
          h("fieldset", null, h("legend", null, "Events"), boxes.map((box) => h("label", { class: "tick" }, box, box.value)), labelled("Other events, separated by commas", others)),
          labelled("Order of deliveries", order),
          h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, hook ? "Save" : "Add webhook"))),
        hook && part("Record", facts(fact("Webhook", hook.webhook_id), fact("Created", moment(hook.created_at)), fact("Updated", moment(hook.updated_at)), fact("Revision", String(hook.revision)))));
    },
  };
}
