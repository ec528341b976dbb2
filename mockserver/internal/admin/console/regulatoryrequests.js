// The regulatory requests of a world, from the draft to the documents.

import { operation } from "./api.js";
import { badge } from "./badge.js";
import { button, choice, h, put } from "./dom.js";
import { money, moment, time } from "./format.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { regulatoryRequestDetail } from "./regulatoryrequest.js";
import { series } from "./series.js";
import { lesson, split } from "./split.js";

/** @param {import("./app.js").App} app */
export function regulatoryRequests(app) {
  /** @type {any[]} */
  let found = [];
  let example = "";
  const goods = choice([], { "aria-label": "Shipment or invoice" });
  const rows = list({
    label: "Regulatory requests, newest first", kind: "regulatory-requests",
    heads: ["Changed", "State", "Request", "From", "Documents", "Charged"],
    key: (row) => row.request_id,
    href: (row) => app.link({ id: row.request_id }),
    row: (row) => [
      h("time", { datetime: row.updated_at, title: moment(row.updated_at) }, time(row.updated_at, app.summary?.now)),
      badge(row.status), h("span", { class: "mono" }, row.request_id), row.shipment_id || row.file_url,
      row.purchased ? `${row.generated} of ${row.purchased}` : `${row.offered} offered`,
      row.charged_amount === undefined ? "" : money(row.charged_amount, row.currency),
    ],
  });
  const view = split({
    title: "Regulatory requests", label: "Regulatory request",
    tools: h("div", { class: "tools" }, goods, button("Analyze", () => analyze(app, goods.value), { class: "primary" })),
    content: rows.node, closing: () => app.go({ id: "" }),
  });
  const detail = regulatoryRequestDetail(app, view);

  async function stock() {
    const [all, special] = await Promise.all([attempt(() => app.api.get("consignments")), attempt(() => app.api.get("special-inputs"))]);
    if (!all || !special) return;
    example = all.curl;
    const option = (/** @type {any} */ input, /** @type {string} */ text) => h("option", { value: JSON.stringify(input) }, text);
    put(goods,
      h("optgroup", { label: "Shipments" }, all.shipments.map((/** @type {any} */ one) => option({ shipment_id: one.shipment_id }, `${one.shipment_id} ${one.origin}→${one.destination} ${one.items.join(", ")}`))),
      h("optgroup", { label: "Invoices" }, all.invoices.map((/** @type {string} */ url) => option({ file_url: url }, url))),
      h("optgroup", { label: "Special inputs" }, special.map((/** @type {any} */ one) => option({ shipment_id: one.shipment_id }, `${one.shipment_id}: ${one.description}`))));
  }

  const load = series(async () => {
    found = await attempt(() => app.api.get("regulatory-requests", { perPage: "10000" })) ?? found;
    rows.set(found, () => lesson("No regulatory requests yet. Analyze a shipment above, or:", example));
  });

  stock().then(load);
  return {
    node: view.node,
    move: rows.move,
    /** @param {import("./route.js").Route} route */
    show(route) {
      rows.relink();
      rows.mark(route.id);
      detail(route.id);
    },
    /** @param {Set<string>} changed */
    refresh(changed) {
      if (changed.has("regulatory_requests")) load();
      if (app.route.id && (changed.has("regulatory_requests") || changed.has("ledger"))) detail(app.route.id);
    },
  };
}

/**
 * analyze analyzes a shipment or an invoice and opens the draft.
 * @param {import("./app.js").App} app
 * @param {string} input {"shipment_id":"…"} or {"file_url":"…"}
 */
export async function analyze(app, input) {
  if (!input) return;
  const { method, path } = await operation("regulatory.analyze");
  const sent = await attempt(() => app.api.send(method, path, input), (m) => `Analyzed: ${m.status}`);
  const id = sent && JSON.parse(sent.body || "{}").data?.request_id;
  if (id) app.go({ section: "regulatory-requests", id });
}
