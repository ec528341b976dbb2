// The webhooks of a world, the deliveries to them, and the inbox, which needs no receiver.

import { series } from "./api.js";
import { actions, badge, button, choice, facts, h, labelled, note, part, put } from "./dom.js";
import { editor } from "./editor.js";
import { lesson, list, searchField, split, tabs } from "./list.js";
import { attempt } from "./notice.js";
import { operate } from "./send.js";
import { between, count, json, linked, moment, time } from "./text.js";

const page = 200; // records that are loaded at once
const events = ["shipment.created", "shipment.updated", "shipment.delivered"];
const newWebhook = {
  name: "Orders",
  url: "http://127.0.0.1:9000/hook",
  events,
};

/** @param {import("./app.js").App} app */
export function webhooks(app) {
  /** @type {Record<string, any[]>} the records of each list, newest first */
  const found = { deliveries: [], webhooks: [], inbox: [] };
  let inboxURL = "";
  let pages = 1;
  let shown = ""; // the list and its search
  let loaded = ""; // the same, when its records were loaded

  const lists = makeLists(app);
  const parts = tabs(app, [["deliveries", "Deliveries"], ["webhooks", "Webhooks"], ["inbox", "Inbox"]]);
  const search = searchField(app, "Event, URL, id or text");
  const content = h("div", { class: "first" });
  const inbox = () => ({ url: inboxURL, name: "Inbox" });
  const subscribe = () => attempt(() => app.api.post("webhooks", inbox()), "The inbox is subscribed");
  const view = split(app, {
    title: "Webhooks",
    tools: [
      parts.node, search, button("Subscribe inbox", subscribe), button("New webhook", () => app.go({ id: "new" })),
      button("Send event", () => app.go({ id: "event" }), { class: "primary" }),
    ],
    content,
  });
  const wanted = () => `${parts.chosen()} ${app.route.query.q ?? ""}`;

  /** read returns the records of a list, newest first. */
  async function read(kind) {
    const { q } = app.route.query;
    const query = { ...(q && { contains: q }), ...(kind !== "inbox" && { perPage: String(pages * page) }) };
    const all = await attempt(() => app.api.get(kind, query));
    if (kind !== "inbox" || !all) return all;
    inboxURL = all.url;
    return all.notifications.reverse();
  }

  const load = series(async () => {
    const kind = parts.chosen();
    const before = wanted();
    const all = await read(kind);
    if (!all || before !== wanted()) return;
    if (before !== loaded) lists[kind].top();
    loaded = before;
    found[kind] = all;
    lists[kind].set(all, kind === "inbox" || all.length < pages * page ? undefined : older);
    open(app.route.id);
  });

  function older() {
    pages++;
    load();
  }

  /** @param {string} id of a delivery, a webhook or a notification; new or event for a form */
  function open(id) {
    lists[parts.chosen()].mark(id);
    const delivery = found.deliveries.find((one) => one.delivery_id === id);
    const webhook = found.webhooks.find((one) => one.webhook_id === id);
    const notification = found.inbox.find((one) => `notification-${one.number}` === id);
    if (id === "new") newForm(app, view, inboxURL);
    else if (id === "event") eventForm(app, view);
    else if (delivery) deliveryDetail(app, view, delivery);
    else if (webhook) webhookDetail(app, view, webhook);
    else if (notification) notificationDetail(app, view, notification);
    else view.close();
  }

  read("inbox"); // for its URL
  return {
    node: view.node,
    search,
    move: (step) => lists[parts.chosen()].move(step),
    show({ id, query }) {
      parts.draw();
      if (document.activeElement !== search) search.value = query.q ?? "";
      if (shown !== wanted()) {
        pages = 1;
        put(content, lists[parts.chosen()].node);
        load();
      }
      shown = wanted();
      open(id);
    },
    refresh(changed) {
      if (changed.has(parts.chosen())) load();
    },
  };
}

/** @returns {Record<string, ReturnType<typeof list<any>>>} */
function makeLists(app) {
  const now = (at) => time(at, app.summary?.now);
  const empty = (text) => () => lesson(app.route.query.q ? "Nothing matches." : text);
  return {
    deliveries: list(app, {
      label: "Deliveries, newest first",
      heads: ["Time", "State", "Event", "To", "Attempts"],
      key: (one) => one.delivery_id,
      row: (one) => [now(one.created_at), badge(sent(one.state)), one.event, one.url, count(one.attempts.length, "attempt")],
      empty: empty("No deliveries. Subscribe a receiver, or the inbox, then send an event."),
    }),
    webhooks: list(app, {
      label: "Webhooks, newest first",
      heads: ["Created", "State", "Name", "URL and events"],
      key: (one) => one.webhook_id,
      row: (one) => [
        now(one.created_at), badge(one.active ? "active" : "inactive"), one.name,
        `${one.url} · ${one.events.join(", ")}`,
      ],
      empty: empty("No webhooks. Add one for your receiver, or subscribe the inbox."),
    }),
    inbox: list(app, {
      label: "Notifications in the inbox, newest first",
      heads: ["Time", "Signature", "Event", "Delivery", "Response"],
      key: (one) => `notification-${one.number}`,
      row: (one) => [
        now(one.at), badge(one.valid ? "valid" : "not valid"), one.event || "–",
        one.problem || one.delivery_id, one.status,
      ],
      empty: empty("No notifications. The inbox is a receiver inside the server: subscribe it, then send an event."),
    }),
  };
}

/** sent is the state of a delivery; a refused one is to a target that is not allowed. */
const sent = (state) => (state === "refused" ? "not sent" : state);

/** deliveryDetail shows a delivery: its attempts, its payload, and its replay. */
function deliveryDetail(app, view, one) {
  const { delivery_id, webhook_id } = one;
  const replay = (order) => operate(app, "webhooks.replay", {}, order);
  const answered = (code) => badge(code || "no response", code >= 200 && code < 300 ? "good" : "bad");
  view.open(delivery_id, h("h2", null, badge(sent(one.state)), " ", one.event),
    actions(button("Replay", () => replay({ delivery_id }), { class: "primary" }),
      button("Replay to this webhook only", () => replay({ delivery_id, webhook_id }))),
    one.reason && h("p", { class: "reason" }, one.reason),
    one.fault && h("p", { class: "reason fault" }, h("b", null, `An injected fault struck: ${one.fault}.`)),
    part("Attempts", h("ol", { class: "timeline" }, one.attempts.map(({ at, status_code: code, error }) => h("li", null,
      h("span", { class: "mono" }, between(one.created_at, at)), " ", answered(code), " ", error)))),
    facts([
      ["To", one.url],
      ["Webhook", h("a", { href: app.link({ id: webhook_id, query: { show: "webhooks", q: webhook_id } }) }, webhook_id)],
      ["Delivery", delivery_id],
      ["Event id", one.webhook_event_id],
      ["Shipment", linked(one.shipment_id)],
      ["Queued", moment(one.created_at)],
    ]),
    part("Payload", json(one.payload)));
}

/** webhookDetail shows a webhook. What is typed stays until the webhook changes. */
function webhookDetail(app, view, hook) {
  const { webhook_id: id, name, url, events, active, revision } = hook;
  const shown = `${id} ${revision}`;
  if (view.shows(shown)) return;
  const path = `webhooks/${id}`;
  const enabled = active ? "Webhook disabled" : "Webhook enabled";
  const enable = () => attempt(() => app.api.patch(path, { active: !active }), enabled);
  const form = editor(app, {
    method: "PATCH", path, value: { name, url, events }, action: "Save",
    done: () => "Webhook saved",
  });
  const kind = eventChoice(form);
  view.open(shown, h("h2", null, badge(active ? "active" : "inactive"), " ", name),
    actions(button(active ? "Disable" : "Enable", enable),
      button("Remove", () => attempt(() => app.api.remove(path), "Webhook removed")),
      h("a", { class: "button", href: app.link({ id: "", query: { show: "", q: id } }) }, "Its deliveries")),
    labelled("Events", kind), form.node,
    facts([
      ["Webhook", id],
      ["Created", moment(hook.created_at)],
      ["Updated", moment(hook.updated_at)],
      ["Revision", String(revision)],
    ]));
}

/** newForm shows the form of a new webhook. */
function newForm(app, view, inboxURL) {
  if (view.shows("new")) return;
  const form = editor(app, {
    method: "POST", path: "webhooks", value: newWebhook, action: "Add webhook",
    done: (added) => {
      app.go({ id: added.webhook_id, query: { show: "webhooks" } });
      return "Webhook added";
    },
  });
  const target = choice([[newWebhook.url, "A receiver on this machine"], [inboxURL, "The inbox of this world"]],
    { onchange: () => change(form, { url: target.value }) });
  view.open("new", h("h2", null, "New webhook"),
    h("div", { class: "line" }, labelled("Receiver", target), labelled("Events", eventChoice(form))), form.node);
}

/** change sets members of what is typed. */
const change = (form, members) => attempt(async () => form.set({ ...form.value(), ...members }));

/** eventChoice makes a select of the events of a webhook. */
function eventChoice(form) {
  const chosen = () => (select.value ? { events: select.value.split(" ") } : {});
  const select = choice([["", "as below"], [events.join(" "), "all shipment events"], ...events.map((name) => [name, name])],
    { onchange: () => change(form, chosen()) });
  return select;
}

/** eventForm shows the form of an event. */
async function eventForm(app, view) {
  if (view.shows("event")) return;
  const receivers = h("div", { role: "status" });
  const receiver = (one) => h("li", null, badge(sent(one.state)), " ",
    h("a", { href: app.link({ id: one.delivery_id, query: { show: "", q: one.delivery_id } }) }, one.url),
    one.reason && h("small", null, one.reason));
  const form = editor(app, {
    method: "POST", path: "events", value: { event: "shipment.updated", shipment_id: "" }, action: "Send",
    done: (all) => {
      put(receivers, part("Sent to", h("ul", null, all.slice(0, 20).map(receiver)),
        all.length > 20 && note(`and ${all.length - 20} more`)));
      return count(all.length, "notification");
    },
  });
  const kind = choice(events.map((name) => [name, name]), { onchange: () => fill(), value: events[1] });
  const shipment = h("select", { onchange: () => fill() });
  const fill = () => form.set({ event: kind.value, shipment_id: shipment.value });
  view.open("event", h("h2", null, "Send an event"),
    h("div", { class: "line" }, labelled("Event", kind), labelled("Shipment", shipment)), form.node,
    note("About a shipment in its current state, or with your own payload: ",
      h("code", null, '{"event":"order.paid","data":{"order_id":"OR-1"}}')), receivers);
  const world = await attempt(() => app.api.details());
  if (!world) return;
  put(shipment, world.consignments.map(({ shipment_id: id, origin, destination }) =>
    h("option", { value: id }, `${id} ${origin}→${destination}`)));
  fill();
}

/** notificationDetail shows a notification in the inbox, and whether its signature is valid. */
function notificationDetail(app, view, one) {
  const { delivery_id: id } = one;
  const delivery = id && h("a", { href: app.link({ id, query: { show: "", q: id } }) }, id);
  view.open(`notification-${one.number}`,
    h("h2", null, badge(one.valid ? "valid" : "not valid"), " ", one.event || "notification"),
    one.problem && h("p", { class: "reason" }, one.problem),
    facts([
      ["Received", moment(one.at)],
      ["Response", String(one.status)],
      ["Attempt", one.attempt],
      ["Delivery", delivery],
      ["Event id", one.webhook_event_id],
    ]),
    part("Header", facts(Object.entries(one.header).map(([name, values]) => [name, values.join(", ")]))),
    part("Payload", one.payload === undefined ? note("The body is not JSON.") : json(one.payload)));
}
