// The editor of fault rules: several new ones, which are added together, or one that exists.

import { button, h, put } from "./dom.js";
import { faultRule } from "./faultrule.js";
import { attempt, copy } from "./notice.js";
import { part } from "./split.js";

/** @param {import("./app.js").App} app */
export function faultEditor(app) {
  let shown = "";

  return {
    /**
     * show opens the editor. Typed values stay until another rule is opened.
     * @param {ReturnType<typeof import("./split.js").split>} view
     * @param {string} id
     * @param {any} known what GET /_mock/faults returns
     * @param {any} [rule] one that exists
     * @param {any[]} begin new rules to begin with
     */
    show(view, id, known, rule, begin = []) {
      if (id === shown) return;
      shown = id;
      const rules = (rule ? [rule] : begin.length ? begin : [{}]).map((one) => faultRule(known, one));
      const forms = h("div", { class: "several" });
      const draw = () => put(forms, rules.map((one, i) => h("fieldset", null,
        h("legend", null, rule ? `Rule ${rule.number}` : `New rule${rules.length > 1 ? ` ${i + 1}` : ""}`), one.node,
        !rule && rules.length > 1 && h("div", { class: "actions" }, button("Remove from these", () => { rules.splice(i, 1); draw(); }, { class: "small" })))));
      const text = () => JSON.stringify(rule ? rules[0].value() : { rules: rules.map((one) => one.value()) });
      const save = async () => {
        if (rule) return attempt(() => app.api.json("PUT", `faults/${rule.number}`, text()), `Rule ${rule.number} replaced`).then((done) => done && leave());
        const added = await attempt(() => app.api.json("POST", "faults", text()), (all) => (all.length > 1 ? `${all.length} rules added` : "Rule added"));
        if (added) leave();
      };
      const leave = () => {
        shown = "";
        app.go({ id: "" });
      };
      draw();
      view.open(id, h("h2", null, rule ? `Edit rule ${rule.number}` : "New fault rules"),
        h("form", { class: "editor", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); save(); } }, forms,
          h("div", { class: "actions" },
            h("button", { type: "submit", class: "primary" }, rule ? "Save" : "Add"),
            !rule && button("Another rule with these", () => { rules.push(faultRule(known, {})); draw(); }),
            button("Copy as JSON", () => copy(text(), "JSON")))),
        part("Several rules", h("p", { class: "note" }, "Several rules can strike one request, in their order: a latency, then a dropped response. If two exclude each other, the first one strikes.")));
    },
    /** forget closes the editor, so that the next one begins anew. */
    forget() { shown = ""; },
  };
}
