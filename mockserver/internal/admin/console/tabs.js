// The parts of a section, of which one is shown at a time. The address has its name.

import { h } from "./dom.js";

/**
 * tabs makes links to the parts of a section. The first part is shown if the address has none.
 * @param {import("./app.js").App} app
 * @param {string} label
 * @param {[string, string][]} parts name and title
 */
export function tabs(app, label, parts) {
  const links = new Map(parts.map(([name, title]) => [name, h("a", null, title)]));
  const node = h("nav", { class: "tabs", "aria-label": label }, [...links.values()]);
  return {
    node,
    /**
     * choose marks the part of an address and returns its name.
     * @param {import("./route.js").Route} route
     */
    choose(route) {
      const chosen = links.has(route.query.show) ? route.query.show : parts[0][0];
      for (const [name, link] of links) {
        link.href = app.link({ id: "", query: name === parts[0][0] ? {} : { show: name } });
        if (name === chosen) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
      return chosen;
    },
  };
}
