// The fault rules of a world: what goes wrong on purpose, and how often it has.

import { series } from "./api.js";
import { actions, badge, button, facts, h, labelled, note, part, put } from "./dom.js";
import { editor } from "./editor.js";
import { lesson, list, split, tabs } from "./list.js";
import { attempt } from "./notice.js";
import { stubs } from "./stubs.js";
import { count, json } from "./text.js";

const purchase = "regulatory.purchase";

/** Examples of rules, which are added together. */
const examples = [
  [{
    name: "Every page of rates fails once", operation: "rates.list", first: 1, each_request: true,
    fault: { kind: "status", status: 503 },
  }],
  [{ name: "Three requests are too many", first: 3, fault: { kind: "rate-limit", retry_after: "seconds", duration: "2s" } }],
  [{ name: "The response to a purchase is lost", operation: purchase, first: 1, committed: true, fault: { kind: "drop" } }],
  [{
    name: "A purchase arrives 30 seconds after its connection has closed", operation: purchase, first: 1,
    fault: { kind: "arrive-late", duration: "30s" },
  }],
  [{
    name: "A gateway responds with 504, and the service charges two minutes later", operation: purchase, first: 1,
    fault: { kind: "gateway-timeout", duration: "2m" },
  }],
  [{ name: "Slow by half a second", fault: { kind: "latency", duration: "500ms" } }],
  [{ name: "One in ten connections is reset", probability: 0.1, fault: { kind: "reset" } }],
  [{ name: "A document fails to generate", point: "generation", first: 1 }],
  [{ name: "Each notification comes twice", fault: { kind: "repeat-notification" } }],
  [
    { name: "A purchase is slow", operation: purchase, first: 1, fault: { kind: "latency", duration: "2s" } },
    { name: "Then its response is lost", operation: purchase, first: 1, committed: true, fault: { kind: "drop" } },
  ],
];

/** Values of the fields of faults. */
const fields = {
  status: 503, bytes: 100, per_page: 10, rows: 3, duration: "2s", content_type: "text/plain", location: "/elsewhere",
  header: { "X-Fault": "yes" }, body: "out of order", retry_after: "seconds",
};

/**
 * The fields of a rule, beside those that the server lists.
 * @type {[string, string][]}
 */
const ruleFields = [
  ["nth, first", "only request number nth, or only the first ones"],
  ["each_request", "counts each different request separately"],
  ["probability", "from 0 to 1, from the seed"],
  ["from, until", "times of the clock of the world, such as 2026-01-05T09:30:00Z"],
  ["committed", "strikes after the operation: its changes are made"],
  ["event", "only notifications of this event, such as shipment.updated"],
  ["name", "the label in the list"],
];

/** @param {import("./app.js").App} app */
export function faults(app) {
  /** @type {any} */
  let known; // what GET /_mock/faults returned
  const parts = tabs(app, [["rules", "Rules"], ["stubs", "Stubs"]]);
  const isStubs = () => parts.chosen() === "stubs";
  const remove = () => attempt(() => app.api.remove(isStubs() ? "stubs" : "faults"), "All are removed");
  const clear = button("Remove all", remove);
  const create = button("New rule", () => app.go({ id: "new" }), { class: "primary" });
  const content = h("div", { class: "first" });
  const rows = list(app, {
    label: "Fault rules",
    heads: ["Number", "Struck", "Rule", "When", "Requests"],
    key: (one) => String(one.number),
    row: (one) => [`Rule ${one.number}`, struck(one), one.name || effect(one), when(one), `${one.seen ?? 0} seen`],
    empty: () => lesson("No rules: nothing goes wrong. “New rule” has examples."),
  });
  const view = split(app, {
    title: "Faults",
    tools: [parts.node, create, clear],
    content,
  });
  const stubbed = stubs(app, view);

  /** effect is what a rule does. */
  function effect({ fault }) {
    return known.kinds.find(({ kind }) => kind === fault?.kind)?.effect ?? "a document fails to generate";
  }

  const load = series(async () => {
    known = await attempt(() => app.api.get("faults")) ?? known;
    await stubbed.load();
    if (!known) return;
    rows.set(known.rules);
    open(app.route.id);
  });

  /** @param {string} id the number of a rule; new, or new/3 for a form that begins with rule 3 */
  function open(id) {
    parts.draw();
    create.textContent = isStubs() ? "New stub" : "New rule";
    const shown = isStubs() ? stubbed.rows : rows;
    if (shown.node.parentNode !== content) put(content, shown.node);
    if (isStubs()) return stubbed.open(id);
    rows.mark(id);
    const one = known?.rules.find(({ number }) => String(number) === id);
    if (known && id.startsWith("new")) newRules(id);
    else if (one) detail(id, one);
    else view.close();
  }

  function detail(id, one) {
    view.open(id, h("h2", null, struck(one), ` Rule ${one.number}: ${one.name || effect(one)}`),
      actions(button("Remove", () => attempt(() => app.api.remove("faults", { number: one.number }), "Rule removed")),
        h("a", { class: "button", href: app.link({ id: `new/${one.number}` }) }, "New rule like this")),
      facts([
        ["Effect", effect(one)],
        ["When", when(one)],
        ["Requests seen", String(one.seen ?? 0)],
        ["Requests struck", String(one.struck ?? 0)],
      ]),
      part("Rule", json(plain(one))));
  }

  /** newRules shows the form of new rules. */
  function newRules(id) {
    if (view.shows(id)) return;
    const like = known.rules.find(({ number }) => id === `new/${number}`);
    const form = editor(app, {
      method: "POST", path: "faults", value: { rules: like ? [plain(like)] : examples[0] }, action: "Add",
      done: (all) => {
        app.go({ id: "" });
        return `${count(all.length, "rule")} added`;
      },
    });
    const kinds = known.kinds.map(exampleOf);
    const all = [...examples, ...kinds];
    const chooser = h("select", { onchange: () => form.set({ rules: all[Number(chooser.value)] }) });
    const title = (rules) => rules.map(({ name, fault }) => name ?? fault.kind).join(". ");
    const option = (rules) => h("option", { value: all.indexOf(rules) }, title(rules));
    put(chooser,
      h("optgroup", { label: "Examples" }, examples.map(option)),
      h("optgroup", { label: "Kinds of faults" }, kinds.map(option)));
    view.open(id, h("h2", null, "New fault rules"), labelled("Begin with", chooser), form.node,
      note("Several rules can strike one request, in their order. If two exclude each other, the first one strikes."),
      part("Fields of a rule",
        facts([["operation", known.operations.join(", ")], ["point", known.points.join(", ")], ...ruleFields])),
      part("Kinds of faults, and their fields",
        facts(known.kinds.map(({ kind, effect, needs }) => [kind, [effect, ...needs].join(" · ")]))),
      part("Values of retry_after", h("p", null, known.retry_after_forms.join(", "))));
  }

  return {
    node: view.node,
    move: (step) => (isStubs() ? stubbed.rows : rows).move(step),
    show: ({ id }) => open(id),
    refresh(changed) {
      if (changed.has("faults") || isStubs() && changed.has("journal_entries")) load();
    },
  };
}

const struck = (one) => badge(`struck ${one.struck ?? 0}`, one.struck ? "bad" : "calm");

/** exampleOf returns a rule with a kind of fault. */
function exampleOf({ kind, needs }) {
  const values = needs.filter((name) => name in fields).map((name) => [name, fields[name]]);
  return [{ first: 1, fault: { kind, ...Object.fromEntries(values) } }];
}

/** plain returns a rule without its number and counts. */
function plain({ number, seen, struck, ...one }) {
  return one;
}

/** when describes which requests a rule strikes. */
function when(one) {
  const { operation, point, fault, name, ...others } = plain(one);
  const every = fault?.kind.endsWith("-notification") ? "on every notification" : "on every operation";
  const on = operation ? `on ${operation}` : point !== "generation" && every;
  const rest = Object.entries(others).map(([field, value]) => {
    const words = field.replaceAll("_", " ");
    return value === true ? words : `${words} ${value}`;
  });
  return [on, point && `at ${point}`, ...rest].filter(Boolean).join(", ");
}
