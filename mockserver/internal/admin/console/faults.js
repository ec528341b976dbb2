// Section 6: what goes wrong on purpose.

import { badge } from "./badge.js";
import { button, h, put, turn } from "./dom.js";
import { count } from "./format.js";
import { faultForm } from "./faultform.js";
import { attempt } from "./notice.js";
import { lesson } from "./split.js";

const presets = [
  ["Every list fails once", { operation: "rates.list", first: 1, each_request: true, fault: { kind: "status", status: 503 } }],
  ["Too many requests", { first: 3, fault: { kind: "rate-limit", retry_after: "seconds", duration: "2s" } }],
  ["The response to a purchase is lost", { operation: "regulatory.purchase", first: 1, committed: true, fault: { kind: "drop" } }],
  ["Slow by half a second", { fault: { kind: "latency", duration: "500ms" } }],
  ["One in ten is cut off", { probability: 0.1, fault: { kind: "reset" } }],
  ["A document fails to generate", { point: "generation", first: 1 }],
];

export function faults(app) {
  const rules = h("ul", { class: "rules", "aria-label": "Fault rules" });
  const told = h("span", { class: "told" });
  const form = faultForm((rule) => add(rule));
  const node = h("div", { class: "section" },
    h("div", { class: "bar" }, h("h1", null, "Faults"), told, button("Remove all", () => attempt(() => app.api.remove("faults"), "No rules are left"))),
    h("div", { class: "page" },
      h("section", { class: "part" }, h("h2", null, "Presets"), h("div", { class: "presets" }, presets.map(([name, rule]) => button(name, () => add(rule))))),
      h("section", { class: "part" }, h("h2", null, "Rules, in the order in which they strike"), rules),
      h("section", { class: "part" }, h("h2", null, "Another rule"), form.node)));

  const add = (rule) => attempt(() => app.api.post("faults", { rules: [rule] }), "Rule added");

  async function load() {
    const all = await attempt(() => app.api.get("faults"));
    if (!all) return;
    form.know(all);
    told.textContent = count(all.rules.length, "rule");
    const effects = new Map(all.kinds.map((kind) => [kind.kind, kind.effect]));
    put(rules, all.rules.length ? all.rules.map((rule) => h("li", { class: rule.disabled ? "disabled" : "" },
      turn(`Rule ${rule.number} is enabled`, !rule.disabled, (on) => attempt(() => app.api.patch(`faults/${rule.number}`, { disabled: !on }))),
      h("span", null, h("b", null, `${rule.number}. ${effects.get(rule.fault?.kind) ?? "a document fails to generate"}`), h("small", null, when(rule)), h("small", { class: "mono" }, details(rule.fault))),
      h("span", { class: "counts" }, rule.struck ? badge(`struck ${rule.struck}`, "bad") : badge("struck 0"), h("small", null, `of ${rule.seen ?? 0} seen`)),
      button("Remove", () => attempt(() => app.api.remove(`faults/${rule.number}`), "Rule removed"), { class: "small", "aria-label": `Remove rule ${rule.number}` })))
      : h("li", { class: "empty" }, lesson("Nothing goes wrong. Take a preset above, or write a rule below.")));
  }

  return {
    node,
    show: () => {},
    refresh: (changed) => { if (changed.has("faults")) load(); },
  };
}

function when(rule) {
  const parts = [rule.operation ? `on ${rule.operation}` : rule.point === "generation" ? "" : "on every operation"];
  if (rule.nth) parts.push(`request ${rule.nth} only`);
  if (rule.first) parts.push(`the first ${rule.first}`);
  if (rule.each_request) parts.push("of each request");
  if (rule.probability) parts.push(`with a chance of ${rule.probability}`);
  if (rule.point) parts.push(`at ${rule.point}`);
  if (rule.committed) parts.push("after the change is made");
  return parts.filter(Boolean).join(", ");
}

function details(fault) {
  return Object.entries(fault ?? {}).filter(([name]) => name !== "kind")
    .map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · ");
}
