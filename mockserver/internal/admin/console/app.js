// The page: one section at a time, of one world at a time, kept up to date by the world's own stream.

import { api } from "./api.js";
import { put } from "./dom.js";
import { keys } from "./keys.js";
import { live } from "./live.js";
import { notice } from "./notice.js";
import { format, parse } from "./route.js";
import { sections } from "./sections.js";
import { shell } from "./shell.js";

const app = {
  route: parse(location.hash),
  pulse: undefined,
  api: undefined,
  /** go leads somewhere else; what is not named stays as it is, but the id. */
  go: (to) => { location.hash = app.link(to); },
  link: (to) => format({ section: app.route.section, world: app.route.world, ...to }),
  section: undefined,
};

const frame = shell(app);
let views = new Map();
let stale = new Map(); // by section: what has changed since it was last shown
let stop = () => {};
let world;

function openWorld(name) {
  stop();
  app.api?.leave();
  world = name;
  views = new Map();
  stale = new Map();
  app.pulse = undefined;
  app.api = api(name);
  stop = live(app.api.address("live"), { pulse: hear, state: heard });
}

function hear(pulse, changed) {
  app.pulse = pulse;
  frame.pulse(pulse, changed);
  for (const section of sections) stale.set(section.id, (stale.get(section.id) ?? new Set()).union(changed));
  refresh();
}

function heard(state) {
  frame.state(state);
  if (state !== "gone") return;
  notice(`The world ${app.route.world} is closed.`, "bad");
  app.go({ section: "worlds", world: "home", id: "" });
}

/** refresh tells the section that is shown what has changed since it last heard. */
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
    view = about.make(app);
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
