// Section 7: the worlds, their time, and how well the contract is covered.

import { api } from "./api.js";
import { badge } from "./badge.js";
import { button, choice, h, labelled, put } from "./dom.js";
import { between, count, moment, number, time } from "./format.js";
import { attempt } from "./notice.js";

export function worlds(app) {
  const home = api("home");
  const clock = h("div");
  const fired = h("ul", { class: "plain", "aria-label": "What fired" });
  const table = h("tbody");
  const found = h("ul", { class: "plain" });
  const seen = h("div", { class: "coverage" });
  const figure = h("input", { type: "number", min: "1", step: "1", value: "7", required: true });
  const figured = labelled("Number", figure);
  const scenario = choice([], { onchange: () => { figured.hidden = figure.disabled = !scenario.value.endsWith("N"); } });
  const name = h("input", { type: "text", placeholder: "ci42", required: true });
  const custom = h("input", { type: "text", value: "90s", "aria-label": "Time to move by" });
  const panel = (title, ...content) => h("section", { class: "part" }, h("h2", null, title), content);
  const node = h("div", { class: "section" },
    h("div", { class: "bar" }, h("h1", null, "Worlds")),
    h("div", { class: "page columns" },
      panel("Clock", clock, fired),
      panel("Open worlds",
        h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Open worlds" },
          h("table", null, h("thead", null, h("tr", null, ["World", "Time", "Regulatory requests", ""].map((text) => h("th", { scope: "col" }, text || h("span", { class: "unseen" }, "Actions"))))), table)),
        h("form", { class: "add", onsubmit: (event) => { event.preventDefault(); open(); } },
          labelled("Scenario", scenario), figured, labelled("Name", name), h("button", { type: "submit", class: "primary" }, "Open a world"))),
      panel("Lint", found),
      panel("Coverage", seen)));

  async function open() {
    const opened = await attempt(() => home.post("worlds", { scenario: scenario.value.replace(/N$/, figure.value), name: name.value }, { keys: "false" }), "The world is open");
    if (opened) app.go({ world: opened.name, id: "" });
  }

  async function advance(duration) {
    const moved = await attempt(() => app.api.post("clock/advance", { duration }), `The clock moved by ${duration}`);
    if (!moved) return;
    put(fired, h("li", null, h("h3", null, "Fired")), moved.fired.length ? moved.fired.map((one) => h("li", null, h("time", null, time(one.due, moved.now)), " ", one.label)) : h("li", null, "Nothing fired."));
  }

  async function tell() {
    const now = await attempt(() => app.api.get("clock"));
    if (!now) return;
    put(clock, h("p", { class: "big" }, h("time", { datetime: now.now }, moment(now.now))),
      now.clock === "virtual"
        ? h("div", { class: "actions" }, button("+1 min", () => advance("1m")), button("+1 h", () => advance("1h")), custom, button("Advance", () => advance(custom.value), { class: "primary" }))
        : h("p", { class: "note" }, "This world follows the real time. A virtual clock advances only on request: start the server with ", h("code", null, "serve -clock virtual"), " or open a world of the scenario ", h("code", null, "virtual"), "."),
      h("h3", null, now.pending.length ? "Pending" : "Nothing is pending"),
      h("ul", { class: "plain" }, now.pending.map((one) => h("li", null, h("time", null, between(now.now, one.due)), " ", one.label))));
  }

  async function show() {
    const all = await attempt(() => home.get("worlds", { keys: "false", perPage: "200" })) ?? [];
    put(table, all.map((world) => h("tr", { class: world.name === app.route.world ? "here" : "" },
      h("th", { scope: "row" }, h("a", { href: app.link({ world: world.name }) }, world.name)),
      h("td", null, badge(world.clock)), h("td", null, number(world.regulatory_requests)),
      h("td", { class: "actions" },
        act(world, "Fork", "fork", () => ({ name: `fork-${Date.now() % 100000}` })), act(world, "Reset", "reset"),
        act(world, "Snapshot", "snapshot", () => ({ snapshot: "console" })),
        world.snapshots.includes("console") && act(world, "Restore", "restore", () => ({ snapshot: "console" })),
        world.name !== "home" && button("Close", () => close(world.name), { class: "small", "aria-label": `Close ${world.name}` })))));
  }

  /** close closes a world; one that is shown is left first. */
  async function close(which) {
    if (which === app.route.world) {
      const left = new Promise((done) => { addEventListener("hashchange", done, { once: true }); });
      app.go({ world: "home", id: "" });
      await left;
    }
    await attempt(() => home.remove(`worlds/${which}`, { keys: "false" }), `Closed: ${which}`);
    show();
  }

  function act(world, text, what, data) {
    return button(text, () => attempt(() => home.post(`worlds/${world.name}/${what}`, data?.(), { keys: "false" }), `${text}: ${world.name}`).then(show),
      { class: "small", "aria-label": `${text} ${world.name}` });
  }

  async function judge() {
    const findings = await attempt(() => app.api.get("lint")) ?? [];
    put(found, findings.length ? findings.map((one) => h("li", null, badge(one.rule, "warn"), " ", h("b", null, one.operation), ` ${one.detail ?? ""}, ${count(one.times, "time")}, last as `,
      h("a", { href: app.link({ section: "journal", id: one.request_id }) }, one.request_id), h("small", null, one.advice))) : h("li", null, "Nothing so far."));
    const rows = await attempt(() => app.api.get("coverage")) ?? [];
    put(seen, Object.entries(Object.groupBy(rows, (row) => row.section)).map(([section, items]) => h("div", null,
      h("h3", null, `${section}: ${items.filter((item) => item.seen).length} of ${items.length}`),
      h("p", null, items.map((item) => [badge(`${item.item}${item.seen ? " " + number(item.seen) : ""}`, item.seen ? "good" : "calm"), " "])))));
  }

  home.get("scenarios").then((words) => {
    put(scenario, words.map((one) => h("option", { value: one.word }, `${one.word}: ${one.summary}`)));
    scenario.dispatchEvent(new Event("change"));
  }, () => {});
  return {
    node,
    show,
    refresh(changed) {
      if (["now", "clock", "pending", "regulatory_requests"].some((thing) => changed.has(thing))) tell();
      if (changed.has("worlds")) show();
      if (changed.has("journal_entries")) judge();
    },
  };
}
