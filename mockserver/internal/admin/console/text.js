// How times, amounts and JSON read.

import { h } from "./dom.js";
import { change, format as address, parse } from "./route.js";

/** @param {Intl.DateTimeFormatOptions} parts */
const format = (parts) => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" });
const clock = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = format({ day: "numeric", month: "short" });
const date = format({ day: "numeric", month: "short", year: "numeric" });

/** moment is a date and a time in UTC. */
export function moment(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : `${date.format(at)}, ${clock.format(at)} UTC`;
}

/**
 * time is an element with the time of day in UTC, preceded by the day if that is not the day of now.
 * @param {string} text
 * @param {string} [now]
 */
export function time(text, now = text) {
  const at = new Date(text);
  const today = day.format(at) === day.format(new Date(now));
  const short = today ? clock.format(at) : `${day.format(at)} ${clock.format(at).slice(0, 5)}`;
  return h("time", { datetime: text, title: moment(text) }, short);
}

/** between is the time from one moment to another: +1.4 s, +2 min. */
export function between(from, to) {
  const ms = new Date(to).getTime() - new Date(from).getTime();
  if (ms < 1000) return `+${ms} ms`;
  if (ms < 120_000) return `+${short(ms / 1000)} s`;
  if (ms < 7_200_000) return `+${short(ms / 60_000)} min`;
  return `+${short(ms / 3_600_000)} h`;
}

const short = (number) => number.toFixed(1).replace(/\.0$/, "");

/** count is a number with its noun. */
export function count(number, one, many = one + "s") {
  return `${number.toLocaleString("en-GB")} ${number === 1 ? one : many}`;
}

/**
 * money writes a decimal with groups and at least two decimals. It works on digits, so that no amount passes through
 * a number that cannot represent it.
 * @param {string | number | undefined} amount
 * @param {string} [currency]
 */
export function money(amount, currency) {
  const parts = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(amount));
  if (!parts) return "–";
  const [, minus, whole, fraction = ""] = parts;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${minus && "−"}${grouped}.${fraction.padEnd(2, "0")}${currency ? `\u00a0${currency}` : ""}`;
}

/**
 * body shows the body of a request or a response, indented if it is JSON. size is its length in bytes, if the text may
 * be truncated.
 * @param {string | undefined} text
 * @param {number} [size]
 */
export function body(text, size = 0) {
  if (!text) return h("p", { class: "note" }, "No body.");
  const shown = linked(/^\s*[{[]/.test(text) ? indent(text) : text);
  const node = h("pre", { class: "body", tabindex: "0", role: "group", "aria-label": "Body" }, shown);
  const kept = new TextEncoder().encode(text).length;
  return size > kept ? [node, h("p", { class: "note" }, `The journal keeps the first ${kept} of ${size} bytes.`)] : node;
}

/**
 * The place of a record by the prefix of its id.
 * @type {Record<string, (id: string) => Partial<import("./route.js").Route>>}
 */
const places = {
  RD: (id) => ({ section: "regulatory-requests", id }),
  SH: (id) => ({ section: "journal", id: "", query: { q: id } }),
  TR: (id) => ({ section: "ledger", id }),
  VA: (id) => ({ section: "ledger", id: "", query: { wallet: id } }),
  WA: (id) => ({ section: "webhooks", id, query: { show: "webhooks", q: id } }),
  req: (id) => ({ section: "journal", id }),
};

/** linked makes each id in a text a link to its record; that of a shipment leads to its requests in the journal. */
export function linked(text = "") {
  return text.split(/\b((?:RD|SH|TR|VA|WA)-[A-Z0-9]+|req-\d+)\b/).map((part, i) => (i % 2
    ? h("a", { href: address(change(parse(location.hash), places[part.split("-")[0]](part))) }, part) : part));
}

/** json shows a value. */
export const json = (value) => body(JSON.stringify(value));

const token = /"(?:[^"\\]|\\.)*"?|([{[])\s*([}\]])?|[}\]]|,|:|\s+/g;

/** indent indents JSON, also truncated JSON, and keeps each number and text as it is written. */
export function indent(text) {
  let depth = 0;
  const line = (step) => {
    depth = Math.max(0, depth + step);
    return "\n" + "  ".repeat(depth);
  };
  return text.replace(token, (all, open, close) => {
    if (open) return close ? open + close : open + line(+1);
    if (all === "}" || all === "]") return line(-1) + all;
    if (all === ",") return all + line(0);
    if (all === ":") return ": ";
    return all.trim() && all;
  });
}
