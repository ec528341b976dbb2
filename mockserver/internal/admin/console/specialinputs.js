// Inputs of analyze with special effects, each with a button that analyzes it.

import { button, h, put } from "./dom.js";
import { capital } from "./format.js";
import { attempt, copy } from "./notice.js";
import { analyze } from "./regulatoryrequests.js";
import { panel } from "./panel.js";

/** @param {import("./app.js").App} app */
export function specialInputs(app) {
  const all = h("ul", { class: "plain special", "aria-label": "Special inputs" });
  const value = (/** @type {string} */ text) => h("span", { class: "actions" }, h("code", null, text), button("Copy", () => copy(text, text), { class: "small", "aria-label": `Copy ${text}` }));

  attempt(() => app.api.get("special-inputs")).then((inputs) => put(all, (inputs ?? []).map((/** @type {any} */ one) => h("li", null,
    h("div", null, h("b", null, capital(one.effect.replaceAll("-", " "))), h("small", null, one.description), h("div", { class: "values" }, value(one.shipment_id), value(one.file_url))),
    button("Analyze", () => analyze(app, JSON.stringify({ shipment_id: one.shipment_id })), { "aria-label": `Analyze ${one.shipment_id}` })))));
  return panel("Special inputs", h("p", { class: "note" }, "Analyze one of these shipments or invoices to cause its effect, in any world."), all);
}
