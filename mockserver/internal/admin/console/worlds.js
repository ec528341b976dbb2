// The worlds of the server; of the present one its key, its clock, its contents and its assumptions.

import { api, series } from "./api.js";
import { actions, badge, button, facts, form, h, note, part, put } from "./dom.js";
import { editor } from "./editor.js";
import { list, split, tabs } from "./list.js";
import { attempt, copy } from "./notice.js";
import { between, count } from "./text.js";

const home = api("home"); // the routes of worlds name a world in their path
const scopes = { server: "It is set when the server starts, with -assume.", opening: "It is set when a world opens." };

/** @param {import("./app.js").App} app */
export function worlds(app) {
  /** @type {any[]} */
  let open = [];
  /** @type {any[]} */
  let assumptions = [];
  /** @type {Record<string, ReturnType<typeof list<any>>>} */
  const lists = {
    worlds: list(app, {
      label: "Open worlds", heads: ["World", "Clock", "Scenario", "Contents", "Pending timers"],
      key: ({ name }) => name,
      row: (one) => [one.name === app.route.world ? "shown here" : "", badge(one.clock), one.name,
        count(one.regulatory_requests, "regulatory request"), `${one.pending} pending`],
      empty: () => null,
    }),
    assumptions: list(app, {
      label: "Assumptions", heads: ["Kind", "", "Assumption", "Point that the specification leaves open", "Value"],
      key: ({ field }) => field,
      row: (one) => [one.kind, one.changed && badge("changed"), one.field, one.open, written(one.value)],
      empty: () => null,
    }),
  };
  const parts = tabs(app, [["worlds", "Worlds"], ["assumptions", "Assumptions"]]);
  const content = h("div", { class: "first" });
  const create = button("New world", () => app.go({ id: "new" }), { class: "primary" });
  const preset = (text, name) => button(text, () => attempt(() => app.api.patch("assumptions", { preset: name }), "The assumptions are changed"));
  const presets = actions(preset("Contrary: every other choice", "contrary"), preset("Defaults", "default"));
  const view = split(app, { title: "Worlds", tools: [parts.node, create, presets], content });
  const worldDetail = worldPanel(app, view);

  const load = series(async () => {
    open = await attempt(() => home.get("worlds", { keys: "false", perPage: "1000" })) ?? open;
    assumptions = await attempt(() => app.api.get("assumptions")) ?? assumptions;
    lists.worlds.set(open);
    lists.assumptions.set(assumptions);
    show(app.route);
  });

  function show({ id }) {
    const part = parts.chosen();
    parts.draw();
    if (lists[part].node.parentNode !== content) put(content, lists[part].node);
    create.hidden = part !== "worlds";
    presets.hidden = part !== "assumptions";
    lists[part].mark(id);
    const assumption = assumptions.find(({ field }) => field === id);
    const world = open.find(({ name }) => name === id);
    if (part === "worlds" && id === "new") newWorld(app, view);
    else if (part === "worlds" && world && id !== app.route.world) app.go({ world: id, id });
    else if (part === "worlds" && world) worldDetail();
    else if (part === "assumptions" && assumption) assumptionDetail(app, view, assumption);
    else view.close();
  }

  return {
    node: view.node,
    move: (step) => lists[parts.chosen()].move(step),
    show,
    refresh(changed) {
      if (["worlds", "regulatory_requests", "assumptions", "clock", "now", "pending"].some((name) => changed.has(name))) load();
    },
  };
}

/** worldPanel returns a function that shows the world of the page. */
function worldPanel(app, view) {
  const name = app.route.world;
  const path = `worlds/${encodeURIComponent(name)}`;
  const hidden = "sk_test_…";
  const shown = h("code", null, hidden);
  const fired = h("div", { role: "status" });
  const pending = h("ul");
  const duration = h("input", { type: "text", value: "90s", "aria-label": "Duration to advance by" });
  const copyName = h("input", { type: "text", placeholder: "Name of the copy", required: true, "aria-label": "Name of the copy" });

  // The key is fetched only to be copied or shown.
  const key = async () => (await attempt(() => home.get(path)))?.secret_key;
  async function copyKey(what, text) {
    const secret = await key();
    if (secret) await copy(text(secret), what);
  }
  async function toggle() {
    shown.textContent = shown.textContent === hidden ? await key() ?? hidden : hidden;
  }
  const env = (secret) => `export SHIPPING_BASE_URL='${location.origin}'\nexport SHIPPING_SECRET_KEY='${secret}'\n`;

  async function advance() {
    const moved = await attempt(() => app.api.post("clock/advance", { duration: duration.value }), `The clock was advanced by ${duration.value}`);
    if (moved) put(fired, h("p", null, count(moved.fired.length, "timer"), " fired"), h("ul", null, moved.fired.map(({ label }) => h("li", null, label))));
  }

  async function copyWorld() {
    const opened = await attempt(() => home.post(`${path}/fork`, { name: copyName.value }, { keys: "false" }), "The copy is open");
    if (opened) app.go({ world: opened.name, id: opened.name });
  }

  /** restore restores the initial contents, or those of another world. */
  const restore = (from) => attempt(() => home.post(`${path}/reset`, {}, { keys: "false" }),
    `Restored: ${name}, ${from ? `as ${from}` : "its initial contents"}`);

  /** close closes the world; the page leaves it first. */
  async function close() {
    /** @type {Promise<any>} */
    const left = new Promise((done) => { addEventListener("hashchange", done, { once: true }); });
    app.go({ section: "worlds", world: "home" });
    await left;
    await attempt(() => home.remove(path, { keys: "false" }), `Closed: ${name}`);
  }

  function draw(others) {
    const from = h("select", { "aria-label": "Contents of" }, others.map((one) => h("option", { value: one }, one)));
    const virtual = app.summary?.clock === "virtual";
    view.open(name, h("h2", null, name),
      facts([["Address", h("code", null, location.origin)], ["Secret key", shown]]),
      actions(button("Copy key", () => copyKey("Key", (secret) => secret)), button("Copy env", () => copyKey("Environment", env), { class: "primary" }),
        button("Show or hide the secret key", toggle)),
      part("Contents",
        actions(button("Restore initial contents", () => restore("")), name !== "home" && button("Close world", close)),
        form(copyWorld, actions(copyName, button("Copy", () => {}, { type: "submit" }))),
        others.length > 0 && form(() => restore(from.value), actions(from, button("Restore from this world", () => {}, { type: "submit" }))),
        note("A copy keeps what a world contains now. Restoring from it leaves the clock, the faults and the journal as they are.")),
      part("Clock", virtual ? form(advance, actions(duration, button("Advance", () => {}, { type: "submit" })))
        : note("This world follows the real time. For a virtual clock, start the server with ", h("code", null, "serve -clock virtual"),
          " or open a world of the scenario ", h("code", null, "virtual"), "."), fired, pending));
  }

  return async function show() {
    const [clock, all] = await Promise.all([attempt(() => app.api.get("clock")), attempt(() => home.get("worlds", { keys: "false", perPage: "1000" }))]);
    if (!clock || app.route.id !== name) return;
    if (!view.shows(name)) draw((all ?? []).map((one) => one.name).filter((one) => one !== name));
    put(pending, clock.pending.length === 0 && h("li", null, "Nothing is pending."),
      clock.pending.map((one) => h("li", null, h("span", { class: "mono" }, between(clock.now, one.due)), " ", one.label)));
  };
}

/** newWorld shows the form of a new world. */
async function newWorld(app, view) {
  if (view.shows("new")) return;
  const create = editor(app, {
    method: "POST", path: "worlds", value: { scenario: "lowfunds-virtual", name: "ci42", assumptions: { PerPageCap: 100 } }, submit: "Open a world",
    done: (opened) => {
      app.go({ world: opened.name, id: opened.name });
      return "The world is open";
    },
  });
  const terms = h("div");
  view.open("new", h("h2", null, "New world"), create.node,
    note("The scenario is one of these terms, or several joined with hyphens. The assumptions may be omitted; ", h("code", null, '"preset": "contrary"'),
      " makes every other choice."), terms);
  const scenarios = await attempt(() => home.get("scenarios"));
  put(terms, facts((scenarios ?? []).map(({ word, summary, max }) => [word, max ? `${summary}; N is at most ${max}` : summary])));
}

/** assumptionDetail shows an assumption with its control. */
function assumptionDetail(app, view, one) {
  const shown = `${one.field} ${JSON.stringify(one.value)} ${one.changed}`;
  if (view.shows(shown)) return;
  const set = (value) => attempt(() => app.api.patch("assumptions", { assumptions: { [one.field]: value } }), `${one.field} is changed`);
  const value = h("input", { type: "text", value: one.changed ? String(one.value) : "", placeholder: "default", "aria-label": one.field });
  const save = () => set(one.kind === "number" ? Number(value.value) : value.value);
  view.open(shown, h("h2", null, one.field, " ", one.changed && badge("changed")),
    facts([["Open point", one.open], ["Default", one.default], ["Basis", one.basis], ["Value", written(one.value)], ["Kind", one.kind]]),
    one.scope !== "world" ? note(scopes[one.scope])
      : form(save, actions(
        one.kind === "boolean" ? button(one.value ? "Turn off" : "Turn on", () => set(!one.value)) : [value, button("Set", () => {}, { type: "submit" })],
        button("Default", () => set(null), { disabled: !one.changed }))),
    note("A change applies to what happens from now on. A program that passes with ", h("code", null, "contrary"),
      " does not depend on the choices of this server."));
}

function written(value) {
  if (value === null) return "–";
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
}
