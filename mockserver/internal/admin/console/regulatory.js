// The regulatory requests of a world, from the draft to the documents.

import { operation, series } from "./api.js";
import { actions, badge, button, facts, h, note, part, put } from "./dom.js";
import { editor } from "./editor.js";
import { lesson, list, searchField, split } from "./list.js";
import { attempt } from "./notice.js";
import { operate } from "./send.js";
import { count, json, linked, moment, money, time } from "./text.js";

const page = 200; // requests that are loaded at once

const sample = { line_items: [{ description: "wrist watch", hs_code: "910211", quantity: 2 }], to: { country: "US" } };
/** @type {Record<string, any>} */
const examples = { shipment: sample, invoice: { file_url: "https://shop.example/invoices/7.pdf", ...sample } };

/** progress returns how many documents of a request were generated or, before the purchase, are offered. */
function progress({ documents, available_documents: offered }) {
  if (!documents) return `${count(offered.length, "document")} offered`;
  return `${documents.filter(({ status }) => status === "generated").length} of ${count(documents.length, "document")}`;
}

/** @param {import("./app.js").App} app */
export function regulatoryRequests(app) {
  let pages = 1;
  const search = searchField(app, "Id, wallet, URL or state");
  let loaded = ""; // the search of the rows
  const goods = h("select", { "aria-label": "Shipment or invoice" });
  const rows = list(app, {
    label: "Regulatory requests, newest first",
    heads: ["Created", "State", "Request", "Documents", "Charged"],
    key: (row) => row.request_id,
    row: (row) => [
      time(row.created_at, app.summary?.now), badge(row.status),
      h("span", { class: "mono" }, row.request_id, " from ", row.shipment_id || row.file_url),
      progress(row),
      row.charged_amount !== undefined && money(row.charged_amount, row.currency),
    ],
    empty: () => lesson(app.route.query.q ? "No request matches." : "No regulatory requests yet. Analyze a shipment or an invoice above."),
  });
  const view = split(app, {
    title: "Regulatory requests",
    tools: [search, goods, button("Analyze", () => analyze(), { class: "primary" }),
      button("New shipment", () => app.go({ id: "new-shipment" })), button("New invoice", () => app.go({ id: "new-invoice" }))],
    content: rows.node,
  });
  const detail = requestDetail(app, view);

  /** stock lists what can be analyzed. */
  async function stock() {
    const [world, index] = await Promise.all([attempt(() => app.api.details()), attempt(() => app.api.get("./"))]);
    if (!world || !index) return;
    const option = (input, text) => h("option", { value: JSON.stringify(input) }, text);
    const shipment = (id, text) => option({ shipment_id: id }, `${id} ${text}`);
    put(goods,
      h("optgroup", { label: "Shipments" }, world.consignments.map((one) =>
        shipment(one.shipment_id, `${one.origin}→${one.destination} ${one.items.join(", ")}`))),
      h("optgroup", { label: "Invoices" }, world.invoices.map((url) => option({ file_url: url }, url))),
      h("optgroup", { label: "Special inputs" }, index.special_inputs.map((one) =>
        shipment(one.shipment_id, one.description))));
  }

  /** query selects the newest requests of the search. */
  const query = (most) => ({ perPage: String(most), ...(app.route.query.q && { contains: app.route.query.q }) });

  const load = series(async () => {
    loaded = app.route.query.q ?? "";
    const found = await attempt(() => app.api.get("regulatory-requests", query(pages * page)));
    if (!found) return;
    rows.set(found, found.length < pages * page ? undefined : older);
  });

  function older() {
    pages++;
    load();
  }

  /** newGoods shows the form of a new shipment or invoice, which is then chosen. */
  function newGoods(id) {
    if (view.shows(id)) return;
    const kind = id.slice("new-".length);
    const create = editor(app, {
      method: "POST", path: `${kind}s`, value: examples[kind], action: "Add",
      done: (made) => {
        stock().then(() => { goods.value = JSON.stringify(made); });
        app.go({ id: "" });
        return `The ${kind} was added, and can be analyzed`;
      },
    });
    view.open(id, h("h2", null, `New ${kind}`), create.node,
      note("Each member has a default. The goods select the documents that an analysis offers, unless ", h("code", null, "documents"),
        " lists them."));
  }

  /** analyze analyzes what is chosen and opens the draft. */
  async function analyze() {
    if (!goods.value || !await operate(app, "regulatory.analyze", {}, JSON.parse(goods.value))) return;
    const [newest] = await app.api.get("regulatory-requests", { perPage: "1" });
    app.go({ id: newest.request_id });
  }

  stock().then(load);
  return {
    node: view.node,
    move: rows.move,
    search,
    show({ id, query: { q = "" } }) {
      if (document.activeElement !== search) search.value = q;
      if (q !== loaded) load();
      rows.mark(id);
      if (id.startsWith("new-")) newGoods(id);
      else detail(id);
    },
    refresh(changed) {
      if (!changed.has("regulatory_requests")) return;
      load();
      if (app.route.id && !app.route.id.startsWith("new-")) detail(app.route.id);
    },
  };
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
    if (look !== drawn || !view.shows(id)) draw(found);
    drawn = look;
  };

  function draw(record) {
    const failed = record.documents?.some((one) => one.status === "failed" && one.mode === "automated");
    const retry = () => operate(app, "regulatory.retry", record, {});
    view.open(record.request_id,
      h("h2", null, badge(record.status), " ", h("span", { class: "mono" }, record.request_id)),
      record.failure_reason && h("p", { class: "reason" }, record.failure_reason),
      failed && actions(button("Retry failed", retry, { class: "primary" })),
      record.documents?.length ? part("Documents", documents(record)) : part("Documents on offer", offers(record)),
      part(count(record.line_items.length, "item"), h("ul", null, record.line_items.map(lineItem))),
      facts([
        ["From", linked(record.shipment_id || record.file_url)],
        ["Requests", h("a", { href: app.link({ section: "journal", query: { q: record.request_id } }) }, "in the journal")],
        ["Wallet", linked(record.wallet)],
        ["Charged", record.transaction_id && money(record.charged_amount, record.currency)],
        ["Transaction", linked(record.transaction_id)],
        ["Created", moment(record.created_at)],
        ["Changed", moment(record.updated_at)],
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
      return operate(app, "regulatory.purchase", {}, { request_id: record.request_id, document_types: types });
    };
    return [
      h("ul", null, record.available_documents.map((one, i) => h("li", null, h("label", { class: "tick" }, boxes[i],
        h("span", null, h("b", null, one.document_type), " ", money(one.amount, one.currency),
          one.mode !== "automated" && [" ", badge("needs evidence", "warn")],
          h("small", null, `${one.name}: ${[...new Set(reasons(one))].join("; ")}`)))))),
      boxes.length > 0 ? [actions(button("Purchase selected", purchase, { class: "primary" })),
        note("A browser can repeat a request whose connection closes without a response: the journal has both.")]
        : h("p", null, "This consignment needs no documents."),
    ];
  }

  /** documents lists what was purchased. */
  function documents(record) {
    return h("ul", null, record.documents.map((one) => h("li", { class: "line" },
      h("div", null, h("b", null, one.document_type), " ", badge(one.status), one.attempts > 1 && ` in attempt ${one.attempts}`,
        h("small", null, `${one.name} · ${one.mode} · ${money(one.amount, one.currency)}`),
        one.failure && h("small", null, one.failure)),
      next(record.request_id, one))));
  }

  /** next is what can be done with a document. */
  function next(id, { document_type: type, status }) {
    const evidence = `regulatory-requests/${id}/evidence/${type}`;
    if (status === "generated") return button("PDF", () => download(id, type), { "aria-label": `PDF of ${type}` });
    if (status !== "awaiting_evidence") return null;
    return button("Submit evidence", () => attempt(() => app.api.post(evidence), "Evidence submitted"),
      { "aria-label": `Submit evidence for ${type}` });
  }

  /** download saves the PDF of a document, which needs the key of the world. */
  async function download(id, type) {
    await attempt(async () => {
      const { method, path } = await operation("regulatory.pdf", { request_id: id, document_type: type });
      const { response } = await app.api.service(method, path);
      if (!response?.ok) throw new Error("There is no PDF. The journal has the request.");
      const href = URL.createObjectURL(await response.blob());
      h("a", { href, download: `${id}-${type}.pdf` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    });
  }
}

function lineItem(item) {
  const price = money(item.unit_price, item.currency);
  const about = `${item.quantity} × ${price} · HS ${item.hs_code || "none"} · from ${item.origin_country || "?"}`;
  return h("li", null, item.description, h("small", null, about));
}
