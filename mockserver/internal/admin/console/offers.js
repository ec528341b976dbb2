// The documents that a draft offers, and the purchase of some: their total stands beside the balance of the wallet.

import { badge } from "./badge.js";
import { isNegative, minus, sum } from "./decimal.js";
import { button, h, put } from "./dom.js";
import { count, money } from "./format.js";
import { fact, facts } from "./split.js";

/**
 * offers keeps which documents are selected while a draft is drawn again.
 * @param {(record: any, types: string[]) => Promise<any>} purchase
 */
export function offers(purchase) {
  /** @type {any} */
  let record;
  /** @type {Set<string>} */
  let selected = new Set();
  let id = "";
  /** @type {string | number | undefined} */
  let balance;
  const bill = h("p", { class: "bill", role: "status" });
  const buy = button("Purchase selected", () => purchase(record, [...selected]), { class: "primary" });

  /** @param {any} draft */
  function draw(draft) {
    record = draft;
    const offered = draft.available_documents;
    if (draft.request_id !== id) selected = new Set(offered.filter((/** @type {any} */ doc) => doc.mode === "automated").map((/** @type {any} */ doc) => doc.document_type));
    id = draft.request_id;
    if (!offered.length) return h("p", { class: "none" }, "This consignment needs no documents.");
    const items = new Map(draft.line_items.map((/** @type {any} */ item) => [item.item_id, item.description]));
    total();
    return [
      h("ul", { class: "plain" }, offered.map((/** @type {any} */ doc) => h("li", null, offer(doc, items), profile(doc, draft.profiles?.[doc.document_type])))),
      draft.status === "draft" && h("div", { class: "actions" }, buy, bill),
    ];
  }

  /**
   * @param {any} doc
   * @param {Map<string, string>} items descriptions by item_id
   */
  function offer(doc, items) {
    const reasons = new Set(doc.reasons.map((/** @type {any} */ why) => `${why.rule.replaceAll("_", " ")} ${why.match}${why.item_id ? ": " + (items.get(why.item_id) ?? why.item_id) : ""}`));
    const box = h("input", {
      type: "checkbox", value: doc.document_type, checked: selected.has(doc.document_type), disabled: record.status !== "draft",
      onchange: () => {
        if (box.checked) selected.add(doc.document_type);
        else selected.delete(doc.document_type);
        total();
      },
    });
    return h("label", { class: "offer" }, box, h("span", null, h("b", null, doc.document_type), " ", money(doc.amount, doc.currency),
      doc.mode !== "automated" && [" ", badge("needs evidence", "warn")],
      h("small", null, `${doc.name} · ${doc.mode}`), h("small", null, [...reasons].join("; "))));
  }

  /** total shows what the selected documents cost, and what is left. */
  function total() {
    const chosen = record.available_documents.filter((/** @type {any} */ doc) => selected.has(doc.document_type));
    const cost = sum(chosen.map((/** @type {any} */ doc) => doc.amount));
    const left = balance === undefined ? "" : minus(balance, cost);
    buy.disabled = chosen.length === 0;
    put(bill, h("b", null, `${count(chosen.length, "document")}: ${money(cost, record.currency)}`),
      balance !== undefined && h("span", { class: isNegative(left) ? "short" : "" },
        `Balance ${money(balance, record.currency)}${isNegative(left) ? `, ${money(left.slice(1), record.currency)} too little` : ""}`));
  }

  return {
    draw,
    /** @param {string | number | undefined} now the balance of the wallet */
    fund(now) {
      balance = now;
      if (record) total();
    },
  };
}

/**
 * profile shows the fields of a document.
 * @param {any} doc
 * @param {any} filled
 */
function profile(doc, filled) {
  if (!doc.profile_fields?.length) return null;
  return h("details", null, h("summary", null, count(doc.profile_fields.length, "field")), facts(doc.profile_fields.map((/** @type {any} */ field) =>
    fact(`${field.label}${field.required ? " *" : ""}`, filled?.[field.name] === undefined ? h("i", null, field.type) : String(filled[field.name])))));
}
