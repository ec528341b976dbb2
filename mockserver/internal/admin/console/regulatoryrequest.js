// One regulatory request: its history, the documents that it offers or has, and their PDFs beside the record.

import { operation } from "./api.js";
import { badge } from "./badge.js";
import { button, h } from "./dom.js";
import { between, count, moment, money } from "./format.js";
import { json } from "./json.js";
import { attempt } from "./notice.js";
import { offers } from "./offers.js";
import { fact, facts, part } from "./split.js";

/**
 * @param {import("./app.js").App} app
 * @param {ReturnType<typeof import("./split.js").split>} view
 */
export function regulatoryRequestDetail(app, view) {
  let shown = "";
  let drawn = ""; // what is drawn
  const draft = offers((record, types) => send("regulatory.purchase", record, JSON.stringify({ request_id: record.request_id, document_types: types })));

  /** @param {string} id */
  async function show(id) {
    if (id !== shown) drawn = "";
    shown = id;
    if (!id) return view.close();
    const found = await attempt(() => app.api.get(`regulatory-requests/${encodeURIComponent(id)}`));
    if (!found || shown !== id) return;
    const look = JSON.stringify([found, app.route.query.document]);
    if (look !== drawn) draw(found.record, found.history);
    drawn = look;
    if (found.record.status === "draft") fund(found.record.wallet);
  }

  /** @param {string} wallet */
  async function fund(wallet) {
    const ledger = await attempt(() => app.api.get("ledger", { wallet, perPage: "1" }));
    draft.fund(ledger?.wallets[0].balance);
  }

  /**
   * @param {any} record
   * @param {any[]} history
   */
  function draw(record, history) {
    const failed = record.documents?.some((/** @type {any} */ doc) => doc.status === "failed" && doc.mode === "automated");
    view.open(record.request_id,
      h("h2", null, badge(record.status), " ", h("span", { class: "mono" }, record.request_id)),
      record.failure_reason && h("div", { class: "reason" }, h("p", { class: "what" }, record.failure_reason)),
      failed && h("div", { class: "actions" }, button("Retry failed", () => send("regulatory.retry", record, "{}"), { class: "primary" })),
      record.documents?.length ? part("Documents", documents(record)) : part("Documents on offer", draft.draw(record)),
      part("History", timeline(history)),
      part(count(record.line_items.length, "item"), h("ul", { class: "plain" }, record.line_items.map((/** @type {any} */ item) => h("li", null,
        h("b", null, item.description), h("small", null, `${item.quantity} × ${money(item.unit_price, item.currency)} · HS ${item.hs_code || "none"} · from ${item.origin_country || "?"}`))))),
      facts(fact("From", record.shipment_id || record.file_url), fact("Wallet", record.wallet),
        fact("Charged", record.transaction_id && money(record.charged_amount, record.currency)),
        record.transaction_id && fact("Transaction", h("a", { href: app.link({ section: "ledger", id: record.transaction_id }) }, record.transaction_id)),
        fact("Created", moment(record.created_at))),
      part("Record", json(record)));
  }

  /** @param {any[]} history */
  function timeline(history) {
    return h("ol", { class: "timeline" }, history.map((step) => h("li", { class: step.document_type ? "minor" : "" },
      h("time", { datetime: step.at, title: moment(step.at) }, step === history[0] ? moment(step.at) : between(history[0].at, step.at)),
      step.edited ? badge("edited") : badge(step.status || step.document_status),
      step.document_type && h("span", null, step.document_type, step.attempt > 1 && `, attempt ${step.attempt}`),
      step.failure && h("span", { class: "why" }, step.failure))));
  }

  /**
   * pdf is the address of a PDF. That of the service names no world, and a fork has the requests of its parent.
   * @param {any} record
   * @param {string} type
   */
  const pdf = (record, type) => app.api.address(["regulatory-requests", record.request_id, "documents", type, "pdf"].map(encodeURIComponent).join("/"));

  /** @param {any} record */
  function documents(record) {
    const open = record.documents.find((/** @type {any} */ doc) => doc.document_type === app.route.query.document && doc.status === "generated")?.document_type;
    return [
      h("ul", { class: "plain" }, record.documents.map((/** @type {any} */ doc) => h("li", { class: "document" },
        h("div", null, h("b", null, doc.document_type), " ", badge(doc.status), h("small", null, `${doc.name} · ${doc.mode} · ${money(doc.amount, doc.currency)}`),
          doc.failure && h("small", { class: "why" }, doc.failure)),
        doc.status === "generated" && h("a", {
          class: "button", "aria-current": doc.document_type === open && "true", "aria-label": `${doc.document_type === open ? "Hide PDF" : "PDF"} of ${doc.document_type}`,
          href: app.link({ id: record.request_id, query: doc.document_type === open ? {} : { document: doc.document_type } }),
        }, doc.document_type === open ? "Hide PDF" : "PDF"),
        doc.status === "awaiting_evidence" && button("Submit evidence", () => attempt(
          () => app.api.post(`regulatory-requests/${record.request_id}/evidence/${doc.document_type}`), "Evidence submitted"), { "aria-label": `Submit evidence for ${doc.document_type}` })))),
      open && h("figure", { class: "pdf" },
        h("iframe", { src: pdf(record, open) + "#toolbar=0&navpanes=0&view=FitH", title: `PDF of ${open}` }),
        h("figcaption", null, h("a", { href: pdf(record, open), target: "_blank", rel: "noopener" }, `Open the PDF of ${open} in its own tab`))),
    ];
  }

  /**
   * @param {string} name of the operation
   * @param {any} record
   * @param {string} text the body
   */
  function send(name, record, text) {
    return attempt(async () => {
      const { method, path } = await operation(name, { request_id: record.request_id });
      const sent = await app.api.send(method, path, text);
      if (sent.error) throw new Error(sent.error);
      const body = JSON.parse(sent.body);
      if (sent.status >= 400) throw new Error(body.message);
      return body;
    }, (body) => body.message);
  }

  return show;
}
