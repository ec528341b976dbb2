// The layout of a section: a bar with its tools, a list of rows, and beside it the record or the form that is open.

import { button, h, put } from "./dom.js";

/**
 * @template T
 * @typedef {object} ListOptions
 * @property {string} label
 * @property {string[]} heads the names of the five columns
 * @property {(item: T) => string} key names an item
 * @property {(item: T) => any[]} row makes the five cells of an item: time, state, title, note and figure
 * @property {() => any} empty makes what an empty list shows
 */

/**
 * list shows items as links that keys can move through. While somebody points at the list or has scrolled it, its rows
 * stay in place: what is newer is counted on a button.
 * @template T
 * @param {import("./app.js").App} app
 * @param {ListOptions<T>} options
 */
export function list(app, { label, heads, key, row, empty }) {
  /** @type {Map<string, {look: string, li: HTMLElement, a: HTMLElement}>} */
  const rows = new Map();
  /** @type {T[]} */
  let items = [];
  let open = "";
  const ol = h("ol", { class: "rows", "aria-label": label });
  const head = h("div", { class: "heads", "aria-hidden": "true" }, heads.map((text) => h("span", null, text)));
  const newer = button("", () => top(), { class: "newer", hidden: true });
  const nothing = h("div", { class: "empty" });
  const more = h("div", { class: "more" });
  const scroll = h("div", { class: "scroll", onscroll: () => release() }, ol, nothing, more);
  const node = h("div", { class: "list", onpointerleave: () => release() }, head, newer, scroll);

  const links = () => [...rows.values()].map(({ a }) => a);
  const reading = () => scroll.scrollTop > 0 || node.matches(":hover");

  /**
   * set replaces the items, newest first.
   * @param {T[]} wanted
   * @param {() => void} [older] loads more of them, if there are more
   */
  function set(wanted, older) {
    items = wanted;
    put(more, older && button("Load older", older));
    draw();
  }

  function draw() {
    const first = rows.keys().next().value;
    const arrived = reading() ? Math.max(0, items.findIndex((item) => key(item) === first)) : 0;
    const shown = items.slice(arrived);
    newer.hidden = arrived === 0;
    newer.textContent = `${arrived} new`;
    head.hidden = items.length === 0;
    put(nothing, items.length === 0 && empty());
    const before = new Map(rows);
    rows.clear();
    for (const item of shown) rows.set(key(item), make(item, before.get(key(item))));
    for (const [name, { li }] of before) if (!rows.has(name)) li.remove();
    [...rows.values()].forEach(({ li }, i) => {
      if (ol.children[i] !== li) ol.insertBefore(li, ol.children[i] ?? null);
    });
    mark(open);
  }

  /** release shows what is newer if nobody reads the list any more. */
  function release() {
    if (!newer.hidden && !reading()) draw();
  }

  /** make returns the row of an item: the one from before, so that it keeps the focus. */
  function make(item, before) {
    const look = JSON.stringify(item);
    if (before?.look === look) return before;
    const a = before?.a ?? h("a", { class: "row" });
    put(a, row(item).map((cell) => h("span", null, cell)));
    return { look, a, li: before?.li ?? h("li", null, a) };
  }

  /** mark shows which row is open, and makes the rows lead to the addresses that they have now. */
  function mark(name) {
    open = name;
    for (const [id, { a }] of rows) {
      a.setAttribute("href", app.link({ id }));
      if (id === name) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
    }
    const all = links();
    const reachable = all.find((a) => a.matches(":focus, [aria-current]")) ?? all[0];
    for (const a of all) a.tabIndex = a === reachable ? 0 : -1; // Tab reaches one row; keys move among them
  }

  /** move puts the focus on the row that is so many rows further. */
  function move(step) {
    const all = links();
    const focused = all.findIndex((a) => a.matches(":focus"));
    const from = focused < 0 ? all.findIndex((a) => a.matches("[aria-current]")) : focused;
    all[from < 0 ? 0 : Math.max(0, Math.min(all.length - 1, from + step))]?.focus();
    mark(open);
  }

  /** top shows the first row, with what is newer. */
  function top() {
    scroll.scrollTop = 0;
    rows.clear();
    put(ol);
    draw();
  }

  return { node, set, mark, move, top };
}

/**
 * focus moves the focus to a node, which need not be a control, so that the keyboard goes on from there.
 * @param {any} node
 */
export function focus(node) {
  if (node.tabIndex < 0) node.tabIndex = -1;
  node.focus();
}

/**
 * split makes the frame of a section: its title, tools and list, and a place for what is open.
 * @param {import("./app.js").App} app
 * @param {{title: string, tools?: any, content: any}} options
 */
export function split(app, { title, tools, content }) {
  const heading = h("div", { class: "heading" });
  const inside = h("div", { class: "inside" });
  const close = button("×", () => app.go({ id: "" }), { class: "quiet", "aria-label": "Close", title: "Close (Esc)" });
  const detail = h("section", { class: "detail", "aria-label": "Details", hidden: true },
    h("div", { class: "bar" }, heading, close), inside);
  const top = h("div", { class: "bar" }, h("h1", null, title), tools);
  const node = h("div", { class: "section" }, top,
    h("div", { class: "split" }, h("div", { class: "first" }, content), detail));
  let shown = "";

  return {
    node,
    /** open shows something under its name. What is shown again keeps its scrolling. */
    open(name, head, ...body) {
      const pressed = top.contains(document.activeElement) && document.activeElement instanceof HTMLButtonElement;
      const lost = inside.contains(document.activeElement);
      put(heading, head);
      put(inside, body);
      detail.hidden = false;
      node.classList.add("opened");
      if (name !== shown) inside.scrollTop = 0;
      shown = name;
      if (pressed) focus(inside.querySelector("input, select, textarea") ?? heading);
      else if (lost) focus(heading);
    },
    close() {
      const lost = detail.contains(document.activeElement);
      shown = "";
      detail.hidden = true;
      node.classList.remove("opened");
      put(inside);
      if (lost) focus(node.querySelector(".row[tabindex='0']") ?? top);
    },
    /** shows reports whether something is open under a name. */
    shows: (name) => shown === name,
  };
}

/**
 * tabs makes links to the lists of a section. The first one is shown if the address has none.
 * @param {import("./app.js").App} app
 * @param {[string, string][]} parts name and title
 */
export function tabs(app, parts) {
  const links = parts.map(([, title]) => h("a", null, title));
  const node = h("nav", { class: "tabs", "aria-label": "Lists" }, links);
  const chosen = () => parts.find(([name]) => name === app.route.query.show)?.[0] ?? parts[0][0];
  const draw = () => parts.forEach(([name], i) => {
    links[i].href = app.link({ id: "", query: { show: i ? name : "" } });
    links[i].setAttribute("aria-current", String(name === chosen()));
  });
  return { node, chosen, draw };
}

/** searchField makes a field whose text becomes q in the address. */
export function searchField(app, label) {
  let timer = 0;
  const field = h("input", { type: "search", placeholder: label, "aria-label": label, value: app.route.query.q ?? "" });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => app.go({ query: { q: field.value.trim() } }), 200);
  });
  return field;
}

/** lesson is what an empty list shows: what it would contain, and a command that adds the first item. */
export function lesson(text, command = "") {
  const attributes = { class: "body", tabindex: "0", role: "group", "aria-label": "Command" };
  return [h("p", null, text), command && h("pre", attributes, command)];
}
