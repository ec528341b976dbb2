// The page: one section at a time, of one world at a time, kept up to date by the stream of the world.

import { api } from "./api.js";
import { actions, button, h, put } from "./dom.js";
import { faults } from "./faults.js";
import { journal } from "./journal.js";
import { ledger } from "./ledger.js";
import { live } from "./live.js";
import { attempt, forget, notice } from "./notice.js";
import { regulatoryRequests } from "./regulatory.js";
import { change, format, parse } from "./route.js";
import { time } from "./text.js";
import { webhooks } from "./webhooks.js";
import { worlds } from "./worlds.js";

/**
 * Section is what a section shows.
 * @typedef {object} Section
 * @property {HTMLElement} node
 * @property {(route: import("./route.js").Route) => void} show
 * @property {(changed: {has: (name: string) => boolean}) => void} refresh is called with the names of what has changed
 * @property {(step: number) => void} move moves the focus among the rows
 * @property {HTMLElement} [search]
 */

/**
 * App is what the sections share.
 * @typedef {object} App
 * @property {import("./route.js").Route} route
 * @property {any} summary the summary of the world, as GET /_mock/live returns it
 * @property {ReturnType<typeof api>} api
 * @property {(to: Partial<import("./route.js").Route>) => string} link is the address of the route with other parts
 * @property {(to: Partial<import("./route.js").Route>) => void} go
 */

/**
 * The sections in the order of their keys, 1 to 6.
 * @type {{id: string, title: string, make: (app: App) => Section}[]}
 */
const sections = [
  { id: "journal", title: "Journal", make: journal },
  { id: "ledger", title: "Ledger", make: ledger },
  { id: "regulatory-requests", title: "Regulatory", make: regulatoryRequests },
  { id: "webhooks", title: "Webhooks", make: webhooks },
  { id: "faults", title: "Faults", make: faults },
  { id: "worlds", title: "Worlds", make: worlds },
];

const app = /** @type {App} */ ({
  route: parse(location.hash),
  link: (to) => format(change(app.route, to)),
  go: (to) => { location.hash = app.link(to); },
});

/** @type {Section} */
let section;
let shown = ""; // the section and the world that are shown
let world = "";
let stop = () => {};

const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const links = sections.map(({ title }, i) => h("a", { title: `${title} (${i + 1})` }, title));
const chooser = h("select", { "aria-label": "World", onchange: () => app.go({ world: chooser.value }) });
const now = h("span", { class: "now" });
const clock = actions(button("+1 min", () => advance("1m")), button("+1 h", () => advance("1h")));
const state = h("span", { class: "live", "data-state": "waiting" }, "Connecting");
const states = { live: "Live", waiting: "Reconnecting", gone: "Closed" };

async function advance(duration) {
  await attempt(() => app.api.post("clock/advance", { duration }),
    ({ fired }) => `${duration} later; ${fired.length ? `${fired.length} fired: ${fired[0].label}` : "nothing fired"}`);
}

function openWorld(name) {
  stop();
  app.api?.leave();
  world = name;
  app.summary = undefined;
  app.api = api(name);
  stop = live(() => api(name).get("live"), { change: receive, state: connection });
}

/** receive shows the time, and what has changed in the world. */
function receive(summary, changed) {
  app.summary = summary;
  put(now, time(summary.now, summary.now), summary.clock === "real" ? " UTC, real clock" : " UTC");
  clock.hidden = summary.clock === "real";
  if (changed.has("worlds")) chooseWorld();
  if (changed.size) section.refresh(changed);
}

function connection(name) {
  state.dataset.state = name;
  state.textContent = states[name];
  if (name !== "gone") return;
  // The next section removes messages, so this one comes after it.
  const message = `The world ${world} is closed.`;
  addEventListener("hashchange", () => notice(message, "bad"), { once: true });
  app.go({ section: "worlds", world: "home" });
}

async function chooseWorld() {
  const all = await attempt(() => api("home").get("worlds", { keys: "false", perPage: "1000" })) ?? [];
  const names = new Set([...all.map(({ name }) => name), app.route.world]);
  put(chooser, [...names].map((name) => h("option", { value: name }, name)));
  chooser.value = app.route.world;
}

/** show shows what the address has. */
function show() {
  app.route = parse(location.hash);
  const { route } = app;
  const chosen = sections.find(({ id }) => id === route.section);
  if (!chosen) return app.go({ section: "journal" });
  if (route.world !== world) openWorld(route.world);
  if (shown !== `${route.section} ${route.world}`) {
    shown = `${route.section} ${route.world}`;
    const first = section === undefined;
    section = chosen.make(app);
    put(byId("main"), section.node);
    forget();
    if (!first && document.activeElement === document.body) byId("main").focus();
    if (app.summary) section.refresh({ has: () => true });
  }
  document.title = `${chosen.title} · Shipping console`;
  sections.forEach(({ id }, i) => {
    links[i].href = app.link({ section: id, id: id === route.section ? "" : undefined });
    links[i].setAttribute("aria-current", id === route.section ? "page" : "false");
  });
  if (chooser.value !== route.world) chooseWorld();
  section.show(route);
}

/** @type {Record<string, () => void>} what keys do */
const keys = {
  "/": () => section.search?.focus(),
  j: () => section.move(1),
  k: () => section.move(-1),
  ...Object.fromEntries(sections.map(({ id }, i) => [i + 1, () => app.go({ section: id, id: "" })])),
};

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target instanceof HTMLElement ? event.target.closest("input, textarea, select") : null;
  if (event.key === "Escape") {
    if (field instanceof HTMLElement) field.blur();
    else if (app.route.id) app.go({ id: "" });
  } else if (!field && keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
}

put(byId("header"), h("a", { class: "brand", href: "#/journal" }, "Shipping console"),
  h("nav", { "aria-label": "Sections" }, links),
  h("label", { class: "world" }, h("span", null, "World"), chooser), now, clock, state,
  h("span", { class: "keys" }, "Keys: 1–6 sections, j k rows, / search, Esc close"));
addEventListener("hashchange", show);
addEventListener("keydown", press);
show();
