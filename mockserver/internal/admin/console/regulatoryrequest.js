// One regulatory request: what happened to it, what it needs, what it purchased.

import { operation } from "./api.js";
import { badge } from "./badge.js";
import { button, h } from "./dom.js";
import { between, count, moment, money } from "./format.js";
import { json } from "./json.js";
import { attempt } from "./notice.js";
import { fact, facts, part } from "./split.js";

export function regulatoryRequestDetail(app, view) {
  let shown = "";

  async function show(id) {
    shown = id;
    if (!id) return view.close();
    const found = await attempt(() => app.api.get(`regulatory-requests/${encodeURIComponent(id)}`));
    if (!found || shown !== id) return;
    draw(found.record, found.history);
  }

  function draw(record, history) {
    const failed = record.documents?.some((doc) => doc.status === "failed" && doc.mode === "automated");
    view.open(record.request_id,
      h("h2", null, badge(record.status), " ", h("span", { class: "mono" }, record.request_id)),
      record.failure_reason && h("div", { class: "reason" }, h("p", { class: "what" }, record.failure_reason)),
      failed && h("div", { class: "actions" }, button("Retry failed", () => send("regulatory.retry", record, "{}"), { class: "primary" })),
      part("History", timeline(history)),
      record.documents?.length ? part("Documents", documents(record)) : part("Offered", offers(record)),
      part(count(record.line_items.length, "item"), h("ul", { class: "plain" }, record.line_items.map((item) => h("li", null,
        h("b", null, item.description), h("small", null, `${item.quantity} × ${money(item.unit_price, item.currency)} · HS ${item.hs_code || "none"} · from ${item.origin_country || "?"}`))))),
      facts(fact("From", record.shipment_id || record.file_url), fact("Wallet", record.wallet),
        fact("Charged", record.transaction_id && money(record.charged_amount, record.currency)),
        record.transaction_id && fact("Transaction", h("a", { href: app.link({ section: "ledger", id: record.transaction_id }) }, record.transaction_id)),
        fact("Created", moment(record.created_at))),
      part("The record", json(record)));
  }

  function timeline(history) {
    return h("ol", { class: "timeline" }, history.map((step) => h("li", { class: step.document_type ? "minor" : "" },
      h("time", { datetime: step.at, title: moment(step.at) }, step === history[0] ? moment(step.at) : between(history[0].at, step.at)),
      step.edited ? badge("edited") : badge(step.status || step.document_status),
      step.document_type && h("span", null, step.document_type, step.attempt > 1 && `, attempt ${step.attempt}`),
      step.failure && h("span", { class: "why" }, step.failure))));
  }

  // The service's own address of a PDF names no world, and a fork has the requests of its parent.
  const pdf = (record, doc) => app.api.address(["regulatory-requests", record.request_id, "documents", doc.document_type, "pdf"].map(encodeURIComponent).join("/"));

  function documents(record) {
    return h("ul", { class: "plain" }, record.documents.map((doc) => h("li", { class: "document" },
      h("div", null, h("b", null, doc.document_type), " ", badge(doc.status), h("small", null, `${doc.name} · ${doc.mode} · ${money(doc.amount, doc.currency)}`),
        doc.failure && h("small", { class: "why" }, doc.failure)),
      doc.status === "generated" && h("a", { class: "button", href: pdf(record, doc), target: "_blank", rel: "noopener" }, "PDF"),
      doc.status === "awaiting_evidence" && button("Submit evidence", () => attempt(
        () => app.api.post(`regulatory-requests/${record.request_id}/evidence/${doc.document_type}`), "Evidence submitted")))));
  }

  function offers(record) {
    if (!record.available_documents.length) return h("p", { class: "none" }, "This consignment needs no documents.");
    const boxes = record.available_documents.map((doc) => h("input", { type: "checkbox", checked: true, value: doc.document_type }));
    const items = new Map(record.line_items.map((item) => [item.item_id, item.description]));
    return [
      h("ul", { class: "plain" }, record.available_documents.map((doc, i) => h("li", null,
        h("label", { class: "offer" }, boxes[i], h("span", null, h("b", null, doc.document_type), " ", money(doc.amount, doc.currency),
          h("small", null, `${doc.name} · ${doc.mode}`),
          h("small", null, [...new Set(doc.reasons.map((why) => `${why.rule.replaceAll("_", " ")} ${why.match}${why.item_id ? ": " + (items.get(why.item_id) ?? why.item_id) : ""}`))].join("; ")))),
        profile(doc, record.profiles?.[doc.document_type])))),
      record.status === "draft" && h("div", { class: "actions" }, button("Purchase selected", () => send("regulatory.purchase", record,
        JSON.stringify({ request_id: record.request_id, document_types: boxes.filter((box) => box.checked).map((box) => box.value) })), { class: "primary" })),
    ];
  }

  function profile(doc, filled) {
    if (!doc.profile_fields?.length) return null;
    return h("details", null, h("summary", null, count(doc.profile_fields.length, "field")), facts(doc.profile_fields.map((field) =>
      fact(`${field.label}${field.required ? " *" : ""}`, filled?.[field.name] === undefined ? h("i", null, field.type) : String(filled[field.name])))));
  }

  async function send(name, record, text) {
    await attempt(async () => {
      const { method, path } = await operation(name, { request_id: record.request_id });
      const made = await app.api.send(method, path, text);
      if (made.error) throw new Error(made.error);
      const answer = JSON.parse(made.body);
      if (made.status >= 400) throw new Error(answer.message);
      return answer;
    }, (answer) => answer.message);
  }

  return show;
}
