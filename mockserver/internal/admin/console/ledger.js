// The wallets: balances, entries, the check of the books, exchange rates and changes.

import { badge } from "./badge.js";
import { chart } from "./chart.js";
import { button, h, labelled, put } from "./dom.js";
import { moment, money as amount, time } from "./format.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { json } from "./json.js";
import { series } from "./series.js";
import { fact, facts, lesson, part, split } from "./split.js";

const page = 500; // entries that are loaded at once
const searchable = 12; // wallets, from which there is a search

/** @param {import("./app.js").App} app */
export function ledger(app) {
  /** @type {any[]} */
  let entries = []; // of the chosen wallet, newest first
  /** @type {any[]} */
  let wallets = [];
  let chosen = "";
  let pages = 1;
  let problems = "";

  const search = h("input", { type: "search", placeholder: "Search wallets", "aria-label": "Search wallets", oninput: () => cards(), hidden: true });
  const group = h("div", { class: "wallets", role: "group", "aria-label": "Wallets" });
  const sum = h("input", { type: "text", inputmode: "decimal", placeholder: "Amount", required: true, size: "12", "aria-label": "Amount" });
  const currency = h("span", { class: "note" });
  const fund = h("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); deposit(); } },
    sum, currency, h("button", { type: "submit" }, "Fund wallet"));
  const sound = h("p", { class: "sound" });
  const figure = chart((/** @type {any} */ entry) => go(entry.id));
  const rows = list({
    label: "Ledger entries, newest first", kind: "entries",
    heads: ["Time", "Kind", "Memo", "Amount", "Balance"],
    key: (entry) => entry.id,
    href: (entry) => app.link({ id: entry.id, query: { wallet: chosen } }),
    row: (entry) => [
      h("time", { datetime: entry.at, title: moment(entry.at) }, time(entry.at, app.summary?.now)),
      badge(entry.kind), [entry.memo, ![entry.id, ...entry.memo.split(" ")].includes(entry.reference) && entry.reference].filter(Boolean).join(" · "),
      h("b", { class: entry.kind === "debit" ? "out" : "in" }, (entry.kind === "debit" ? "−" : "+") + amount(entry.amount)), amount(entry.balance),
    ],
    more: () => {
      if (entries.length < pages * page) return;
      pages++;
      load();
    },
  });
  const view = split({
    title: "Ledger", label: "The entry",
    tools: [h("div", { class: "tools" }, search, fund, button("Exchange rates", () => go("exchange-rates"))), sound],
    content: [group, figure.node, rows.node], closing: () => go(""),
  });

  /** @param {string} id */
  const go = (id) => app.go({ id, query: chosen ? { wallet: chosen } : {} });

  const load = series(async () => {
    const all = await attempt(() => app.api.get("ledger", { perPage: "1" }));
    if (!all) return;
    wallets = all.wallets;
    problems = all.problems;
    const { id, query } = app.route;
    const has = (/** @type {string} */ reference) => wallets.some((one) => one.reference === reference);
    if (has(query.wallet)) chosen = query.wallet;
    else if (id.startsWith("TR-") && !entries.some((one) => one.id === id)) chosen = await walletOf(id) ?? chosen;
    if (!has(chosen)) chosen = wallets[0]?.reference ?? "";
    const found = chosen ? await attempt(() => app.api.get("ledger", { perPage: String(pages * page), wallet: chosen })) : { entries: [] };
    if (!found) return;
    entries = found.entries;
    draw();
  });

  /**
   * walletOf returns the wallet of a transaction, such as one that a regulatory request links to.
   * @param {string} id
   * @returns {Promise<string | undefined>}
   */
  async function walletOf(id) {
    const all = await attempt(() => app.api.get("ledger", { perPage: String(page) }));
    return all?.entries.find((/** @type {any} */ one) => one.id === id)?.wallet;
  }

  function cards() {
    const words = search.value.trim().toLowerCase();
    search.hidden = wallets.length < searchable;
    const shown = wallets.filter((one) => `${one.name} ${one.reference} ${one.currency}`.toLowerCase().includes(words));
    put(group, shown.map((wallet) => h("button", {
      type: "button", class: "wallet", "aria-pressed": String(wallet.reference === chosen),
      onclick: () => { pages = 1; app.go({ id: "", query: { wallet: wallet.reference } }); },
    }, h("span", null, wallet.name), h("b", null, amount(wallet.balance), " ", wallet.currency), h("small", null, wallet.reference))));
  }

  function draw() {
    cards();
    sound.className = problems ? "sound bad" : "sound good";
    sound.textContent = problems || "Every entry sums to zero and every balance follows from the entries.";
    const wallet = wallets.find((one) => one.reference === chosen);
    currency.textContent = wallet?.currency ?? "";
    fund.title = `Deposits into ${chosen}`;
    figure.draw(entries, wallet?.currency ?? "");
    rows.set(entries, () => lesson("This wallet has no entries yet.", undefined, "Purchasing the documents of a draft adds one; so does funding the wallet."));
    rows.relink();
    open(app.route.section === "ledger" ? app.route.id : "");
  }

  async function deposit() {
    const made = await attempt(() => app.api.post("ledger/fund", { wallet: chosen, amount: sum.value.trim() }),
      (funded) => `${funded.wallet} has ${amount(funded.balance, currency.textContent ?? "")}`);
    if (made) sum.value = "";
  }

  /** @param {string} id */
  function open(id) {
    rows.mark(id);
    if (id === "exchange-rates") return exchangeRates();
    const entry = entries.find((one) => one.id === id);
    if (!entry) return view.close();
    figure.point(entry);
    view.open(id, h("h2", null, badge(entry.kind), " ", amount(entry.amount, entry.currency)),
      facts(fact("Memo", entry.memo), fact("Transaction", entry.id), fact("Wallet", entry.wallet),
        fact("Reference", entry.reference?.startsWith("RD-") ? h("a", { href: app.link({ section: "regulatory-requests", id: entry.reference }) }, entry.reference) : entry.reference), fact("Time", moment(entry.at)),
        fact("Balance afterwards", amount(entry.balance, entry.currency))),
      part("Postings, which sum to zero", h("table", null, h("tbody", null, entry.postings.map((/** @type {any} */ posting) => h("tr", null,
        h("th", { scope: "row" }, posting.account), h("td", { class: "figure" }, amount(posting.amount, entry.currency))))))),
      part("Record", json(entry)));
  }

  async function exchangeRates() {
    const rates = await attempt(() => app.api.get("exchange-rates"));
    if (!rates || app.route.id !== "exchange-rates") return;
    const name = h("input", { type: "text", required: true, size: "6", maxlength: "3", list: "currencies", "aria-label": "Currency" });
    const units = h("input", { type: "text", inputmode: "decimal", required: true, size: "12", "aria-label": "Units per US dollar" });
    const set = async (/** @type {Event} */ event) => {
      event.preventDefault();
      const currency = name.value.trim().toUpperCase();
      if (await attempt(() => app.api.post("exchange-rates", { currency, per_dollar: units.value.trim() }), `A dollar buys ${units.value.trim()} ${currency} from now on`)) exchangeRates();
    };
    view.open("exchange-rates", h("h2", null, "Exchange rates"),
      h("form", { class: "actions", onsubmit: set }, labelled("Currency", name), labelled("Units per US dollar", units), h("button", { type: "submit", class: "primary" }, "Set rate")),
      h("p", { class: "note" }, "A rate applies to later analyses. Drafts keep their prices."),
      h("datalist", { id: "currencies" }, rates.map((/** @type {any} */ rate) => h("option", { value: rate.currency }))),
      h("table", null, h("thead", null, h("tr", null, h("th", { scope: "col" }, "Currency"), h("th", { scope: "col", class: "figure" }, "Units per US dollar"), h("th", { scope: "col" }, "Change"))),
        h("tbody", null, rates.map((/** @type {any} */ rate) => h("tr", null, h("th", { scope: "row" }, rate.currency), h("td", { class: "figure" }, String(rate.per_dollar)),
          h("td", null, button("Edit", () => { name.value = rate.currency; units.value = String(rate.per_dollar); units.focus(); units.select(); }, { class: "small", "aria-label": `Edit ${rate.currency}` })))))));
  }

  return {
    node: view.node,
    search,
    move: rows.move,
    close: () => go(""),
    show: (/** @type {import("./route.js").Route} */ route) => {
      const { wallet } = route.query;
      if (wallets.length && ((wallet && wallet !== chosen) || (route.id.startsWith("TR-") && !entries.some((one) => one.id === route.id)))) load();
      else open(route.id);
      figure.resize();
    },
    refresh: (/** @type {Set<string>} */ changed) => {
      if (changed.has("ledger") || changed.has("world")) load();
    },
  };
}
