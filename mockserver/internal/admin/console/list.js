// A list of links that keys move through. Rows that stay the same stay the same elements, so that focus and
// scrolling survive what arrives meanwhile.

import { h, put } from "./dom.js";

/**
 * list shows items as rows. key names an item, row makes its cells, href says where it leads. shown is the
 * most rows that there ever are.
 */
export function list({ label, kind, key, row, href, heads, shown = 300 }) {
  const rows = new Map();
  const ol = h("ol", { class: `rows ${kind}`, "aria-label": label });
  const head = h("div", { class: `heads ${kind}`, "aria-hidden": "true" }, heads.map((text) => h("span", null, text)));
  const empty = h("div", { class: "empty" });
  const node = h("div", { class: "list" }, head, h("div", { class: "scroll" }, ol, empty));
  let current = "";

  function set(items, nothing) {
    const wanted = items.slice(0, shown);
    const keep = new Set(wanted.map(key));
    for (const [name, kept] of rows) {
      if (!keep.has(name)) {
        kept.li.remove();
        rows.delete(name);
      }
    }
    wanted.forEach((item, i) => {
      const li = make(item);
      if (ol.children[i] !== li) ol.insertBefore(li, ol.children[i] ?? null);
    });
    head.hidden = wanted.length === 0;
    put(empty, wanted.length === 0 ? nothing?.() : null);
    mark(current);
  }

  function make(item) {
    const name = key(item);
    const look = JSON.stringify(item);
    const kept = rows.get(name);
    if (kept?.look === look) return kept.li;
    const cells = row(item).map((cell) => h("span", null, cell));
    if (kept) {
      put(kept.a, cells);
      kept.look = look;
      return kept.li;
    }
    const a = h("a", { class: "row", href: href(item), tabindex: "-1" }, cells);
    const made = { look, a, li: h("li", null, a) };
    rows.set(name, made);
    return made.li;
  }

  /** mark shows which row is open. One row can be reached by Tab: that one, or the first. */
  function mark(name) {
    current = name;
    for (const [other, { a }] of rows) {
      if (other === name) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
      a.tabIndex = -1;
    }
    const reachable = rows.get(name)?.a ?? ol.querySelector("a");
    if (reachable) reachable.tabIndex = 0;
  }

  /** move puts the focus on the row so many rows further. */
  function move(step) {
    const all = [...ol.querySelectorAll("a")];
    if (all.length === 0) return;
    const here = all.indexOf(document.activeElement);
    const from = here >= 0 ? here : rows.has(current) ? all.indexOf(rows.get(current).a) : step > 0 ? -1 : all.length;
    const next = all[Math.max(0, Math.min(all.length - 1, from + step))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  /** relink makes the rows lead where href now says. */
  function relink(items) {
    for (const item of items) rows.get(key(item))?.a.setAttribute("href", href(item));
  }

  return { node, set, mark, move, relink, focused: () => [...rows].find(([, { a }]) => a === document.activeElement)?.[0] };
}
