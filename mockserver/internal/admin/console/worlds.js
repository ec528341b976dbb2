// The worlds of the server; of the present one its key, its contents, its clock and its dialect.

import { api, root, series } from "./api.js";
import { actions, badge, button, facts, form, h, labelled, note, part, put, submit } from "./dom.js";
import { editor } from "./editor.js";
import { list, split, tabs } from "./list.js";
import { attempt, copy } from "./notice.js";
import { between, count, linked } from "./text.js";

const home = api("home"); // the routes of worlds name a world in their path
const newWorld = { scenario: "virtual", name: "ci42" };

/** @param {import("./app.js").App} app */
export function worlds(app) {
  /** @type {any[]} */
  let open = [];
  /** @type {any[]} */
  let fields = [];
  const lists = makeLists(app);
  const parts = tabs(app, [["worlds", "Worlds"], ["dialect", "Dialect"]]);
  const content = h("div", { class: "first" });
  const create = button("New world", () => app.go({ id: "new" }), { class: "primary" });
  const view = split(app, { title: "Worlds", tools: [parts.node, create], content });
  const worldDetail = worldPanel(app, view);

  const load = series(async () => {
    open = await attempt(openWorlds) ?? open;
    fields = await attempt(() => app.api.get("dialect")) ?? fields;
    lists.worlds.set(open);
    lists.dialect.set(fields);
    show(app.route);
  });

  function show({ id }) {
    const chosen = parts.chosen();
    parts.draw();
    if (lists[chosen].node.parentNode !== content) put(content, lists[chosen].node);
    create.hidden = chosen !== "worlds";
    lists[chosen].mark(id);
    const point = chosen === "dialect" && fields.find(({ field }) => field === id);
    const world = chosen === "worlds" && open.find(({ name }) => name === id);
    if (point) pointDetail(view, point);
    else if (world && id !== app.route.world) app.go({ world: id, id });
    else if (world) worldDetail();
    else if (id === "new") newForm(app, view);
    else view.close();
  }

  return {
    node: view.node,
    move: (step) => lists[parts.chosen()].move(step),
    show,
    refresh(changed) {
      if (["worlds", "regulatory_requests", "now", "pending"].some((name) => changed.has(name))) load();
    },
  };
}

const openWorlds = () => home.get("worlds", { keys: "false", perPage: "1000" });

/** @returns {Record<string, ReturnType<typeof list<any>>>} */
function makeLists(app) {
  return {
    worlds: list(app, {
      label: "Open worlds",
      heads: ["Shown", "Clock", "World", "Contents", "Pending timers"],
      key: ({ name }) => name,
      row: ({ name, clock, regulatory_requests: requests, pending }) => [
        name === app.route.world && "here", badge(clock), name,
        count(requests, "regulatory request"), `${pending} pending`,
      ],
      empty: () => null,
    }),
    dialect: list(app, {
      label: "Dialect",
      heads: ["Set", "Used by", "Field, and what the specification leaves open", "Value"],
      key: ({ field }) => field,
      row: (one) => [
        one.set && badge("set"), one.used, [h("span", { class: "mono" }, one.field), " ", one.open], one.value || one.default,
      ],
      empty: () => null,
    }),
  };
}

/** worldPanel returns a function that shows the world of the page. */
function worldPanel(app, view) {
  const name = app.route.world;
  const path = `worlds/${encodeURIComponent(name)}`;
  const fired = h("div", { role: "status" });
  const pending = h("ul");
  const goods = h("ul", { "aria-label": "Shipments and invoices" });
  const duration = h("input", { type: "text", value: "90s", "aria-label": "Duration to advance by" });

  async function advance() {
    const moved = await attempt(() => app.api.post("clock/advance", { duration: duration.value }),
      `The clock was advanced by ${duration.value}`);
    if (!moved) return;
    put(fired, h("p", null, count(moved.fired.length, "timer"), " fired"),
      h("ul", null, moved.fired.map(({ label }) => h("li", null, label))));
  }

  async function reset() {
    if (!confirm(`Reset ${name}? Its contents, faults, stubs, journal and inbox are lost for all who use it.`)) return;
    await attempt(() => home.post(`${path}/reset`, {}), `Reset: ${name} has its initial contents`);
  }

  /** close closes the world; the page leaves it first. */
  async function close() {
    if (!confirm(`Close ${name}? Its contents are lost for all who use it.`)) return;
    /** @type {Promise<any>} */
    const left = new Promise((done) => { addEventListener("hashchange", done, { once: true }); });
    app.go({ section: "worlds", world: "home" });
    await left;
    await attempt(() => home.remove(path), `Closed: ${name}`);
  }

  function clock() {
    if (app.summary?.clock === "virtual") return form(advance, actions(duration, submit("Advance")));
    return note("This world follows the real time. For a virtual clock, start the server with ",
      h("code", null, "serve -clock virtual"), " or open a world of the scenario ", h("code", null, "virtual"), ".");
  }

  function draw() {
    view.open(name, h("h2", null, name),
      access(path),
      part("Contents",
        actions(button("Reset", reset), name !== "home" && button("Close world", close)),
        note("A reset restores the initial contents, and clears the faults, the stubs, the journal and the inbox. The clock keeps ",
          "its time."), goods),
      part("Clock", clock(), fired, pending));
  }

  return async function show() {
    if (!view.shows(name)) draw();
    const time = await attempt(() => app.api.get(path, { keys: "false" }));
    if (!time) return;
    put(goods, time.consignments.map((one) =>
      h("li", null, linked(one.shipment_id), h("small", null, `${one.origin}→${one.destination} ${one.items.join(", ")}`))),
      time.invoices.map((url) => h("li", null, h("span", { class: "mono" }, url))));
    put(pending, time.timers.length === 0 && h("li", null, "Nothing is pending."), time.timers.map(({ due, label }) =>
      h("li", null, h("span", { class: "mono" }, between(time.now, due)), " ", label)));
  };
}

/** access shows the address and the key of a world, for programs. The key is fetched only to be copied or shown. */
function access(path) {
  const hidden = "sk_test_…";
  const shown = h("code", null, hidden);
  const key = async () => (await attempt(() => home.get(path)))?.secret_key;
  const env = (secret) => `export SHIPPING_BASE_URL='${root}'\nexport SHIPPING_SECRET_KEY='${secret}'\n`;

  async function copyKey(what, text) {
    const secret = await key();
    if (secret) await copy(text(secret), what);
  }

  async function toggle() {
    shown.textContent = shown.textContent === hidden ? await key() ?? hidden : hidden;
  }

  return [
    facts([["Address", h("code", null, root)], ["Secret key", shown]]),
    actions(
      button("Copy key", () => copyKey("Key", (secret) => secret)),
      button("Copy env", () => copyKey("Environment", env), { class: "primary" }),
      button("Show or hide the secret key", toggle)),
  ];
}

/** newForm shows the form of a new world. */
async function newForm(app, view) {
  if (view.shows("new")) return;
  const create = editor(app, {
    method: "POST", path: "worlds", value: newWorld, action: "Open a world",
    done: (opened) => {
      app.go({ world: opened.name, id: opened.name });
      return "The world is open";
    },
  });
  const terms = h("div");
  const scenario = h("select", { onchange: () => create.set({ ...newWorld, scenario: scenario.value }) });
  view.open("new", h("h2", null, "New world"), labelled("Scenario", scenario), create.node,
    note("The scenario is one of these terms, or several joined with hyphens. A member ",
      h("code", null, '"dialect": "contrary"'), " makes every other choice of the service."), terms);
  const index = await attempt(() => home.get("./"));
  const words = (index?.scenarios ?? []).map(({ word, max }) => (max ? word.replace(/N$/, String(Math.min(max, 50))) : word));
  put(scenario, ["virtual", ...words.filter((word) => word !== "virtual")].map((word) => h("option", { value: word }, word)));
  put(terms, facts((index?.scenarios ?? []).map(({ word, summary, max }) =>
    [word, max ? `${summary}; N is at most ${max.toLocaleString("en-GB")}` : summary])));
}

/** pointDetail shows an open point of the specification. */
function pointDetail(view, one) {
  const shown = `${one.field} ${one.value}`;
  if (view.shows(shown)) return;
  view.open(shown, h("h2", null, one.field, " ", one.set && badge("set")),
    facts([
      ["Open point", one.open],
      ["Default", one.default],
      ["Needed because", one.needed],
      ["Value", one.value || one.default],
      ["Used by", one.used],
      ["Observed by", one.observed],
    ]),
    note("It is set when a world opens. A program that passes with ", h("code", null, "contrary"), " does not depend on the choices of this server."));
}
