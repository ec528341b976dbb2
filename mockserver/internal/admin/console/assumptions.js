// The assumptions of a world, with their switches.

import { badge } from "./badge.js";
import { button, h, put, turn } from "./dom.js";
import { count } from "./format.js";
import { attempt } from "./notice.js";
import { series } from "./series.js";

const scopes = { server: "set when the server starts, with -assume", opening: "set when a world opens", world: "" };

/** @param {import("./app.js").App} app */
export function assumptions(app) {
  /** @type {any[]} */
  let all = [];
  const search = h("input", { type: "search", placeholder: "Search assumptions", "aria-label": "Search assumptions", oninput: () => draw() });
  const changed = h("input", { type: "checkbox", onchange: () => draw() });
  const summary = h("span", { class: "note", role: "status" });
  const list = h("ul", { class: "assumptions", "aria-label": "Assumptions" });
  /** @type {Map<string, {li: HTMLElement, look: string}>} */
  const rows = new Map();
  const node = h("section", { class: "part", "aria-label": "Assumptions" },
    h("p", { class: "note" }, "Points that the specification leaves open, and what this world does about each. A change applies to what happens from now on, and Reset undoes it. A program that passes with ",
      h("code", null, "contrary"), ", or against ", h("code", null, "serve -assume contrary"), ", does not depend on the choices of this server."),
    h("div", { class: "actions" }, search, h("label", { class: "tick" }, changed, "Changed only"),
      button("Contrary: every other choice", () => change({ preset: "contrary" })), button("Defaults", () => change({ preset: "default" })), summary),
    list);

  /** @param {any} order */
  const change = (order) => attempt(() => app.api.patch("assumptions", order), "The assumptions are changed").then(load);

  const load = series(async () => {
    all = await attempt(() => app.api.get("assumptions")) ?? all;
    draw();
  });

  function draw() {
    const words = search.value.trim().toLowerCase();
    for (const one of all) {
      const look = JSON.stringify(one);
      const kept = rows.get(one.field);
      if (kept?.look === look && !kept.li.querySelector(":invalid")) continue;
      const made = row(one);
      if (kept) {
        const focused = kept.li.contains(document.activeElement);
        kept.li.replaceWith(made);
        if (focused) /** @type {HTMLElement | null} */ (made.querySelector("input, button"))?.focus();
      }
      rows.set(one.field, { li: made, look });
    }
    if (!list.firstChild) put(list, all.map((one) => rows.get(one.field)?.li));
    let shown = 0;
    for (const one of all) {
      const found = (!changed.checked || one.changed) && [one.field, one.open, one.default].some((text) => text.toLowerCase().includes(words));
      const kept = rows.get(one.field);
      if (kept) kept.li.hidden = !found;
      if (found) shown++;
    }
    summary.textContent = `${shown} of ${count(all.length, "assumption")}, ${all.filter((one) => one.changed).length} changed`;
  }

  /** @param {any} one */
  function row(one) {
    return h("li", null,
      h("div", null, h("b", null, one.field), one.changed && [" ", badge("changed", "busy")], h("small", null, one.open), h("small", null, `Default: ${one.default}. Basis: ${one.basis}.`)),
      h("div", { class: "control" }, one.scope === "world" ? control(one) : [h("b", null, written(one.value)), h("small", null, scopes[/** @type {keyof typeof scopes} */ (one.scope)])]));
  }

  /** @param {any} one */
  function control(one) {
    if (one.kind === "boolean") return turn(one.field, one.value, (on) => change({ assumptions: { [one.field]: on } }));
    const input = h("input", { type: one.kind === "number" ? "number" : "text", step: "any", value: one.changed ? one.value : "", placeholder: "default", "aria-label": one.field });
    const save = () => change({ assumptions: { [one.field]: input.value === "" ? null : one.kind === "number" ? Number(input.value) : input.value } });
    return h("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); save(); } }, input, h("button", { type: "submit", class: "small", "aria-label": `Set ${one.field}` }, "Set"));
  }

  load();
  return { node, search, load };
}

/** @param {any} value */
const written = (value) => (value === null ? "–" : Array.isArray(value) ? value.join(", ") || "none" : String(value));
