// A list of links that keys move through. Only the rows that can be seen are elements, so that a list may be long. What
// arrives above the rows that somebody reads does not move them.

import { h, put } from "./dom.js";

const spare = 12; // rows above and below those that can be seen
const ahead = 100; // rows to the end, from which more are loaded

/**
 * @template T
 * @typedef {object} ListOptions
 * @property {string} label
 * @property {string} kind the class of its rows, which gives them their columns
 * @property {string[]} heads
 * @property {(item: T) => string} key names an item
 * @property {(item: T) => any[]} row makes the cells of an item
 * @property {(item: T) => string} href the address that a row leads to
 * @property {(count: number) => void} [above] is called with the number of rows that arrived above those in view
 * @property {() => void} [more] is called when the end is near
 */

/**
 * list shows items as rows of equal height.
 * @template T
 * @param {ListOptions<T>} options
 */
export function list({ label, kind, key, row, href, heads, above, more }) {
  /** @type {Map<string, {item: T, look: string, a: HTMLElement, li: HTMLElement}>} */
  const rows = new Map();
  const ol = h("ol", { class: `rows ${kind}`, "aria-label": label });
  const head = h("div", { class: `heads ${kind}`, "aria-hidden": "true" }, heads.map((text) => h("span", null, text)));
  const empty = h("div", { class: "empty" });
  const scroll = h("div", { class: "scroll" }, ol, empty);
  const node = h("div", { class: "list" }, head, scroll);
  /** @type {T[]} */
  let items = [];
  let height = 32; // of a row; measured
  let current = ""; // the row that is open
  let cursor = ""; // the row that had the focus
  let newest = ""; // the first row when the list was last at its top
  let hovered = false;
  let room = 0; // below the last row, so that a short list can be scrolled, too

  scroll.addEventListener("scroll", render, { passive: true });
  scroll.addEventListener("pointerenter", () => { hovered = true; });
  scroll.addEventListener("pointerleave", () => { hovered = false; });
  scroll.addEventListener("focusin", () => { cursor = focused() ?? cursor; });
  new ResizeObserver(render).observe(scroll);

  /** @param {string} name */
  const indexOf = (name) => (name ? items.findIndex((item) => key(item) === name) : -1);

  /**
   * set replaces the items. While somebody reads, by scrolling, pointing or focus, the rows in view stay in place.
   * @param {T[]} wanted
   * @param {() => any} [nothing] makes what an empty list shows
   */
  function set(wanted, nothing) {
    const first = Math.floor(scroll.scrollTop / height);
    const read = items[first] && (first > 0 || hovered || scroll.contains(document.activeElement)) ? key(items[first]) : "";
    items = wanted;
    const now = indexOf(read);
    head.hidden = items.length === 0;
    put(empty, items.length === 0 ? nothing?.() : null);
    if (now < 0) newest = items[0] ? key(items[0]) : "";
    if (now > first) {
      const top = scroll.scrollTop + (now - first) * height;
      room = Math.max(0, top + scroll.clientHeight - items.length * height);
      space(0, 0); // whatever rows there are, the list is long enough
      scroll.scrollTop = top;
    }
    render();
  }

  /**
   * space keeps the room of the rows that are no elements.
   * @param {number} from
   * @param {number} to
   */
  function space(from, to) {
    ol.style.paddingTop = `${from * height}px`;
    ol.style.paddingBottom = `${(items.length - to) * height + room}px`;
  }

  function render() {
    const from = Math.max(0, Math.floor(scroll.scrollTop / height) - spare);
    const to = Math.min(items.length, Math.ceil((scroll.scrollTop + (scroll.clientHeight || 600)) / height) + spare);
    const wanted = items.slice(from, to);
    const names = new Set(wanted.map(key));
    for (const [name, kept] of rows) {
      if (!names.has(name)) {
        kept.li.remove();
        rows.delete(name);
      }
    }
    wanted.forEach((item, i) => {
      const li = make(item);
      li.setAttribute("aria-posinset", String(from + i + 1));
      li.setAttribute("aria-setsize", String(items.length));
      if (ol.children[i] !== li) ol.insertBefore(li, ol.children[i] ?? null);
    });
    space(from, to);
    reach();
    const measured = wanted.length ? rows.get(key(wanted[0]))?.li.offsetHeight : 0;
    if (measured && measured !== height) {
      height = measured;
      return render();
    }
    if (scroll.scrollTop < height) {
      room = 0;
      newest = items[0] ? key(items[0]) : "";
    }
    above?.(Math.max(0, indexOf(newest)));
    if (to + ahead >= items.length) more?.();
  }

  /** @param {T} item */
  function make(item) {
    const name = key(item);
    const look = JSON.stringify(item);
    const kept = rows.get(name);
    if (kept?.look === look) return kept.li;
    const cells = row(item).map((cell) => h("span", null, cell));
    if (kept) {
      put(kept.a, cells);
      Object.assign(kept, { item, look });
      return kept.li;
    }
    const a = h("a", { class: "row", href: href(item), tabindex: "-1" }, cells);
    if (name === current) a.setAttribute("aria-current", "true");
    const made = { item, look, a, li: h("li", null, a) };
    rows.set(name, made);
    return made.li;
  }

  /**
   * mark shows which row is open.
   * @param {string} name
   */
  function mark(name) {
    current = name;
    if (name) cursor = name;
    for (const [other, { a }] of rows) {
      if (other === name) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
    }
    reach();
  }

  /** reach lets Tab reach one row: the one that had the focus, or the first. */
  function reach() {
    const reachable = rows.get(cursor)?.a ?? ol.querySelector("a");
    for (const { a } of rows.values()) a.tabIndex = a === reachable ? 0 : -1;
  }

  /**
   * move puts the focus on the row so many rows further.
   * @param {number} step
   */
  function move(step) {
    if (items.length === 0) return;
    const here = indexOf(focused() ?? cursor);
    const next = Math.max(0, Math.min(items.length - 1, here >= 0 ? here + step : step > 0 ? 0 : items.length - 1));
    const top = next * height;
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    if (top + height > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + height - scroll.clientHeight;
    render();
    rows.get(key(items[next]))?.a.focus({ preventScroll: true });
  }

  /** top leads back to the first row. */
  function top() {
    scroll.scrollTop = 0;
    render();
  }

  /** relink makes the rows lead to the address that href has now. */
  function relink() {
    for (const { item, a } of rows.values()) a.setAttribute("href", href(item));
  }

  /** focused returns the name of the row with the focus. */
  function focused() {
    return [...rows].find(([, { a }]) => a === document.activeElement)?.[0];
  }

  return { node, set, mark, move, relink, focused, top };
}
