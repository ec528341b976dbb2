// The filters of the journal, as the address has them and as GET /_mock/journal takes them.

/**
 * @typedef {object} Filter
 * @property {string} name in the address and in the query
 * @property {string} label
 * @property {(known: any, entries: any[]) => string[]} values known has the operations and the kinds of faults
 */

/** @type {Filter[]} */
export const filters = [
  { name: "method", label: "Any method", values: () => ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
  { name: "operation", label: "Any operation", values: (known) => known?.operations ?? [] },
  { name: "status", label: "Any status", values: (_, entries) => ["2xx", "4xx", "5xx", ...[...new Set(entries.map((entry) => String(entry.status || "")))].filter(Boolean).sort()] },
  { name: "key", label: "Any key", values: (_, entries) => [...new Set(entries.map((entry) => entry.key ?? ""))].filter(Boolean).sort() },
  { name: "fault", label: "Any fault", values: (known) => (known?.kinds ?? []).map((/** @type {any} */ kind) => kind.kind) },
];

const names = ["outcome", ...filters.map(({ name }) => name)];

/**
 * filterValues returns the filters of an address, without those that select all.
 * @param {Record<string, string>} query
 * @returns {Record<string, string>}
 */
export function filterValues(query) {
  return Object.fromEntries(names.filter((name) => query[name]).map((name) => [name, query[name]]));
}

/**
 * otherFilters names the filters beside the text, with their values in an address.
 * @param {Record<string, string>} query
 */
export function otherFilters(query) {
  return [query.outcome || "any outcome", ...filters.map(({ name, label }) => (query[name] ? `${name} ${query[name]}` : label.toLowerCase()))].join(", ");
}

/**
 * serverQuery returns the query of GET /_mock/journal for an address.
 * @param {{q: string, query: Record<string, string>}} route
 */
export function serverQuery({ q, query }) {
  const { outcome, ...rest } = filterValues(query);
  const all = new URLSearchParams(rest);
  if (outcome) all.set(outcome, "true");
  if (/^req-\d+$/.test(q)) all.set("request_id", q);
  else if (q) all.set("contains", q);
  return all;
}
