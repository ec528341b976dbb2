// Two journal entries side by side: their differences are marked with ≠.

import { h } from "./dom.js";
import { moment } from "./format.js";
import { body } from "./json.js";
import { part } from "./split.js";

/**
 * comparison returns the parts that show two entries.
 * @param {any} left
 * @param {any} right
 */
export function comparison(left, right) {
  /** @type {[string, (entry: any) => string][]} */
  const rows = [
    ["Request", (e) => `${e.method} ${e.path}`], ["Query", (e) => e.query ?? ""], ["Operation", (e) => e.operation || "none"],
    ["Status", (e) => String(e.status ?? "dropped")], ["Reason", (e) => e.message ?? ""], ["Fault", (e) => e.fault ?? ""], ["Key", (e) => e.key ?? "none sent"],
    ["Content type", (e) => e.content_type ?? ""], ["Responded", (e) => moment(e.at)], ["Duration", (e) => e.duration],
  ];
  const cells = rows.map(([name, value]) => [name, value(left), value(right)]).filter(([, a, b]) => a || b);
  return [
    h("table", { class: "compared" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "≠"), h("th", { scope: "col" }, left.request_id), h("th", { scope: "col" }, right.request_id))),
      h("tbody", null, cells.map(([name, a, b]) => h("tr", { class: a === b ? "" : "differs" }, h("th", { scope: "row" }, a === b ? "" : "≠ ", name), h("td", null, a), h("td", null, b))))),
    part("Request bodies", bodies(left.request_body, right.request_body)),
    part("Response bodies", bodies(left.response_body, right.response_body)),
  ];
}

/**
 * @param {string} [left]
 * @param {string} [right]
 */
function bodies(left, right) {
  const [a, b] = [lines(left), lines(right)];
  if (!a.length && !b.length) return h("p", { class: "none" }, "No bodies.");
  return h("div", { class: "body", tabindex: "0", role: "group", "aria-label": "Bodies" }, h("table", { class: "lines" }, h("tbody", null,
    aligned(a, b).map(([one, other]) => h("tr", { class: one === other ? "" : "differs" }, h("td", null, one === other ? "" : "≠"), h("td", null, one), h("td", null, other))))));
}

/** @param {string} [text] */
const lines = (text) => (text ? (body(text, 0).textContent ?? "").split("\n") : []);

/**
 * aligned pairs the lines of two texts by their longest common subsequence. A line without a partner is beside "".
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[string, string][]}
 */
function aligned(a, b) {
  const common = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0)); // of the rest from i and j
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  }
  /** @type {[string, string][]} */
  const pairs = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) pairs.push([a[i++], b[j++]]);
    else {
      const [left, right] = [i, j];
      while (i < a.length && (j >= b.length || common[i + 1][j] >= common[i][j + 1]) && !(j < b.length && a[i] === b[j])) i++;
      while (j < b.length && (i >= a.length || common[i][j + 1] >= common[i + 1]?.[j]) && !(i < a.length && a[i] === b[j])) j++;
      for (let k = 0; k < Math.max(i - left, j - right); k++) pairs.push([left + k < i ? a[left + k] : "", right + k < j ? b[right + k] : ""]);
    }
  }
  return pairs;
}
