// The webhooks of a world, the deliveries to them, and the inbox, which needs no receiver.

import { badge } from "./badge.js";
import { deliveryDetail } from "./delivery.js";
import { button, h, put } from "./dom.js";
import { eventForm } from "./eventform.js";
import { count, moment, time } from "./format.js";
import { notificationDetail } from "./notification.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { scheduleForm } from "./scheduleform.js";
import { series } from "./series.js";
import { lesson, split } from "./split.js";
import { tabs } from "./tabs.js";
import { webhookForm } from "./webhookform.js";

const page = 300; // deliveries that are loaded at a time

/** @param {import("./app.js").App} app */
export function webhooks(app) {
  /** @type {Record<string, any[]>} what each part lists */
  const found = { deliveries: [], webhooks: [], inbox: [] };
  let inboxURL = "";
  let part = "deliveries";
  let wanted = page; // deliveries
  let complete = false; // no older ones
  let typing = 0;
  let searched = "";

  const moments = (/** @type {string} */ at) => h("time", { datetime: at, title: moment(at) }, time(at, app.summary?.now));
  const href = (/** @type {string} */ id) => app.link({ id, q: app.route.q, query: app.route.query });
  /** @type {Record<string, ReturnType<typeof list<any>>>} */
  const lists = {
    deliveries: list({
      label: "Deliveries, newest first", kind: "deliveries", heads: ["Time", "State", "Event", "To", "Attempts"],
      key: (one) => one.delivery_id, href: (one) => href(one.delivery_id), more: () => older(),
      row: (one) => [moments(one.created_at), badge(one.state), one.event, one.url.replace(/^https?:\/\//, ""), String(one.attempts.length)],
    }),
    webhooks: list({
      label: "Webhooks, newest first", kind: "webhooks", heads: ["State", "Name", "URL", "Events", "Order"],
      key: (one) => one.webhook_id, href: (one) => href(one.webhook_id),
      row: (one) => [badge(one.active ? "active" : "inactive", one.active ? "good" : "calm"), one.name, one.url, one.events.join(", "), one.order],
    }),
    inbox: list({
      label: "Notifications in the inbox, newest first", kind: "inbox", heads: ["Time", "Signature", "Event", "Delivery", "Attempt", "Response"],
      key: (one) => `notification-${one.number}`, href: (one) => href(`notification-${one.number}`),
      row: (one) => [moments(one.at), badge(one.valid ? "valid" : "not valid", one.valid ? "good" : "bad"), one.event || "–", one.delivery_id ?? "–", String(one.attempt ?? "–"), String(one.status)],
    }),
  };

  const parts = tabs(app, "Parts of webhooks", [["deliveries", "Deliveries"], ["webhooks", "Webhooks"], ["inbox", "Inbox"]]);
  const search = h("input", {
    type: "search", placeholder: "Event, URL, id, text", "aria-label": "Search webhooks",
    oninput: () => {
      clearTimeout(typing);
      typing = setTimeout(() => app.go({ id: app.route.id, q: search.value.trim(), query: app.route.query }), 200);
    },
  });
  const summary = h("span", { class: "note", role: "status" });
  const subscribe = button("Subscribe inbox", () => attempt(() => app.api.post("webhooks", { url: inboxURL, name: "Inbox" }), "The inbox is subscribed"));
  const empty = button("Empty inbox", () => attempt(() => app.api.remove("inbox"), "The inbox is empty"));
  const add = button("New webhook", () => app.go({ id: "new", query: app.route.query }));
  const shown = h("div", { class: "shown" });
  const view = split({
    title: "Webhooks", label: "Details",
    tools: [parts.node, h("div", { class: "tools" }, search, subscribe, empty,
      add, button("Send event", () => app.go({ id: "event", query: app.route.query }), { class: "primary" })), summary],
    content: shown, closing: () => close(),
  });
  const form = webhookForm(app);
  const event = eventForm(app);
  const schedule = scheduleForm(app);

  /** @type {Record<string, () => Promise<any[] | undefined>>} */
  const loaders = {
    deliveries: () => attempt(() => app.api.get("deliveries", { perPage: String(wanted), ...words() })),
    webhooks: () => attempt(() => app.api.get("webhooks", { perPage: "10000", ...words() })),
    inbox: async () => {
      const inbox = await attempt(() => app.api.get("inbox", words()));
      inboxURL = inbox?.url ?? inboxURL;
      return inbox?.notifications.reverse();
    },
  };
  const lessons = {
    deliveries: () => lesson("No deliveries. Subscribe a receiver, or the inbox, then send an event."),
    webhooks: () => lesson("No webhooks. Add one for your receiver, or subscribe the inbox."),
    inbox: () => lesson("No notifications. The inbox is a receiver inside the server: subscribe it, then send an event."),
  };

  const close = () => app.go({ id: "", q: app.route.q, query: app.route.query });
  /** @returns {Record<string, string>} */
  const words = () => (app.route.q ? { contains: app.route.q } : {});

  const loads = { deliveries: series(() => read("deliveries")), webhooks: series(() => read("webhooks")), inbox: series(() => read("inbox")) };
  /** @param {keyof typeof lessons} which */
  const load = (which) => loads[which]();

  /** @param {keyof typeof lessons} which */
  async function read(which) {
    const asked = app.route.q;
    const all = await loaders[which]();
    if (!all || asked !== app.route.q) return;
    complete = which === "deliveries" ? all.length < wanted : complete;
    found[which] = all;
    lists[which].set(all, app.route.q ? () => h("p", null, "Nothing matches.") : lessons[which]);
    summarize();
    open(app.route.id);
  }

  function older() {
    if (complete || part !== "deliveries" || found.deliveries.length < wanted) return;
    wanted += page;
    load("deliveries");
  }

  function summarize() {
    const [one, many] = { deliveries: ["delivery", "deliveries"], webhooks: ["webhook", "webhooks"], inbox: ["notification", "notifications"] }[part] ?? [];
    summary.textContent = count(found[part].length, one, many) + (part === "deliveries" && !complete && found.deliveries.length ? ", more below" : "");
  }

  /** @param {string} id of a delivery, a webhook or a notification; new, event or schedule for a form */
  function open(id) {
    for (const each of Object.values(lists)) each.mark(id);
    if (app.route.section !== "webhooks") return;
    const one = (/** @type {string} */ kind, /** @type {string} */ key) => found[kind].find((/** @type {any} */ each) => String(each[key]) === id.replace("notification-", ""));
    const delivery = one("deliveries", "delivery_id");
    const hook = one("webhooks", "webhook_id");
    const notification = one("inbox", "number");
    if (id === "new") form.show(view, undefined);
    else if (id === "event") event.show(view);
    else if (id === "schedule") schedule.show(view);
    else if (delivery) deliveryDetail(app, view, delivery);
    else if (hook) form.show(view, hook);
    else if (notification) notificationDetail(app, view, notification);
    else view.close();
  }

  return {
    node: view.node,
    search,
    close,
    move: (/** @type {number} */ step) => lists[part].move(step),
    /** @param {import("./route.js").Route} route */
    show(route) {
      const before = part;
      part = parts.choose(route);
      if (part !== before || !shown.firstChild) put(shown, lists[part].node);
      subscribe.hidden = empty.hidden = part !== "inbox";
      add.hidden = part === "inbox";
      lists[part].relink();
      if (document.activeElement !== search) search.value = route.q;
      form.leave(route.id);
      summarize();
      open(route.id);
      if (part !== before || searched !== route.q) load(/** @type {keyof typeof lessons} */ (part));
      searched = route.q;
    },
    /** @param {Set<string>} changed */
    refresh(changed) {
      for (const which of /** @type {(keyof typeof lessons)[]} */ (["deliveries", "webhooks", "inbox"])) if (changed.has(which)) load(which);
    },
  };
}
