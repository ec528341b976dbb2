// The page: one section at a time, of one world at a time, kept up to date by the stream of the world.

import { api } from "./api.js";
import { put } from "./dom.js";
import { keys } from "./keys.js";
import { live } from "./live.js";
import { notice } from "./notice.js";
import { format, parse } from "./route.js";
import { sections } from "./sections.js";
import { shell } from "./shell.js";

/**
 * Section is what a section shows. The keys of keys.js call its optional functions.
 * @typedef {object} Section
 * @property {HTMLElement} node
 * @property {(route: import("./route.js").Route) => void} show
 * @property {(changed: Set<string>) => void} refresh is called with the names of what has changed
 * @property {HTMLElement} [search]
 * @property {(step: number) => void} [move]
 * @property {(as: "curl" | "go") => void} [copy]
 * @property {() => void} [pause]
 * @property {() => void} [wait]
 * @property {() => void} [close] leads away from what is open
 */

/**
 * App is what the sections share.
 * @typedef {object} App
 * @property {import("./route.js").Route} route
 * @property {any} summary the summary of the world, as GET /_mock/live returns it
 * @property {ReturnType<typeof api>} api
 * @property {(to: Partial<import("./route.js").Route>) => void} go leads to link(to)
 * @property {(to: Partial<import("./route.js").Route>) => string} link keeps the section and the world if to has none
 * @property {Section} section
 */

const app = /** @type {App} */ ({
  route: parse(location.hash),
  go: (to) => { location.hash = app.link(to); },
  link: (to) => format({ section: app.route.section, world: app.route.world, ...to }),
});

const frame = shell(app);
/** @type {Map<string, Section>} */
let views = new Map();
/** @type {Map<string, Set<string>>} by section: what has changed since it was shown */
let stale = new Map();
let stop = () => {};
/** @type {string | undefined} */
let world;

/** @param {string} name */
function openWorld(name) {
  stop();
  app.api?.leave();
  world = name;
  views = new Map();
  stale = new Map();
  app.summary = undefined;
  app.api = api(name);
  stop = live(app.api.address("live"), { change: receive, state: connection });
}

/**
 * @param {any} summary
 * @param {Set<string>} changed
 */
function receive(summary, changed) {
  app.summary = summary;
  frame.update(summary, changed);
  for (const section of sections) stale.set(section.id, (stale.get(section.id) ?? new Set()).union(changed));
  refresh();
}

/** @param {import("./live.js").Connection} state */
function connection(state) {
  frame.state(state);
  if (state !== "gone") return;
  notice(`The world ${app.route.world} is closed.`, "bad");
  app.go({ section: "worlds", world: "home", id: "" });
}

/** refresh reports to the section that is shown what has changed since its last refresh. */
function refresh() {
  const changed = stale.get(app.route.section);
  if (!changed?.size) return;
  stale.set(app.route.section, new Set());
  app.section.refresh(changed);
}

function show() {
  const before = app.route;
  app.route = parse(location.hash);
  const about = sections.find((section) => section.id === app.route.section);
  if (!about) return app.go({ section: "journal", id: "" });
  if (app.route.world !== world) openWorld(app.route.world);
  let view = views.get(about.id);
  const entered = !view || before.section !== about.id || before.world !== app.route.world;
  if (!view) {
    view = /** @type {Section} */ (about.make(app));
    views.set(about.id, view);
  }
  app.section = view;
  if (entered || !frame.main.contains(view.node)) put(frame.main, view.node);
  document.title = `${about.title} · Shipping console`;
  frame.show(about);
  view.show(app.route);
  refresh();
}

keys(app, frame);
addEventListener("hashchange", show);
show();
