// The changes of a world since it was opened, or since a snapshot.

import { badge } from "./badge.js";
import { choice, h, labelled } from "./dom.js";
import { money, moment } from "./format.js";
import { attempt } from "./notice.js";
import { part } from "./split.js";

/**
 * changes returns what a section shows of the changes since a snapshot, or since the start if since is empty.
 * @param {import("./app.js").App} app
 * @param {string} since
 * @param {(since: string) => void} choose
 */
export async function changes(app, since, choose) {
  const path = `worlds/${encodeURIComponent(app.route.world)}`;
  const [world, diff] = await Promise.all([
    attempt(() => app.api.get(path, { keys: "false" })), attempt(() => app.api.get(path + "/diff", since ? { since } : {})),
  ]);
  if (!world) return undefined;
  const picker = choice([["", "the world was opened or reset"], ...world.snapshots.map((/** @type {string} */ name) => [name, `snapshot ${name}`])], { onchange: () => choose(picker.value) });
  if (since && !world.snapshots.includes(since)) picker.append(h("option", { value: since }, since));
  picker.value = since;
  return [
    h("div", { class: "actions" }, labelled("Changes since", picker)),
    diff && h("p", { class: "note" }, diff.empty ? "Nothing has changed." : `From ${moment(diff.before)} to ${moment(diff.after)}, ${diff.elapsed} by the clock of the world.`),
    diff && tables(diff, app).map(({ title, heads, rows }) => rows.length > 0 && part(title, h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": title },
      h("table", null, h("thead", null, h("tr", null, heads.map((head, i) => h("th", { scope: "col", class: figure(rows[0][i]) }, head)))),
        h("tbody", null, rows.map((row) => h("tr", null, row.map((/** @type {any} */ cell) => h("td", { class: figure(cell) }, cell))))))))),
  ];
}

/** @param {any} cell */
const figure = (cell) => /^[+−]?\d/.test(cell) && "figure";

/**
 * tables are the kinds of changes.
 * @param {any} diff
 * @param {import("./app.js").App} app
 * @returns {{title: string, heads: string[], rows: any[][]}[]}
 */
function tables(diff, app) {
  const state = (/** @type {string} */ one) => (one ? badge(one) : "–");
  const link = (/** @type {string} */ section, /** @type {string} */ id, query = {}) => h("a", { href: app.link({ section, id, query }) }, id);
  const entry = (/** @type {any} */ one) => [link("ledger", one.id, { wallet: one.wallet }), one.memo, (one.kind === "debit" ? "−" : "+") + money(one.amount, one.currency)];
  const documents = (/** @type {any} */ one) => one.documents.map((/** @type {any} */ doc) => `${doc.document_type} ${[doc.before, doc.after].filter(Boolean).join(" → ")}`).join(", ");
  return [
    { title: "Wallets", heads: ["Wallet", "Before", "After"], rows: diff.wallets.map((/** @type {any} */ one) => [one.wallet, money(one.before, one.currency), money(one.after, one.currency)]) },
    { title: "Ledger entries", heads: ["Entry", "Memo", "Amount"], rows: diff.entries.map(entry) },
    { title: "Ledger entries that are gone", heads: ["Entry", "Memo", "Amount"], rows: diff.removed_entries.map(entry) },
    { title: "Regulatory requests", heads: ["Request", "Before", "After", "Documents"], rows: diff.requests.map((/** @type {any} */ one) => [link("regulatory-requests", one.request_id), state(one.before), state(one.after), documents(one)]) },
    { title: "Exchange rates", heads: ["Currency", "Before", "After"], rows: diff.exchange_rates.map((/** @type {any} */ one) => [one.currency, String(one.before ?? "–"), String(one.after ?? "–")]) },
    { title: "Webhooks", heads: ["Webhook", "Change"], rows: diff.webhooks.map(other) },
    { title: "Deliveries", heads: ["Delivery", "Change"], rows: diff.deliveries.map(other) },
    { title: "Rates", heads: ["Added", "Removed"], rows: diff.rates_added || diff.rates_removed ? [[String(diff.rates_added), String(diff.rates_removed)]] : [] },
  ];
}

/**
 * other shows a change by its id and the rest of its members.
 * @param {any} one
 */
function other(one) {
  const { webhook_id, delivery_id, ...rest } = one;
  return [delivery_id ?? webhook_id, Object.entries(rest).map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ")];
}
