// Section 3: regulatory requests, from the draft to the documents.

import { badge } from "./badge.js";
import { button, choice, h, put } from "./dom.js";
import { money, moment, time } from "./format.js";
import { regulatoryRequestDetail } from "./regulatoryrequest.js";
import { operation } from "./api.js";
import { list } from "./list.js";
import { attempt } from "./notice.js";
import { lesson, split } from "./split.js";

export function regulatoryRequests(app) {
  let found = [];
  let example = "";
  const goods = choice([], { "aria-label": "Shipment or invoice" });
  const rows = list({
    label: "Regulatory requests, newest first", kind: "regulatory-requests",
    heads: ["Changed", "State", "Request", "From", "Documents", "Charged"],
    key: (row) => row.request_id,
    href: (row) => app.link({ id: row.request_id }),
    row: (row) => [
      h("time", { datetime: row.updated_at, title: moment(row.updated_at) }, time(row.updated_at, app.pulse?.now)),
      badge(row.status), h("span", { class: "mono" }, row.request_id), row.shipment_id || row.file_url,
      row.purchased ? `${row.generated} of ${row.purchased}` : `${row.offered} offered`,
      row.charged_amount === undefined ? "" : money(row.charged_amount, row.currency),
    ],
  });
  const view = split({
    title: "Regulatory requests", label: "The regulatory request",
    tools: h("div", { class: "tools" }, goods, button("Analyze", () => analyze(), { class: "primary" })),
    content: rows.node, closing: () => app.go({ id: "" }),
  });
  const detail = regulatoryRequestDetail(app, view);

  async function stock() {
    const all = await attempt(() => app.api.get("consignments"));
    if (!all) return;
    example = all.curl;
    put(goods,
      h("optgroup", { label: "Shipments" }, all.shipments.map((one) => h("option", { value: JSON.stringify({ shipment_id: one.shipment_id }) },
        `${one.shipment_id} ${one.origin}→${one.destination} ${one.items.join(", ")}`))),
      h("optgroup", { label: "Invoices" }, all.invoices.map((url) => h("option", { value: JSON.stringify({ file_url: url }) }, url))));
  }

  async function analyze() {
    if (!goods.value) return;
    const { method, path } = await operation("regulatory.analyze");
    const made = await attempt(() => app.api.send(method, path, goods.value), (m) => `Analyzed: ${m.status}`);
    const id = made && JSON.parse(made.body || "{}").data?.request_id;
    if (id) app.go({ id });
  }

  async function load() {
    found = await attempt(() => app.api.get("regulatory-requests", { perPage: "300" })) ?? found;
    rows.set(found, () => lesson("No regulatory requests yet. Analyze a shipment above, or:", example));
  }

  stock().then(load);
  return {
    node: view.node,
    move: rows.move,
    show(route) {
      rows.relink(found);
      rows.mark(route.id);
      detail(route.id);
    },
    refresh(changed) {
      if (!changed.has("regulatory_requests")) return;
      load();
      if (app.route.id) detail(app.route.id);
    },
  };
}
