// The stubs of a world: routes of the service beside the specified ones, with their responses.

import { actions, badge, button, facts, h, note, part, status } from "./dom.js";
import { editor } from "./editor.js";
import { lesson, list } from "./list.js";
import { attempt } from "./notice.js";
import { body, count } from "./text.js";

const example = {
  method: "POST", pattern: "/v1/shipments", status: 201,
  body: '{"status":true,"message":"Created","data":{"shipment_id":"SH-1"}}',
};

/**
 * stubs returns the list of stubs for a tab.
 * @param {import("./app.js").App} app
 * @param {ReturnType<import("./list.js").split>} view
 */
export function stubs(app, view) {
  /** @type {any[]} */
  let all = [];
  const rows = list(app, {
    label: "Stubs",
    heads: ["Method", "Status", "Path", "Response", "Requests"],
    key: (one) => one.id,
    row: (one) => [
      one.method, one.status ? status(one.status) : badge("Go"), h("span", { class: "mono" }, one.pattern),
      one.status ? (one.body ?? "").slice(0, 200) : "a handler of a Go test", count(one.requests, "request"),
    ],
    empty: () => lesson("No stubs. A stub serves a route of the service that the specification does not have."),
  });

  function open(id) {
    rows.mark(id);
    const one = all.find((stub) => stub.id === id);
    if (id === "new") newStub();
    else if (one) detail(one);
    else view.close();
  }

  function detail({ id, operation, header, requests, ...one }) {
    const remove = () => attempt(() => app.api.remove("stubs", { operation }), "Stub removed");
    view.open(id, h("h2", { class: "mono" }, operation),
      actions(button("Remove", remove),
        h("a", { class: "button", href: app.link({ section: "journal", id: "", query: { q: operation } }) }, "Its requests")),
      facts([
        ["Requests", String(requests)],
        ["Key", one.open ? "none needed" : "of this world"],
        ["If the body has", one.match && JSON.stringify(one.match)],
        ["Request number", one.nth && String(one.nth)],
        ["Status", one.status && String(one.status)],
        ...Object.entries(header ?? {}).map(([name, value]) => /** @type {[string, any]} */ ([name, String(value)])),
      ]),
      one.status ? part("Body", body(one.body)) : note("A handler of a Go test responds."));
  }

  function newStub() {
    if (view.shows("new-stub")) return;
    const form = editor(app, {
      method: "POST", path: "stubs", value: example, action: "Add",
      done: () => {
        app.go({ id: "" });
        return "Stub added";
      },
    });
    view.open("new-stub", h("h2", null, "New stub"), form.node,
      note("The pattern is that of net/http.ServeMux. Fault rules strike it by method and pattern, as the operation ",
        h("code", null, "POST /v1/shipments"), "."));
  }

  return {
    rows,
    open,
    async load() {
      all = await attempt(() => app.api.get("stubs")) ?? all;
      const seen = new Set();
      for (const [i, one] of all.entries()) {
        one.id = seen.has(one.operation) ? `${one.operation} #${i + 1}` : one.operation;
        seen.add(one.operation);
      }
      rows.set(all);
    },
  };
}
