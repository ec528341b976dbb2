// The form of a schedule: events in a given order, some of them before the response to a request.

import { badge, status } from "./badge.js";
import { button, choice, h, labelled, put } from "./dom.js";
import { count } from "./format.js";
import { icon } from "./icons.js";
import { attempt } from "./notice.js";
import { part } from "./split.js";
import { kinds } from "./webhookform.js";

/** @param {import("./app.js").App} app */
export function scheduleForm(app) {
  const events = h("input", { type: "text", value: kinds.slice(0, 2).join(", "), required: true, oninput: () => offer() });
  const method = choice(["GET", "POST", "PUT", "PATCH", "DELETE"]);
  const target = h("input", { type: "text", class: "mono", spellcheck: "false", value: "/v1/rates?perPage=1" });
  const text = h("textarea", { rows: "3", class: "mono", spellcheck: "false" });
  const list = h("ol", { class: "plain steps", "aria-label": "Steps" });
  const result = h("div", { role: "status" });
  /** @type {{li: HTMLElement, event: HTMLSelectElement, when: HTMLSelectElement, after: HTMLInputElement}[]} */
  let steps = [];
  const form = h("form", { class: "fields", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); run(); } },
    h("fieldset", null, h("legend", null, "Request"), h("p", { class: "note" }, "Optional: steps can come before its response."),
      h("div", { class: "fields" }, labelled("Method", method), labelled("Path and query", target), labelled("Body, JSON", text))),
    h("fieldset", null, h("legend", null, "Deliveries"), labelled("Events, separated by commas", events), h("p", { class: "note" }, "A step waits, then delivers one event to its subscribers."), list,
      h("div", { class: "actions" }, button("Add step", () => add(0, "", "1s"), { class: "small" }))),
    h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Run schedule")));

  const names = () => events.value.split(",").map((one) => one.trim()).filter(Boolean);

  /** offer shows the events in the steps. */
  function offer() {
    for (const { event } of steps) {
      const chosen = event.value;
      put(event, names().map((name, i) => h("option", { value: i }, `${i + 1}. ${name}`)));
      event.value = chosen && Number(chosen) < names().length ? chosen : "0";
    }
  }

  /**
   * @param {number} index of the event
   * @param {string} before the response, or not
   * @param {string} wait
   */
  function add(index, before, wait) {
    const step = {
      event: choice([], { "aria-label": "Event" }), when: choice([["", "after response"], ["true", "before response"]], { "aria-label": "When" }),
      after: h("input", { type: "text", value: wait, size: "5", class: "brief", "aria-label": "Wait before the step", title: "Wait before the step, such as 250ms or 90s" }), li: h("li", { class: "actions" }),
    };
    steps.push(step);
    offer();
    step.event.value = String(index);
    step.when.value = before;
    const remove = button("", () => { steps = steps.filter((one) => one !== step); step.li.remove(); }, { class: "quiet", "aria-label": "Remove step", title: "Remove step" });
    remove.append(icon("close"));
    put(step.li, step.event, step.when, step.after, remove);
    list.append(step.li);
  }

  async function run() {
    const order = JSON.stringify({
      events: names().map((event) => ({ event })),
      steps: steps.map(({ event, when, after }) => ({ event: Number(event.value), before_reply: when.value === "true", after: after.value || "0s" })),
    });
    const request = JSON.stringify({ method: method.value, target: target.value });
    // The body is sent as it is written, so that decimals stay exact.
    const body = text.value.trim() ? `${request.slice(0, -1)},"body":${text.value}}` : request;
    const done = await attempt(() => app.api.json("POST", "schedule", target.value ? `${order.slice(0, -1)},"request":${body}}` : order), ({ deliveries }) => count(deliveries.length, "notification"));
    if (!done) return;
    const { deliveries, response } = done;
    put(result, part("Delivered, in this order", h("ol", { class: "plain" }, deliveries.map((/** @type {any} */ one) => h("li", null, badge(one.state), ` ${one.event} `,
      h("a", { href: app.link({ id: one.delivery_id }) }, one.url), one.reason && h("small", null, one.reason))))),
    response && h("p", null, status(response.status), " ", h("a", { href: app.link({ section: "journal", id: response.request_id }) }, "The request in the journal")));
  }

  add(1, "true", "0s");
  add(0, "", "1s");
  return {
    /** @param {ReturnType<typeof import("./split.js").split>} view */
    show: (view) => { if (!form.isConnected) view.open("schedule", h("h2", null, "Run a schedule"), form, result); },
  };
}
