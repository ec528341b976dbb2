// Section 2: what the wallets hold, how they came to it, and whether it adds up.

import { badge } from "./badge.js";
import { chart } from "./chart.js";
import { h, put } from "./dom.js";
import { moment, money as amount, time } from "./format.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { json } from "./json.js";
import { fact, facts, lesson, part, split } from "./split.js";

const most = 500; // entries of a wallet

export function ledger(app) {
  let entries = []; // of the chosen wallet, newest first
  let wallets = [];
  let chosen = "";

  const cards = h("div", { class: "wallets", role: "group", "aria-label": "Wallets" });
  const sound = h("p", { class: "sound" });
  const figure = chart((entry) => app.go({ id: entry.id }));
  const rows = list({
    label: "Ledger entries, newest first", kind: "entries",
    heads: ["Time", "Kind", "What for", "Amount", "Balance"],
    key: (entry) => entry.id,
    href: (entry) => app.link({ id: entry.id }),
    row: (entry) => [
      h("time", { datetime: entry.at, title: moment(entry.at) }, time(entry.at, app.pulse?.now)),
      badge(entry.kind), `${entry.memo}${entry.reference && entry.reference !== entry.id ? " · " + entry.reference : ""}`,
      h("b", { class: entry.kind === "debit" ? "out" : "in" }, (entry.kind === "debit" ? "−" : "+") + amount(entry.amount)), amount(entry.balance),
    ],
  });
  const view = split({
    title: "Ledger", label: "The entry", tools: sound,
    content: [cards, figure.node, rows.node], closing: () => app.go({ id: "" }),
  });

  async function load() {
    const all = await attempt(() => app.api.get("ledger", { perPage: "1" }));
    if (!all) return;
    if (!all.wallets.some((one) => one.reference === chosen)) chosen = all.wallets[0]?.reference ?? "";
    const found = await attempt(() => app.api.get("ledger", { perPage: String(most), wallet: chosen }));
    if (!found) return;
    wallets = all.wallets;
    entries = found.entries;
    draw(found.problems);
  }

  function draw(problems) {
    put(cards, wallets.map((wallet) => h("button", {
      type: "button", class: "wallet", "aria-pressed": String(wallet.reference === chosen),
      onclick: () => { chosen = wallet.reference; app.go({ id: "" }); load(); },
    }, h("span", null, wallet.name), h("b", null, amount(wallet.balance, wallet.currency)), h("small", null, wallet.reference))));
    sound.className = problems ? "sound bad" : "sound good";
    sound.textContent = problems || "Every entry sums to zero and every balance follows from the entries.";
    const wallet = wallets.find((one) => one.reference === chosen);
    figure.draw(entries, wallet?.currency ?? "");
    rows.set(entries, () => lesson("This wallet has no entries yet.", undefined, "Purchasing the documents of a draft adds one; so does funding the wallet."));
    open(app.route.section === "ledger" ? app.route.id : "");
  }

  function open(id) {
    rows.mark(id);
    const entry = entries.find((one) => one.id === id);
    if (!entry) return view.close();
    figure.point(entry);
    view.open(id, h("h2", null, badge(entry.kind), " ", amount(entry.amount, entry.currency)),
      facts(fact("What for", entry.memo), fact("Transaction", entry.id), fact("Reference", entry.reference), fact("When", moment(entry.at)),
        fact("Balance afterwards", amount(entry.balance, entry.currency))),
      part("Both sides, which sum to zero", facts(entry.postings.map((posting) => fact(posting.account, amount(posting.amount, entry.currency))))),
      part("As the ledger has it", json(entry)));
  }

  return {
    node: view.node,
    move: rows.move,
    show: (route) => { rows.relink(entries); open(route.id); figure.resize(); },
    refresh: (changed) => { if (changed.has("ledger") || changed.has("world")) load(); },
  };
}
