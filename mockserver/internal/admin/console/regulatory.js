// The regulatory requests of a world, from the draft to the documents.

import { operation, series } from "./api.js";
import { actions, badge, button, facts, h, part, put } from "./dom.js";
import { lesson, list, split } from "./list.js";
import { attempt } from "./notice.js";
import { between, count, json, moment, money, time } from "./text.js";

const page = 200; // requests that are loaded at once

/** @param {import("./app.js").App} app */
export function regulatoryRequests(app) {
  let pages = 1;
  const goods = h("select", { "aria-label": "Shipment or invoice" });
  const rows = list(app, {
    label: "Regulatory requests, newest first",
    heads: ["Changed", "State", "Request", "Documents", "Charged"],
    key: (row) => row.request_id,
    row: (row) => [
      time(row.updated_at, app.summary?.now), badge(row.status),
      h("span", { class: "mono" }, row.request_id, " from ", row.shipment_id || row.file_url),
      row.purchased ? `${row.generated} of ${count(row.purchased, "document")}` : `${count(row.offered, "document")} offered`,
      row.charged_amount !== undefined && money(row.charged_amount, row.currency),
    ],
    empty: () => lesson("No regulatory requests yet. Analyze a shipment or an invoice above."),
  });
  const view = split(app, {
    title: "Regulatory requests",
    tools: [goods, button("Analyze", () => analyze(), { class: "primary" })],
    content: rows.node,
  });
  const detail = requestDetail(app, view);

  /** stock lists what can be analyzed. */
  async function stock() {
    const world = await attempt(() => app.api.get(`worlds/${encodeURIComponent(app.route.world)}`, { keys: "false" }));
    const special = await attempt(() => app.api.get("special-inputs"));
    if (!world || !special) return;
    const option = (input, text) => h("option", { value: JSON.stringify(input) }, text);
    put(goods,
      h("optgroup", { label: "Shipments" }, world.shipments.map((one) => option({ shipment_id: one }, one))),
      h("optgroup", { label: "Invoices" }, world.invoices.map((url) => option({ file_url: url }, url))),
      h("optgroup", { label: "Special inputs" }, special.map((one) =>
        option({ shipment_id: one.shipment_id }, `${one.shipment_id}: ${one.description}`))));
  }

  const load = series(async () => {
    const found = await attempt(() => app.api.get("regulatory-requests", { perPage: String(pages * page) }));
    if (!found) return;
    rows.set(found, found.length < pages * page ? undefined : older);
  });

  function older() {
    pages++;
    load();
  }

  /** analyze analyzes what is chosen and opens the draft. */
  async function analyze() {
    if (!await ask(app, "regulatory.analyze", {}, goods.value)) return;
    const [newest] = await app.api.get("regulatory-requests", { perPage: "1" });
    app.go({ id: newest.request_id });
  }

  stock();
  return {
    node: view.node,
    move: rows.move,
    search: goods,
    show({ id }) {
      rows.mark(id);
      detail(id);
    },
    refresh(changed) {
      if (!changed.has("regulatory_requests")) return;
      load();
      if (app.route.id) detail(app.route.id);
    },
  };
}

/**
 * ask sends a request for an operation with the key of the world, and shows the message of the response. It returns
 * undefined if the request was refused.
 */
async function ask(app, name, values, text = "") {
  return attempt(async () => {
    const { method, path } = await operation(name, values);
    const made = await app.api.service(method, path, text);
    if (!made.response) throw new Error("The response was lost. The journal has the request.");
    const { message } = JSON.parse(made.text || "{}");
    if (!made.response.ok) throw new Error(message ?? `The request was refused with status ${made.response.status}: see ${made.id} in the journal.`);
    return message ?? "Sent";
  }, (message) => message);
}

/** requestDetail returns a function that shows a regulatory request by its id, and nothing without one. */
function requestDetail(app, view) {
  let wanted = "";
  let drawn = ""; // what is drawn, so that the selection stays until the request changes

  return async function show(id) {
    wanted = id;
    if (!id) return view.close();
    const found = await attempt(() => app.api.get(`regulatory-requests/${encodeURIComponent(id)}`));
    if (!found || wanted !== id) return;
    const look = JSON.stringify(found);
    if (look !== drawn || !view.shows(id)) draw(found.record, found.history);
    drawn = look;
  };

  function draw(record, history) {
    const failed = record.documents?.some((one) => one.status === "failed" && one.mode === "automated");
    const transaction = record.transaction_id
      && h("a", { href: app.link({ section: "ledger", id: record.transaction_id }) }, record.transaction_id);
    view.open(record.request_id,
      h("h2", null, badge(record.status), " ", h("span", { class: "mono" }, record.request_id)),
      record.failure_reason && h("p", { class: "reason" }, record.failure_reason),
      failed && actions(button("Retry failed", () => ask(app, "regulatory.retry", record, "{}"), { class: "primary" })),
      record.documents?.length ? part("Documents", documents(record)) : part("Documents on offer", offers(record)),
      part("History", timeline(history)),
      part(count(record.line_items.length, "item"), h("ul", null, record.line_items.map((item) => h("li", null, item.description,
        h("small", null, `${item.quantity} × ${money(item.unit_price, item.currency)} · HS ${item.hs_code || "none"} · from ${item.origin_country || "?"}`))))),
      facts([
        ["From", record.shipment_id || record.file_url], ["Wallet", record.wallet], ["Transaction", transaction],
        ["Charged", transaction && money(record.charged_amount, record.currency)], ["Created", moment(record.created_at)],
      ]),
      part("Record", json(record)));
  }

  /** offers lists what a draft offers; what needs no evidence is selected. */
  function offers(record) {
    const items = new Map(record.line_items.map((item) => [item.item_id, item.description]));
    const boxes = record.available_documents.map((one) =>
      h("input", { type: "checkbox", value: one.document_type, checked: one.mode === "automated" }));
    const reasons = (one) => one.reasons.map(({ rule, match, item_id: item }) =>
      `${rule.replaceAll("_", " ")} ${match}${item ? `: ${items.get(item) ?? item}` : ""}`);
    const purchase = () => {
      const types = boxes.filter((box) => box.checked).map((box) => box.value);
      return ask(app, "regulatory.purchase", record, JSON.stringify({ request_id: record.request_id, document_types: types }));
    };
    return [
      h("ul", null, record.available_documents.map((one, i) => h("li", null, h("label", { class: "tick" }, boxes[i],
        h("span", null, h("b", null, one.document_type), " ", money(one.amount, one.currency),
          one.mode !== "automated" && [" ", badge("needs evidence", "warn")],
          h("small", null, `${one.name}: ${[...new Set(reasons(one))].join("; ")}`)))))),
      boxes.length ? actions(button("Purchase selected", purchase, { class: "primary" })) : "This consignment needs no documents.",
    ];
  }

  /** documents lists what was purchased. */
  function documents(record) {
    const submit = (type) => attempt(() => app.api.post(`regulatory-requests/${record.request_id}/evidence/${type}`), "Evidence submitted");
    return h("ul", null, record.documents.map((one) => h("li", { class: "line" },
      h("div", null, h("b", null, one.document_type), " ", badge(one.status),
        h("small", null, `${one.name} · ${one.mode} · ${money(one.amount, one.currency)}`), one.failure && h("small", null, one.failure)),
      one.status === "generated"
        && button("PDF", () => download(record, one.document_type), { "aria-label": `PDF of ${one.document_type}`, title: "Downloads the PDF" }),
      one.status === "awaiting_evidence"
        && button("Submit evidence", () => submit(one.document_type), { "aria-label": `Submit evidence for ${one.document_type}` }))));
  }

  /** download saves the PDF of a document, which needs the key of the world. */
  async function download(record, type) {
    await attempt(async () => {
      const { method, path } = await operation("regulatory.pdf", { request_id: record.request_id, document_type: type });
      const { response } = await app.api.service(method, path);
      if (!response?.ok) throw new Error("There is no PDF. The journal has the request.");
      const href = URL.createObjectURL(await response.blob());
      h("a", { href, download: `${record.request_id}-${type}.pdf` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    });
  }

  function timeline(history) {
    return h("ol", { class: "timeline" }, history.map((step) => h("li", null,
      h("span", { class: "mono" }, step === history[0] ? moment(step.at) : between(history[0].at, step.at)), " ",
      badge(step.edited ? "edited" : step.status || step.document_status), " ",
      step.document_type, step.attempt > 1 && `, attempt ${step.attempt}`, step.failure && h("small", null, step.failure))));
  }
}
