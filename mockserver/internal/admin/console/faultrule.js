// The form of one fault rule. The server lists what can be chosen, and what each kind of fault reads.

import { choice, h, labelled, put } from "./dom.js";
import { capital } from "./format.js";

/** Fields of a fault: how each is typed, and an example. @type {Record<string, {type: string, example?: string}>} */
const fields = {
  status: { type: "number", example: "503" }, bytes: { type: "number", example: "100" }, per_page: { type: "number", example: "10" }, rows: { type: "number", example: "3" },
  duration: { type: "text", example: "2s" }, content_type: { type: "text", example: "text/plain" }, location: { type: "text", example: "/elsewhere" },
  header: { type: "header" }, body: { type: "lines" }, body_base64: { type: "text" }, retry_after: { type: "choice" },
};

/**
 * faultRule makes the form of a rule, filled with one. value returns the rule as it is typed.
 * @param {any} known what GET /_mock/faults returns
 * @param {any} rule
 */
export function faultRule(known, rule) {
  const input = (/** @type {string} */ type, /** @type {any} */ value, attributes = {}) => h("input", { type, value: value ?? "", ...attributes });
  const check = (/** @type {boolean} */ on) => h("input", { type: "checkbox", checked: on });
  const select = (/** @type {any} */ options, /** @type {any} */ value) => {
    const made = choice(options);
    made.value = value ?? "";
    return made;
  };
  const name = input("text", rule.name, { placeholder: "Label in the list" });
  const operation = select([["", "every operation"], ...known.operations], rule.operation);
  const point = select([["", "none: before or after it"], ...known.points], rule.point);
  const nth = input("number", rule.nth, { min: "1", placeholder: "any" });
  const first = input("number", rule.first, { min: "1", placeholder: "all" });
  const each = check(rule.each_request);
  const probability = input("number", rule.probability, { min: "0", max: "1", step: "any", placeholder: "always" });
  const from = input("datetime-local", rule.from?.slice(0, 19), { step: "1" });
  const until = input("datetime-local", rule.until?.slice(0, 19), { step: "1" });
  const committed = check(rule.committed);
  const kind = select([], "");
  const needs = h("div", { class: "fields needs" });
  const effect = h("p", { class: "note" });
  /** @type {Map<string, HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>} */
  let inputs = new Map();

  point.addEventListener("change", choosePoint);
  kind.addEventListener("change", () => chooseKind({}));

  /** choosePoint offers the faults of a point: none at generation, and a dropped connection by default elsewhere. */
  function choosePoint() {
    const before = kind.value || rule.fault?.kind;
    const none = point.value === "generation" ? "a document fails to generate" : "drop, the default at a point";
    put(kind, [...(point.value ? [["", none]] : []), ...(point.value === "generation" ? [] : known.kinds.map((/** @type {any} */ one) => [one.kind, one.kind]))]
      .map(([value, text]) => h("option", { value }, text)));
    kind.value = [...kind.options].some((option) => option.value === before) ? before : kind.options[0].value;
    chooseKind(rule.fault?.kind === kind.value ? rule.fault : {});
  }

  /** @param {any} fault */
  function chooseKind(fault) {
    const about = known.kinds.find((/** @type {any} */ one) => one.kind === kind.value);
    effect.textContent = about ? `It ${about.effect}.` : "";
    inputs = new Map((about?.needs ?? []).map((/** @type {string} */ field) => [field, typed(field, fault[field])]));
    put(needs, [...inputs].map(([field, made]) => labelled(label(field), made)));
  }

  /**
   * @param {string} field
   * @param {any} value
   */
  function typed(field, value) {
    const { type, example } = fields[field] ?? { type: "text" };
    if (type === "choice") return select(known.retry_after_forms, value ?? "seconds");
    if (type === "header" || type === "lines") {
      const lines = h("textarea", { rows: "3", class: "mono", spellcheck: "false", placeholder: type === "header" ? "Retry-After: 7" : "" });
      lines.value = type === "header" ? written(value ?? {}) : value ?? "";
      return lines;
    }
    return input(type, value ?? (rule.fault?.kind === kind.value ? "" : example));
  }

  function value() {
    const made = /** @type {any} */ ({});
    const text = (/** @type {string} */ field, /** @type {string} */ as) => { if (as.trim()) made[field] = as.trim(); };
    const figure = (/** @type {string} */ field, /** @type {string} */ as) => { if (as) made[field] = Number(as); };
    text("name", name.value);
    text("operation", operation.value);
    figure("nth", nth.value);
    figure("first", first.value);
    if (each.checked) made.each_request = true;
    figure("probability", probability.value);
    if (from.value) made.from = utc(from.value);
    if (until.value) made.until = utc(until.value);
    if (committed.checked) made.committed = true;
    text("point", point.value);
    if (kind.value) made.fault = { kind: kind.value, ...faultFields() };
    return made;
  }

  function faultFields() {
    const made = /** @type {any} */ ({});
    for (const [field, { value: as }] of inputs) {
      if (!as) continue;
      const { type } = fields[field] ?? { type: "text" };
      made[field] = type === "number" ? Number(as) : type === "header" ? read(as) : as;
    }
    return made;
  }

  choosePoint();
  const node = h("div", { class: "rule" },
    h("div", { class: "fields" }, labelled("Name", name), labelled("Operation", operation), labelled("Fault", kind), needs, effect),
    h("div", { class: "fields" }, labelled("Only request number", nth), labelled("Only the first", first), labelled("Probability, 0 to 1", probability),
      labelled("From (UTC, clock of the world)", from), labelled("Until (UTC)", until), labelled("At a point of a purchase", point)),
    h("label", { class: "tick" }, each, "Count each different request separately"),
    h("label", { class: "tick" }, committed, "After the operation: its changes are made"));
  return { node, value };
}

/**
 * utc returns a time for the server; an input leaves out seconds that are zero.
 * @param {string} local
 */
const utc = (local) => `${local}${local.length === "2026-01-05T09:30".length ? ":00" : ""}Z`;

/** @param {string} field */
const label = (field) => (field === "header" ? "Header, a line each" : capital(field.replaceAll("_", " ")));

/**
 * written writes a header in lines.
 * @param {Record<string, string | string[]>} header
 */
export function written(header) {
  return Object.entries(header).flatMap(([name, values]) => (Array.isArray(values) ? values : [values]).map((value) => `${name}: ${value}`)).join("\n");
}

/**
 * read reads a header from lines.
 * @param {string} text
 */
function read(text) {
  /** @type {Record<string, string | string[]>} */
  const header = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const [name, ...rest] = line.split(":");
    const value = rest.join(":").trim();
    const before = header[name.trim()];
    header[name.trim()] = before === undefined ? value : [before, value].flat();
  }
  return header;
}
