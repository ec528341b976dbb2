// The wallets: balances, entries, the check of the books, and exchange rates.

import { series } from "./api.js";
import { actions, badge, button, facts, form, h, note, part, put, submit } from "./dom.js";
import { editor } from "./editor.js";
import { lesson, list, searchField, split } from "./list.js";
import { attempt } from "./notice.js";
import { json, linked, moment, money, time } from "./text.js";

const page = 200; // entries that are loaded at once

/** @param {import("./app.js").App} app */
export function ledger(app) {
  /** @type {any[]} */
  let wallets = [];
  /** @type {any[]} */
  let entries = []; // of the chosen wallet, newest first
  let pages = 1;

  const group = h("div", { class: "wallets", role: "group", "aria-label": "Wallets" });
  const amount = h("input", { inputmode: "decimal", placeholder: "Amount", "aria-label": "Amount", size: "12" });
  const search = searchField(app, "Id, memo or kind");
  let loaded = ""; // the search of the entries
  const sound = h("span", { class: "note" });
  const sign = (entry) => (entry.kind === "debit" ? "−" : "+");
  const rows = list(app, {
    label: "Ledger entries, newest first",
    heads: ["Time", "Kind", "Memo", "Balance", "Amount"],
    key: (entry) => entry.id,
    row: (entry) => [
      time(entry.at, app.summary?.now), badge(entry.kind), entry.memo, `Balance ${money(entry.balance, entry.currency)}`,
      h("b", { class: entry.kind === "debit" ? "" : "income" }, sign(entry), money(entry.amount)),
    ],
    empty: () => lesson(app.route.query.q ? "No entry matches." : "This wallet has no entries. A purchase of documents adds one; so does a deposit."),
  });
  const view = split(app, {
    title: "Ledger",
    tools: [
      search,
      form(deposit, actions(amount, submit("Fund wallet"))),
      button("Exchange rates", () => app.go({ id: "exchange-rates" })), sound,
    ],
    content: [group, rows.node],
  });

  /** chosen returns the wallet of the address, or the first one. */
  const chosen = () => wallets.find(({ reference }) => reference === app.route.query.wallet) ?? wallets[0];

  const load = series(async () => {
    const all = await attempt(() => app.api.get("ledger", { perPage: "1" }));
    if (!all) return;
    wallets = all.wallets;
    sound.textContent = all.problems || "Every entry sums to zero and every balance follows from the entries.";
    sound.classList.toggle("struck", Boolean(all.problems));
    const wallet = await owner(app.route.id) ?? chosen()?.reference;
    if (wallet && wallet !== chosen()?.reference) return app.go({ query: { wallet } });
    const { q } = app.route.query;
    loaded = q ?? "";
    const found = wallet && await attempt(() => app.api.get("ledger", { perPage: String(pages * page), wallet, ...(q && { contains: q }) }));
    entries = found?.entries ?? [];
    draw();
  });

  /** owner returns the wallet of a transaction that is not among the entries. */
  async function owner(id) {
    if (!id.startsWith("TR-") || entries.some((entry) => entry.id === id)) return undefined;
    const all = await attempt(() => app.api.get("ledger", { perPage: "10000" }));
    return all?.entries.find((entry) => entry.id === id)?.wallet;
  }

  function older() {
    pages++;
    load();
  }

  function draw() {
    put(group, wallets.map((wallet) => {
      const href = app.link({ id: "", query: { wallet: wallet.reference } });
      return h("a", { class: "wallet", href, "aria-current": String(wallet === chosen()) },
        wallet.name, h("b", null, money(wallet.balance, wallet.currency)), h("small", null, wallet.reference));
    }));
    rows.set(entries, entries.length < pages * page ? undefined : older);
    open(app.route.id);
  }

  async function deposit() {
    const { reference: wallet, currency } = chosen();
    const sum = amount.value.trim();
    const done = await attempt(() => app.api.patch("ledger", { fund: [{ wallet, amount: sum }] }),
      `Deposited ${money(sum, currency)} into ${wallet}`);
    if (done) amount.value = "";
  }

  function open(id) {
    rows.mark(id);
    if (id === "exchange-rates") return exchangeRates();
    const entry = entries.find((one) => one.id === id);
    if (!entry) return view.close();
    view.open(id, h("h2", null, badge(entry.kind), " ", sign(entry), money(entry.amount, entry.currency)),
      facts([
        ["Memo", entry.memo],
        ["Transaction", entry.id],
        ["Wallet", linked(entry.wallet)],
        ["Reference", linked(entry.reference)],
        ["Time", moment(entry.at)],
        ["Balance afterwards", money(entry.balance, entry.currency)],
      ]),
      part("Postings, which sum to zero",
        facts(entry.postings.map((one) => [one.account, money(one.amount, entry.currency)]))),
      part("Record", json(entry)));
  }

  async function exchangeRates() {
    if (view.shows("exchange-rates")) return;
    const { exchange_rates: rates } = await attempt(() => app.api.get("ledger", { perPage: "1" })) ?? {};
    if (!rates || app.route.id !== "exchange-rates") return;
    const change = editor(app, {
      method: "PATCH", path: "ledger", value: { exchange_rates: { NGN: 1600 } }, action: "Set rates",
      done: () => {
        view.close();
        exchangeRates();
        return "The exchange rates are set";
      },
    });
    view.open("exchange-rates", h("h2", null, "Exchange rates"),
      part("Units per US dollar", facts(Object.entries(rates))),
      change.node, note("A rate applies to later analyses. Drafts keep their prices."));
  }

  return {
    node: view.node,
    move: rows.move,
    search,
    show({ id, query: { q = "" } }) {
      if (document.activeElement !== search) search.value = q;
      const stays = q === loaded && entries.length > 0 && entries[0].wallet === chosen().reference;
      if (stays && (!id.startsWith("TR-") || entries.some((entry) => entry.id === id))) return draw();
      pages = 1;
      load();
    },
    refresh(changed) {
      if (changed.has("ledger")) load();
    },
  };
}
