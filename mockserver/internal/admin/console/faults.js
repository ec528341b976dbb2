// The fault rules of a world: what goes wrong on purpose, and how often it has.

import { badge } from "./badge.js";
import { button, h, put, turn } from "./dom.js";
import { capital, count } from "./format.js";
import { faultEditor } from "./faulteditor.js";
import { written } from "./faultrule.js";
import { attempt, copy } from "./notice.js";
import { series } from "./series.js";
import { lesson, split } from "./split.js";

/** Presets: rules that are added together. @type {any[][]} */
const presets = [
  [{ name: "Every page of rates fails once", operation: "rates.list", first: 1, each_request: true, fault: { kind: "status", status: 503 } }],
  [{ name: "Three requests are too many", first: 3, fault: { kind: "rate-limit", retry_after: "seconds", duration: "2s" } }],
  [{ name: "The response to a purchase is lost", operation: "regulatory.purchase", first: 1, committed: true, fault: { kind: "drop" } }],
  [{ name: "A purchase arrives 30 seconds after its connection has closed", operation: "regulatory.purchase", first: 1, fault: { kind: "arrive-late", duration: "30s" } }],
  [{ name: "Slow by half a second", fault: { kind: "latency", duration: "500ms" } }],
  [{ name: "One in ten connections is reset", probability: 0.1, fault: { kind: "reset" } }],
  [{ name: "A document fails to generate", point: "generation", first: 1 }],
  [{ name: "A purchase is slow", operation: "regulatory.purchase", first: 1, fault: { kind: "latency", duration: "2s" } },
    { name: "Then its response is lost", operation: "regulatory.purchase", first: 1, committed: true, fault: { kind: "drop" } }],
];

/** @param {import("./app.js").App} app */
export function faults(app) {
  /** @type {any} */
  let known; // what GET /_mock/faults returned
  /** @type {any[]} */
  let begin = []; // what the next new rules begin with
  /** @type {Map<number, ReturnType<typeof row>>} */
  const rows = new Map();
  const rules = h("ul", { class: "rules", "aria-label": "Fault rules" });
  const none = h("div", { class: "empty" }, lesson("No rules: nothing goes wrong. Take a preset above, or write a rule."));
  const summary = h("span", { class: "note", role: "status" });
  const clear = button("Remove all", () => attempt(() => app.api.remove("faults"), "No rules are left"));
  const all = button("Copy all as JSON", () => copy(JSON.stringify({ rules: known.rules.map(plain) }), "JSON"));
  const view = split({
    title: "Faults", label: "Fault rule",
    tools: [h("div", { class: "tools" }, button("New rule", () => { begin = []; edit("new"); }, { class: "primary" }), all, clear), summary],
    content: h("div", { class: "page" },
      h("section", { class: "part", "aria-label": "Presets" }, h("h2", null, "Presets"), h("div", { class: "presets" },
        presets.map((preset) => button(preset.map((rule) => rule.name).join(". "), () => attempt(() => app.api.post("faults", { rules: preset }), count(preset.length, "rule") + " added"))))),
      h("section", { class: "part", "aria-label": "Rules" }, h("h2", null, "Rules, in their order"), rules, none)),
    closing: () => app.go({ id: "" }),
  });
  const editor = faultEditor(app);

  /** @param {string} id of the editor */
  const edit = (id) => {
    editor.forget();
    if (app.route.id === id) open(id);
    else app.go({ id });
  };

  const load = series(async () => {
    known = await attempt(() => app.api.get("faults")) ?? known;
    if (!known) return;
    summary.textContent = count(known.rules.length, "rule");
    clear.disabled = all.disabled = known.rules.length === 0;
    none.hidden = known.rules.length > 0;
    const numbers = new Set(known.rules.map((/** @type {any} */ rule) => rule.number));
    for (const [number, { li }] of rows) {
      if (!numbers.has(number)) {
        li.remove();
        rows.delete(number);
      }
    }
    for (const rule of known.rules) {
      const made = rows.get(rule.number) ?? row(rule.number);
      rows.set(rule.number, made);
      made.draw(rule);
      if (!made.li.isConnected) rules.append(made.li);
    }
    open(app.route.id);
  });

  /**
   * row makes the row of a rule. Its elements stay the same while it counts, and so does the focus.
   * @param {number} number
   */
  function row(number) {
    const path = `faults/${number}`;
    const link = h("a", { href: app.link({ id: String(number) }) });
    const about = h("span", { class: "about" });
    const counts = h("span", { class: "counts" });
    const toggle = turn(`Rule ${number} is enabled`, true, (on) => attempt(() => app.api.patch(path, { disabled: !on })));
    const duplicate = button("Duplicate", () => { begin = [plain(known.rules.find((/** @type {any} */ rule) => rule.number === number))]; edit("new"); }, { class: "small", "aria-label": `Duplicate rule ${number}` });
    const remove = button("Remove", () => attempt(() => app.api.remove(path), "Rule removed"), { class: "small", "aria-label": `Remove rule ${number}` });
    const li = h("li", null, toggle, about, counts, h("span", { class: "actions" }, duplicate, remove));
    put(about, link);
    return {
      li, link,
      /** @param {any} rule */
      draw(rule) {
        const effect = known.kinds.find((/** @type {any} */ kind) => kind.kind === rule.fault?.kind)?.effect ?? "a document fails to generate";
        li.className = rule.disabled ? "disabled" : "";
        toggle.setAttribute("aria-checked", String(!rule.disabled));
        put(link, `${number}. ${rule.name || capital(effect)}`);
        put(about, link, rule.name && h("small", null, effect), h("small", null, when(rule)), h("small", { class: "mono" }, details(rule.fault)));
        put(counts, badge(`struck ${rule.struck ?? 0}`, rule.struck ? "bad" : "calm"), h("small", null, `of ${rule.seen ?? 0} seen`));
      },
    };
  }

  /** @param {string} id the number of a rule, or new */
  function open(id) {
    for (const [number, { link }] of rows) {
      if (String(number) === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    if (app.route.section !== "faults" || !known) return;
    const rule = known.rules.find((/** @type {any} */ one) => String(one.number) === id);
    if (id === "new") return editor.show(view, id, known, undefined, begin);
    if (rule) return editor.show(view, id, known, rule);
    editor.forget();
    view.close();
  }

  return {
    node: view.node,
    /** @param {number} step */
    move(step) {
      const links = [...rows.values()].map(({ link }) => link);
      const here = links.findIndex((link) => link === document.activeElement);
      links[Math.max(0, Math.min(links.length - 1, here < 0 ? 0 : here + step))]?.focus();
    },
    /** @param {import("./route.js").Route} route */
    show: (route) => open(route.id),
    /** @param {Set<string>} changed */
    refresh: (changed) => { if (changed.has("faults")) load(); },
  };
}

/**
 * plain returns a rule without its number and counts.
 * @param {any} rule
 */
function plain({ number, disabled, seen, struck, ...rule }) {
  return rule;
}

/** @param {any} rule */
function when(rule) {
  const parts = [rule.operation ? `on ${rule.operation}` : rule.point === "generation" ? "" : "on every operation"];
  if (rule.nth) parts.push(`request ${rule.nth} only`);
  if (rule.first) parts.push(rule.first === 1 ? "the first" : `the first ${rule.first}`);
  if (rule.each_request) parts.push("of each different request");
  if (rule.probability) parts.push(`with probability ${rule.probability}`);
  if (rule.from) parts.push(`from ${rule.from}`);
  if (rule.until) parts.push(`until ${rule.until}`);
  if (rule.point) parts.push(`at ${rule.point}`);
  if (rule.committed) parts.push("after its changes are made");
  return parts.filter(Boolean).join(", ");
}

/** @param {any} fault */
function details(fault) {
  return Object.entries(fault ?? {}).filter(([name]) => name !== "kind")
    .map(([name, value]) => `${name} ${name === "header" ? written(value).replaceAll("\n", ", ") : value}`).join(" · ");
}
