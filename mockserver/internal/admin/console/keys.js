// The keys of the page, and the list of them.

import { button, h } from "./dom.js";
import { sections } from "./sections.js";

const help = [
  ["1 … 8", "Sections"],
  ["j  k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["Esc", "Close what is open"],
  ["/", "Search"],
  ["c", "Copy the request as curl"],
  ["g", "Copy the request as a Go test"],
  ["p", "Pause and resume"],
  ["n", "Wait for the next request"],
  ["w", "Choose a world"],
  ["t", "Light, dark, as the system"],
  ["?", "These keys"],
];

/**
 * @param {import("./app.js").App} app
 * @param {ReturnType<import("./shell.js").shell>} frame
 */
export function keys(app, frame) {
  const dialog = h("dialog", { class: "keys", "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Keys"),
    h("dl", null, help.map(([key, what]) => h("div", null,
      h("dt", null, key.split("  ").map((one) => h("kbd", null, one))), h("dd", null, what)))),
    button("Close", () => dialog.close()));
  document.body.append(dialog);
  frame.help = () => dialog.showModal();

  /** @type {Record<string, () => any>} */
  const acts = {
    "?": () => dialog.showModal(),
    "/": () => app.section.search?.focus(),
    j: () => app.section.move?.(1),
    k: () => app.section.move?.(-1),
    c: () => app.section.copy?.("curl"),
    g: () => app.section.copy?.("go"),
    p: () => app.section.pause?.(),
    n: () => app.section.wait?.(),
    w: () => document.getElementById("world")?.focus(),
    t: () => frame.shade.click(),
  };
  sections.forEach((section, i) => { acts[i + 1] = () => app.go({ section: section.id, id: "" }); });

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    const typing = event.target instanceof HTMLElement ? event.target.closest("input, textarea, select") : null;
    if (event.key === "Escape") {
      if (typing instanceof HTMLElement) typing.blur();
      else if (app.route.id && app.section.close) app.section.close();
      else if (app.route.id) app.go({ id: "", q: app.route.q });
      else return;
      event.preventDefault();
      return;
    }
    if (typing || !acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  });
}
