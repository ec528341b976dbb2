// The worlds of the server, and of the present one: its key, time, snapshots, assumptions, special inputs and lint.

import { api } from "./api.js";
import { assumptions } from "./assumptions.js";
import { clockPanel } from "./clock.js";
import { h, put } from "./dom.js";
import { number } from "./format.js";
import { attempt } from "./notice.js";
import { lint } from "./lint.js";
import { newWorld } from "./newworld.js";
import { panel } from "./panel.js";
import { series } from "./series.js";
import { snapshots } from "./snapshots.js";
import { specialInputs } from "./specialinputs.js";
import { tabs } from "./tabs.js";
import { worldAccess } from "./worldaccess.js";

/** @param {import("./app.js").App} app */
export function worlds(app) {
  const home = api("home");
  const shown = h("div", { class: "page tiles", tabindex: "0", role: "group", "aria-label": "Contents" });
  const parts = tabs(app, "Parts of worlds", [["world", "World"], ["assumptions", "Assumptions"], ["special-inputs", "Special inputs"], ["lint", "Lint"]]);
  const node = h("div", { class: "section" }, h("div", { class: "bar" }, h("h1", null, "Worlds"), parts.node), shown);
  const clock = clockPanel(app);
  const kept = snapshots(app, home);
  const table = h("tbody");
  const open = h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Open worlds" },
    h("table", null, h("thead", null, h("tr", null, ["World", "Clock", "Snapshots", "Regulatory requests"].map((text, i) => h("th", { scope: "col", class: i === 3 && "figure" }, text)))), table));
  const linted = lint(app);
  const choices = assumptions(app);
  /** @type {Record<string, any>} */
  const contents = {
    world: [worldAccess(app, home), clock.node, kept.node, panel("Open worlds", open), newWorld(app, home)],
    assumptions: [choices.node],
    "special-inputs": [specialInputs(app)],
    lint: [linted.node],
  };
  let part = "";

  const load = series(async () => {
    const all = await attempt(() => home.get("worlds", { keys: "false", perPage: "10000" })) ?? [];
    kept.draw(all.find((/** @type {any} */ world) => world.name === app.route.world));
    put(table, all.map((/** @type {any} */ world) => h("tr", { class: world.name === app.route.world ? "here" : "" },
      h("th", { scope: "row" }, h("a", { href: app.link({ world: world.name, id: "" }) }, world.name)),
      h("td", null, world.clock), h("td", null, world.snapshots.join(", ") || "–"), h("td", { class: "figure" }, number(world.regulatory_requests)))));
  });

  return {
    node,
    search: choices.search,
    /** @param {import("./route.js").Route} route */
    show(route) {
      const chosen = parts.choose(route);
      if (chosen !== part) put(shown, contents[chosen]);
      part = chosen;
      load();
    },
    /** @param {Set<string>} changed */
    refresh(changed) {
      if (["now", "clock", "pending"].some((thing) => changed.has(thing))) clock.load();
      if (changed.has("worlds") || changed.has("regulatory_requests")) load();
      if (changed.has("assumptions")) choices.load();
      if (changed.has("journal_entries")) linted.load();
    },
  };
}
